"""The numbers that follow from a scenario before anything is simulated."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from clustersim.scenario.batches import Batches
from clustersim.scenario.checkpoint import Checkpoint
from clustersim.scenario.cluster import Cluster
from clustersim.scenario.corpora import positions_until
from clustersim.scenario.data import Data
from clustersim.scenario.errors import wrong
from clustersim.scenario.failures import Failure, Stochastic
from clustersim.scenario.job import Model, Parallelism, Run
from clustersim.theory import daly, young

# A run that is this many times slower than without failures gets nowhere.
_PATIENCE = 20


@dataclass(frozen=True)
class Sizes:
    """Counts and times of a scenario. Integers, times in ns; `check_bounds` holds those of a scenario to 62 bits."""

    gpus: int
    """GPUs that the job uses at full layout."""
    data: int
    """Replicas at full layout."""
    min_data: int
    """The fewest replicas that the job may shrink to."""
    unit_nodes: int
    """Nodes that go together: those of a replica that spans several, else 1."""
    unit_replicas: int
    """Replicas that go together: those on one node that holds several, else 1."""
    batch: int
    """Samples of a global batch; of a full one while a ramp lasts."""
    batches: Batches
    """Samples of each step."""
    samples: int
    """Samples of an epoch, N; of all corpora of a mixture, which have epochs of their own."""
    shards: int
    """Shards that the samples lie in."""
    tokens_per_sample: float | None
    """The mean length of a document where samples are documents of a stated length, of documents in a sample where
    they are packed whole, else that of a sequence."""
    documents_per_sample: float | None
    """1 where a sample is a document, the mean number of documents in a packed one, None if samples are given."""
    steps: int | None
    """Steps of the failure-free run; None if it ends by wall time."""
    epochs: int | None
    """Epochs after which the loop ends; None if the run ends otherwise."""
    wall_ns: int | None
    """Wall time after which the run ends; None if it ends otherwise."""
    limit_ns: int
    """Wall time beyond which the run is given up (or ends, if it ends by wall time)."""
    failures_per_ns: float
    """Random failures that stop the job at full layout, a nanosecond; 1 / this is the M of Young and Daly."""
    slow_per_ns: float
    """How often the job, or one of its nodes, becomes slow, a nanosecond."""
    full_step_ns: int
    """Time of a step at full degree."""
    micro_batch: int
    """Samples that a replica takes at once."""
    uneven_refused: bool
    """Only degrees that divide the batch into whole micro-batches are allowed."""
    interval_steps: int | None
    """Steps between saves, if stated in steps."""
    interval_ns: int | None
    """Training time between saves, if stated in time or by a formula; a save waits for the end of a step."""
    bytes_per_sample: float | None
    """Bytes that the loader reads for a sample, on average."""
    checkpoint_bytes: int
    """Bytes of a checkpoint; 0 if nothing follows from them."""

    @property
    def tokens_per_s(self) -> float | None:
        """Tokens that the job reads a second at full degree."""
        return (
            None if self.tokens_per_sample is None else self.batch * self.tokens_per_sample / (self.full_step_ns / 1e9)
        )

    @property
    def bytes_per_s(self) -> float | None:
        """Bytes that the job reads a second at full degree."""
        return None if self.bytes_per_sample is None else self.batch * self.bytes_per_sample / (self.full_step_ns / 1e9)

    def steps_between_saves(self, step_ns: int) -> int:
        """The checkpoint interval in steps of the given time."""
        if self.interval_steps is not None:
            return self.interval_steps
        assert self.interval_ns is not None
        return -(-self.interval_ns // step_ns)

    def degrees_ok(self, degree: int) -> bool:
        """Whether the job may run with this many replicas."""
        if not self.min_data <= degree <= self.data:
            return False
        return not (self.uneven_refused and any(batch % (degree * self.micro_batch) for batch in self.batches.each))

    @property
    def divided(self) -> str:
        """What degrees divide where uneven ones are refused, for messages."""
        return str(self.batch) if self.micro_batch == 1 else f"{self.batch} / {self.micro_batch}, the micro-batches"

    def nodes(self, degree: int) -> int:
        """Nodes that the job holds with `degree` replicas."""
        return -(-degree // self.unit_replicas) * self.unit_nodes

    def step_ns(self, degree: int) -> int:
        """Time of a step with `degree` replicas (1 .. data): the fullest one sets the pace. Rounded half up, once."""
        pace, full_pace = (-(-self.batch // (each * self.micro_batch)) for each in (degree, self.data))
        return (2 * self.full_step_ns * pace + full_pace) // (2 * full_pace)


def measure(
    run: Run,
    model: Model,
    cluster: Cluster,
    parallelism: Parallelism,
    failures: Sequence[Failure],
    checkpoint: Checkpoint,
    data: Data,
) -> Sizes:
    """The sizes of a scenario; the error of a validator, with its key, where parts of it do not fit together."""
    gpus = cluster.nodes * cluster.gpus_per_node
    gpus_per_replica = parallelism.tensor * parallelism.pipeline * parallelism.context
    degree = _degree(parallelism, gpus, gpus_per_replica, cluster)
    batch, batches = model.global_batch, model.batches
    for key, size in zip(_batch_keys(model), batches.each, strict=True):
        if size < degree:
            raise wrong(f"at least {degree} samples, one for each replica", str(size), key=key)
    if parallelism.min_data > degree:
        raise wrong(f"at most {degree}, the replicas of the job", str(parallelism.min_data), key="parallelism.min_data")
    for size in batches.each:
        if parallelism.uneven == "refuse" and size % parallelism.micro_batch:
            expected = f'a divisor of global_batch = {size} with uneven = "refuse"'
            raise wrong(expected, str(parallelism.micro_batch), key="parallelism.micro_batch")
        if parallelism.uneven == "refuse" and size // parallelism.micro_batch % degree:
            whole = "" if parallelism.micro_batch == 1 else f" / micro_batch = {size // parallelism.micro_batch}"
            expected = f'a divisor of global_batch = {size}{whole} with uneven = "refuse"'
            raise wrong(expected, str(degree), key="parallelism.data")

    samples = data.count_samples(model.sequence_length)
    if samples < batch and data.corpora is None:
        raise wrong(f"an epoch of at least one global batch ({batch} samples)", f"{samples} samples", key="data")
    if data.shards > samples:
        raise wrong(f"at most {samples}, the samples of an epoch", str(data.shards), key="data.shards")

    tokens_per_sample: float | None = model.sequence_length
    if data.packing == "none" and data.mean_document is not None:
        tokens_per_sample = data.mean_document
    if data.packing == "whole" and data.mean_document is not None and data.count_documents is not None:
        tokens_per_sample = data.mean_document * data.count_documents / samples
    if data.windows is not None:
        tokens_per_sample = data.windows.length
    bytes_per_sample = data.bytes_per_sample
    if bytes_per_sample is None and tokens_per_sample is not None:
        bytes_per_sample = tokens_per_sample * model.bytes_per_token
    step_ns = _full_step_ns(model, gpus)
    steps = _steps(run, batches, samples, tokens_per_sample, data)
    failures_per_ns, slow_per_ns = (
        math.fsum(
            cause.failures_per_ns(cluster.gpus_per_node) * cluster.exposed(cause.scope, cause.nodes_per_domain)
            for cause in failures
            if isinstance(cause, Stochastic) and cause.stops_job is stops_job
        )
        for stops_job in (True, False)
    )
    checkpoint_bytes = checkpoint.size(model.parameters)
    interval_steps, interval_ns = _interval(checkpoint, failures_per_ns)
    every = interval_steps or -(-(interval_ns or 1) // step_ns)
    saves = max(0, (steps or 0) - 1) // every
    waits_ns = max(0, saves - 1) * max(0, checkpoint.write_ns(checkpoint_bytes, cluster.nodes) - every * step_ns)
    stalls_ns = saves * checkpoint.stall
    stalls_ns += sum(max(0, (steps or 0) - 1) // tier.every.steps_of(step_ns) * tier.stall for tier in checkpoint.tiers)
    failure_free_ns = (steps or 0) * step_ns + stalls_ns + waits_ns
    limit_ns = run.wall_time or run.limit or _PATIENCE * failure_free_ns
    return Sizes(
        gpus=gpus,
        data=degree,
        min_data=parallelism.min_data,
        unit_nodes=max(1, gpus_per_replica // cluster.gpus_per_node),
        unit_replicas=max(1, cluster.gpus_per_node // gpus_per_replica),
        batch=batch,
        batches=batches,
        samples=samples,
        shards=data.count_shards,
        tokens_per_sample=tokens_per_sample,
        documents_per_sample=_documents_per_sample(data, model.sequence_length, samples),
        steps=steps,
        epochs=run.epochs,
        wall_ns=run.wall_time,
        limit_ns=limit_ns,
        failures_per_ns=failures_per_ns,
        slow_per_ns=slow_per_ns,
        full_step_ns=step_ns,
        interval_steps=interval_steps,
        interval_ns=interval_ns,
        bytes_per_sample=bytes_per_sample,
        checkpoint_bytes=checkpoint_bytes,
        micro_batch=parallelism.micro_batch,
        uneven_refused=parallelism.uneven == "refuse",
    )


def _batch_keys(model: Model) -> list[str]:
    """The keys that say the sizes of a batch, the full one last."""
    return [*(f"model.batch_ramp.{number}.global_batch" for number in range(len(model.ramp))), "model.global_batch"]


def _degree(parallelism: Parallelism, gpus: int, gpus_per_replica: int, cluster: Cluster) -> int:
    split = f"{gpus} GPUs / (tensor {parallelism.tensor} x pipeline {parallelism.pipeline}"
    split += f" x context {parallelism.context})"
    if gpus % gpus_per_replica:
        raise wrong(f"a whole number of replicas in {split}", f"{gpus / gpus_per_replica:.6g}", key="parallelism")
    degree = gpus // gpus_per_replica
    if parallelism.data not in (None, degree):
        raise wrong(f"{degree} = {split}", str(parallelism.data), key="parallelism.data")
    if gpus_per_replica % cluster.gpus_per_node and cluster.gpus_per_node % gpus_per_replica:
        expected = "a replica of whole nodes, or a node of whole replicas"
        raise wrong(expected, f"{gpus_per_replica} GPUs a replica, {cluster.gpus_per_node} a node", key="parallelism")
    return degree


def _full_step_ns(model: Model, gpus: int) -> int:
    """Step time at full degree: stated, or 6 FLOP a parameter and token (2 forward, 4 backward)."""
    if model.step_time is not None:
        return model.step_time
    # The model's own checks left no other case.
    assert model.parameters is not None
    assert model.sequence_length is not None
    assert model.flops_per_gpu is not None
    flop = 6 * model.parameters * model.sequence_length * model.global_batch
    return max(1, round(Fraction(flop * 10**9) / (gpus * Fraction(model.flops_per_gpu))))


def _interval(checkpoint: Checkpoint, failures_per_ns: float) -> tuple[int | None, int | None]:
    """The interval between saves, in steps or in ns.

    By Young's or Daly's formula a save costs its stall, and the mean time between failures is the inverse of the rates
    of all random failures that stop the job at full layout.
    """
    every = checkpoint.every
    if every.by == "steps":
        return every.amount, None
    if every.by == "time":
        return None, every.amount
    if checkpoint.stall == 0:
        raise wrong(f'a cost of a save, longer than 0, with every = "{every}"', '"0 s"', key="checkpoint.stall")
    if checkpoint.first_mtbf is None and failures_per_ns == 0:
        raise wrong(f'random failures with every = "{every}"', "none", key="failures")
    formula = daly if every.by == "daly" else young
    return None, max(1, round(formula(checkpoint.stall, checkpoint.first_mtbf or 1 / failures_per_ns)))


def _steps(run: Run, batches: Batches, samples: int, tokens_per_sample: float | None, data: Data) -> int | None:
    if run.steps is not None:
        return run.steps
    if run.samples is not None:
        return batches.reaching(run.samples)
    if run.epochs is not None and data.corpora is not None:
        positions = positions_until(data.corpora, run.epochs, run.epochs_of)
        return batches.within(positions - data.count_skipped(positions))
    if run.epochs is not None:
        return batches.within(run.epochs * samples - data.count_skipped(run.epochs * samples))
    if run.tokens is None:
        return None
    if tokens_per_sample is None:
        raise wrong("model.sequence_length beside it, to count tokens", "none", key="run.tokens")
    return batches.reaching(-int(-run.tokens // Fraction(repr(tokens_per_sample))))


def _documents_per_sample(data: Data, sequence_length: int | None, samples: int) -> float | None:
    if data.count_documents is None:
        return None
    if data.packing == "none" or data.mean_document is None or sequence_length is None:
        return 1.0
    return sequence_length / data.mean_document if data.packing == "concat" else data.count_documents / samples
