"""A whole scenario, and the rules that tie its parts together."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import PrivateAttr, ValidationInfo, field_validator, model_validator

from clustersim.scenario.bounds import check_bounds
from clustersim.scenario.checkpoint import Checkpoint, Tier
from clustersim.scenario.cluster import Cluster
from clustersim.scenario.corpora import Corpus, check_shares
from clustersim.scenario.cost import Cost
from clustersim.scenario.data import Data
from clustersim.scenario.errors import problem, show, wrong
from clustersim.scenario.failures import Failure, Scripted, Stochastic
from clustersim.scenario.job import Model, Parallelism, Run
from clustersim.scenario.loader import Loader
from clustersim.scenario.maintenance import Maintenance
from clustersim.scenario.part import Part
from clustersim.scenario.poison import Poison
from clustersim.scenario.quantities import LIMIT
from clustersim.scenario.recovery import Recovery
from clustersim.scenario.rewinds import Rewind, check_rewinds
from clustersim.scenario.sizes import Sizes, measure
from clustersim.scenario.storage import OF_WINDOWS, Feed, Storage
from clustersim.scenario.traced import Fault, Traced, TraceError, read_faults
from clustersim.scenario.units import Name

_MOST_ONE_BY_ONE = 10_000_000
# A part that is no list of shards is gone through once for each of its repeats.
_REPEAT_WEIGHT = 1000
# Samples that a run reads of parts without end which no formula gives; they are held.
_MOST_WITHOUT_END = 10**9
_MOST_POISON = 1000
_MOST_PACKERS = 1_000_000
# The longest mean length of documents: in samples where they are packed whole, in tokens where one of them is drawn.
_LONGEST_WHOLE = 16
_LONGEST_OF_A_LAW = 1e7
# What a loader must be for it to be known at which step of a leg a sample is read.
_OF_POISON: dict[str, tuple[object, ...]] = {
    "partition": ("global",),
    "last_batch": ("span", None),
    "comes_back": ("exact", "reshuffle", "remainder"),
    "order_epoch": ("own",),
    "epoch_edge": ("new", "old"),
    "counted_at": ("trained",),
    "state_ahead": (0,),
}
_MOST_SERVICES = 10**6
_BY_SHARD = ("shards", "contiguous-shards", "queue")
_SHARD_ORDERS = ("shard-shuffle", "sequential", "nested-shuffle")
# The orders that a part of an epoch can be dealt from, by (partition, permutes), and what asks for them.
_ORDERS_OF_PARTS: dict[tuple[str, str], tuple[tuple[str, ...], str]] = {
    ("shards", "epoch"): ((*_SHARD_ORDERS, "with-replacement"), 'partition = "shards"'),
    ("shards", "part"): (_SHARD_ORDERS, 'permutes = "part" and partition = "shards"'),
    ("contiguous-shards", "epoch"): (_SHARD_ORDERS, 'partition = "contiguous-shards"'),
    ("contiguous-shards", "part"): (_SHARD_ORDERS, 'permutes = "part" and partition = "contiguous-shards"'),
    ("queue", "epoch"): (_SHARD_ORDERS, 'partition = "queue"'),
    ("contiguous", "part"): (("shuffle", "shuffle-once"), 'permutes = "part"'),
}


def _taken(failure: Failure, nodes_per_domain: int) -> list[str | int]:
    """What a failure may take from the job: no more than the processes, a node, or so many domains of such a size."""
    if isinstance(failure, Traced):
        return ["node"]
    if isinstance(failure, Scripted) or failure.repair is None or failure.transient == 1:
        return ["process"]
    domains = -(-(failure.nodes_per_domain or nodes_per_domain) // nodes_per_domain)
    taken: str | int = domains if failure.scope == "domain" else "node"
    return ["process", taken] if failure.transient else [taken]


def _outlives(tier: Tier, taken: str | int) -> bool:
    """Whether a tier is left after a failure that takes so much."""
    if taken == "process" or tier.survives == "job":
        return True
    if isinstance(taken, int):
        return tier.survives == "domain" and taken < tier.copies
    return tier.survives != "process"


class Scenario(Part):
    """What is assumed of one training job. Made by `load_scenario`; equal to another that resolves to the same."""

    name: Name
    """A title; the name of the file if not said."""
    run: Run
    model: Model
    cluster: Cluster
    parallelism: Parallelism = Parallelism()
    failures: tuple[Failure, ...] = ()
    maintenance: tuple[Maintenance, ...] = ()
    checkpoint: Checkpoint
    recovery: Recovery = Recovery()
    rewinds: tuple[Rewind, ...] = ()
    data: Data
    loader: Loader
    storage: Storage | None = None
    feed: Feed | None = None
    poison: Poison | None = None
    cost: Cost | None = None

    # Where it came from and what was written there, before presets were filled in: overrides start from it.
    _source: str = PrivateAttr(default="scenario")
    _document: Mapping[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def source(self) -> str:
        """The file it was read from, as errors show it; no part of what the scenario says."""
        return self._source

    @cached_property
    def sizes(self) -> Sizes:
        """The numbers that follow from it before anything is simulated."""
        return measure(self.run, self.model, self.cluster, self.parallelism, self.failures, self.checkpoint, self.data)

    @cached_property
    def faults(self) -> dict[int, tuple[Fault, ...]]:
        """The faults of each failure that is a trace, by its place; read once. Raises ScenarioError."""
        faults = {}
        for index, failure in enumerate(self.failures):
            if isinstance(failure, Traced):
                try:
                    faults[index] = read_faults(Path(self._source).parent, failure)
                except TraceError as error:
                    raise problem(self._source, f"failures.{index}.{error.key}", error.expected, error.found) from None
        return faults

    def resolved(self) -> dict[str, Any]:
        """Everything it says, defaults and presets included, as JSON values; `load_scenario` reads it back."""
        return self.model_dump(mode="json", exclude_none=True)

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hexadecimal) of the resolved scenario as canonical JSON."""
        canonical = json.dumps(self.resolved(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @field_validator("failures", "maintenance", mode="before")
    @classmethod
    def _is_a_list(cls, values: object, info: ValidationInfo) -> object:
        if isinstance(values, Mapping):
            raise wrong(f"a list of tables, each headed [[{info.field_name}]]", "a single table")
        return values

    @model_validator(mode="after")
    def _check(self) -> "Scenario":
        for key in ("cold", "borrowed"):
            if self.recovery.policy == "wait" and getattr(self.cluster, key) is not None:
                expected = f'"spare" or "shrink" with cluster.{key}, as the job takes none'
                raise wrong(expected, '"wait"', key="recovery.policy")
        sizes = self.sizes
        smaller = range(sizes.min_data, sizes.data)
        if self.recovery.policy == "shrink" and smaller and not any(map(sizes.degrees_ok, smaller)):
            expected = f"a divisor of {sizes.divided} from it to {sizes.data - 1}, as uneven degrees are refused"
            raise wrong(expected, str(sizes.min_data), key="parallelism.min_data")
        check_bounds(self.run, self.checkpoint, self.sizes)
        self._check_failures(self.sizes)
        self._check_maintenance(self.sizes)
        self._check_checkpoint()
        check_rewinds(self.rewinds, None if self.sizes.epochs is not None else self.sizes.steps)
        self._check_loader()
        self._check_workers()
        self._check_documents()
        if self.storage is not None:
            self._check_feed()
        if self.poison is not None:
            self._check_poison(self.poison)
        return self

    def _check_loader(self) -> None:
        loader, order, data = self.loader, self.data.order, self.sizes.data
        if loader.comes_back == "reshuffle" and order == "sequential":
            raise wrong('an order that shuffles with loader.comes_back = "reshuffle"', '"sequential"', key="data.order")
        by_shard = loader.partition in _BY_SHARD
        if (by_shard or order == "with-replacement") and self.sizes.shards < data * loader.readers_per_rank:
            readers = f"{data * loader.readers_per_rank} shards, one for each of {data} ranks"
            expected = f"at least {readers} x {loader.readers_per_rank} workers"
            raise wrong(expected, str(self.sizes.shards), key="data.shards")
        fits, beside = _ORDERS_OF_PARTS.get((loader.partition, loader.permutes), ((), ""))
        if fits and order not in fits:
            orders = " or ".join(f'"{each}"' for each in fits)
            raise wrong(f"{orders} with loader.{beside}", f'"{order}"', key="data.order")
        if order == "with-replacement" and loader.partition != "shards":
            expected = '"shards" with data.order = "with-replacement"'
            raise wrong(expected, f'"{loader.partition}"', key="loader.partition")
        if order == "with-replacement" and loader.dealt_to == "first-ranks":
            expected = 'an order that deals out each shard once with loader.dealt_to = "first-ranks"'
            raise wrong(expected, '"with-replacement"', key="data.order")
        if (
            loader.comes_back == "remainder"
            and order not in ("shuffle", "shuffle-once")
            and self.sizes.samples > _MOST_ONE_BY_ONE
        ):
            expected = '"shuffle" or "shuffle-once" with loader.comes_back = "remainder" and more than 10 M samples'
            raise wrong(expected, f'"{order}"', key="data.order")
        if (why := self._one_by_one) and self.sizes.samples > _MOST_ONE_BY_ONE:
            raise wrong(
                f"at most 10 M samples, which are counted one by one {why}", str(self.sizes.samples), key="data"
            )
        listed = self.sizes.shards if by_shard else _REPEAT_WEIGHT
        if loader.repeats * listed > _MOST_ONE_BY_ONE:
            raise wrong(f"at most {_MOST_ONE_BY_ONE // listed}", str(loader.repeats), key="loader.repeats")
        if loader.repeats == 0 and self.run.epochs is None:
            self._check_endless(listed)
        if self.data.skip:
            if not loader.spans_epochs:
                raise wrong('last_batch = "span", one position of all ranks, with data.skip', "parts", key="loader")
            if loader.counted_at == "issued" or loader.comes_back == "remainder":
                found = f'counted_at = "{loader.counted_at}" and comes_back = "{loader.comes_back}"'
                raise wrong('counted_at = "trained" and no remainder with data.skip', found, key="loader")
        if self.model.ramp:
            self._check_paced("model.batch_ramp")
        if loader.spans_epochs and loader.saves == "steps":
            self._check_paced('loader.saves = "steps"')
        if self.data.corpora is not None:
            self._check_mixture(self.data.corpora)
        elif self.run.epochs_of is not None:
            raise wrong("data.corpora beside it", "none", key="run.epochs_of")
        if self.recovery.batch == "shrinks" and loader.rank_batch != "constant":
            expected = '"constant" with recovery.batch = "shrinks"'
            raise wrong(expected, f'"{loader.rank_batch}"', key="loader.rank_batch")
        if abs(loader.state_ahead) * self.sizes.batch >= LIMIT:
            expected = "fewer than 2^62 samples between the states of loader and weights"
            raise wrong(expected, f"{abs(loader.state_ahead) * self.sizes.batch:.3g}", key="loader.state_ahead")
        if loader.carry is not None:
            self._check_carry(loader.carry)
        if loader.rank_batch == "constant" and self.sizes.batch % data:
            expected = f'a multiple of {data}, the ranks, with loader.rank_batch = "constant"'
            raise wrong(expected, str(self.sizes.batch), key="model.global_batch")

    @property
    def _one_by_one(self) -> str:
        """What makes samples be counted one by one, however many there are; or nothing."""
        order, buffer = self.data.order, self.loader.buffer
        if self.loader.one_by_one or order not in ("nested-shuffle", "with-replacement"):
            return self.loader.one_by_one
        if order == "nested-shuffle":
            return f'with data.order = "{order}"'
        return f'with loader.buffer = {buffer} and data.order = "{order}"' if buffer else ""

    def _check_endless(self, listed: int) -> None:
        """Parts without end, of which a run ends after steps or time: what they read has to be gone through."""
        loader, sizes = self.loader, self.sizes
        if not (loader.buffer or "shards" in loader.partition or loader.partition in ("filtered", "slices")):
            return
        if loader.interleave > 1:
            expected = "at least 1 with loader.interleave, if no run.epochs says when the parts end"
            raise wrong(expected, "0", key="loader.repeats")
        views = sizes.batches.before(-(-sizes.limit_ns // sizes.full_step_ns) if sizes.steps is None else sizes.steps)
        if views > _MOST_WITHOUT_END or views // sizes.samples * listed > _MOST_ONE_BY_ONE:
            most = min(_MOST_WITHOUT_END, (_MOST_ONE_BY_ONE // listed + 1) * sizes.samples - 1)
            expected = f"at most {most:.3g} samples in the run, which are gone through one by one with repeats = 0"
            raise wrong(expected, f"{views:.3g}", key="loader.repeats")

    def _check_mixture(self, corpora: Sequence[Corpus]) -> None:
        if self.loader.spans_epochs:
            self._check_paced("data.corpora")
        else:
            by_shard = self.loader.partition in _BY_SHARD or self.data.order == "with-replacement"
            readers = self.loader.readers_per_rank if by_shard else 0
            constant = self.loader.rank_batch == "constant"
            check_shares(corpora, self.sizes.batch, self.sizes.data, constant, readers)

    def _check_documents(self) -> None:
        """How long documents may be, so that they can be packed and their tokens be counted."""
        data, mean, sequence = self.data, self.data.mean_document or 0, self.model.sequence_length
        key = "tokens_per_document" if data.document_lengths is None else "document_lengths"
        if data.packing == "whole" and sequence is not None and mean > _LONGEST_WHOLE * sequence:
            expected = f'a mean of at most {_LONGEST_WHOLE} samples of {sequence} tokens with packing = "whole"'
            raise wrong(expected, f"{mean:g}", key=f"data.{key}")
        if (data.document_sigma is not None or self.loader.carry is not None) and mean > _LONGEST_OF_A_LAW:
            expected = f"a mean of at most {_LONGEST_OF_A_LAW:g} tokens with data.document_sigma or loader.carry"
            raise wrong(expected, f"{mean:g}", key=f"data.{key}")
        if data.document_lengths is not None and self.sizes.samples > _MOST_ONE_BY_ONE:
            expected = f"lengths that make at most {_MOST_ONE_BY_ONE} samples, which are gone through one by one"
            raise wrong(expected, str(self.sizes.samples), key="data.document_lengths")

    def _check_carry(self, carry: str) -> None:
        if self.data.packing == "none":
            raise wrong(f'"concat" or "whole" beside loader.carry = "{carry}"', '"none"', key="data.packing")
        if carry == "lost" and self.run.epochs is not None:
            expected = 'steps, samples, tokens or wall_time with loader.carry = "lost", as the epoch ends early'
            raise wrong(expected, str(self.run.epochs), key="run.epochs")
        packers = self.sizes.data * self.loader.readers_per_rank
        if packers > _MOST_PACKERS:
            expected = f"at most {_MOST_PACKERS // self.sizes.data}, as each worker of {self.sizes.data} ranks packs"
            raise wrong(expected, str(self.loader.readers_per_rank), key="loader.readers_per_rank")

    def _check_paced(self, by: str) -> None:
        """What a loader must be for a count of samples, not of steps, to say where it stands."""
        loader = self.loader
        if not loader.spans_epochs:
            expected = f'last_batch = "span" with {by}, as other loaders count batches of one size'
            raise wrong(expected, "parts", key="loader")
        if loader.counted_at == "issued":
            raise wrong(f'"trained" with {by}', '"issued"', key="loader.counted_at")
        if self.poison:
            expected = f"no poison with {by}, as it is looked for in one sequence of batches of one size"
            raise wrong(expected, "both", key="poison")

    def _check_poison(self, poison: Poison) -> None:
        samples = self.sizes.samples
        number = round((poison.share or 0) * samples)
        if poison.share is not None and not poison.together <= number <= _MOST_POISON:
            expected = f"a share of {poison.together} to {_MOST_POISON} of {samples} samples"
            raise wrong(expected, f"{poison.share * samples:.3g}", key="poison.share")
        for place, sample in enumerate(poison.samples or ()):
            if sample >= samples:
                raise wrong(f"a sample from 0 to {samples - 1}", str(sample), key=f"poison.samples.{place}")
        for key, needed in _OF_POISON.items():
            if (found := getattr(self.loader, key)) not in needed:
                expected = " or ".join(show(each) for each in needed if each is not None)
                expected += " with [poison], so that it is known at which step a sample is read"
                raise wrong(expected, show(found), key=f"loader.{key}")
        if self.data.skip:
            raise wrong("no data.skip with [poison]", "both", key="data.skip")
        for index, failure in enumerate(self.failures):
            if failure.cause == "poison":
                expected = "another name beside [poison], whose crashes have this one"
                raise wrong(expected, '"poison"', key=f"failures.{index}.cause")

    def _check_workers(self) -> None:
        sizes = self.sizes
        numbers = {"loader.readers_per_rank": self.loader.readers_per_rank}
        if self.feed is not None and self.feed.workers is not None:
            numbers["feed.workers"] = self.feed.workers
        for key, workers in numbers.items():
            if sizes.data * workers > sizes.samples:
                each = f"each worker of {sizes.data} ranks has a sample"
                raise wrong(f"at most {sizes.samples // sizes.data}, so that {each}", str(workers), key=key)

    def _check_feed(self) -> None:
        sizes, order = self.sizes, self.data.order
        if sizes.bytes_per_sample is None:
            raise wrong("the bytes of a sample beside [storage]", "nothing", key="data.bytes_per_sample")
        if self.loader.buffer > sizes.samples:
            raise wrong(f"at most {sizes.samples}, the samples", str(self.loader.buffer), key="loader.buffer")
        if self.data.windows is None:
            return
        stated = None if self.feed is None else self.feed.pattern
        in_place = "with data.windows, which are read one by one until they are copied"
        if stated is not None and stated not in OF_WINDOWS:
            raise wrong(f"{' or '.join(map(show, OF_WINDOWS))} {in_place}", show(stated), key="feed.pattern")
        if stated is None and order not in ("shuffle", "shuffle-once"):
            raise wrong(f'"shuffle" or "shuffle-once" {in_place}', show(order), key="data.order")

    def _check_checkpoint(self) -> None:
        checkpoint = self.checkpoint
        if checkpoint.carries_bytes is not None and self.sizes.checkpoint_bytes == 0:
            expected = f"the number of parameters, of which {checkpoint.carries_bytes} carries the bytes"
            raise wrong(expected, "nothing", key="checkpoint.parameters")
        if checkpoint.reads_by_bandwidth and self.recovery.load is not None:
            raise wrong("either load or a bandwidth to read the checkpoint", "both", key="recovery.load")
        struck = [each for failure in self.failures for each in _taken(failure, self.cluster.nodes_per_domain or 1)]
        for index, tier in enumerate(checkpoint.tiers):
            if struck and not any(_outlives(tier, taken) for taken in struck):
                key = f"checkpoint.tiers.{index}.survives"
                raise wrong("a tier that survives at least one of the failures", f'"{tier.survives}"', key=key)
        if self.cost is not None and self.cost.checkpoint_tb_month and self.sizes.checkpoint_bytes == 0:
            expected = "bytes a parameter, and their number, beside cost.checkpoint_tb_month"
            raise wrong(expected, "nothing", key="checkpoint.bytes_per_parameter")

    def _check_domain(self, index: int, failure: Stochastic) -> None:
        nodes, own = failure.nodes_per_domain, self.cluster.own_nodes
        if nodes is None and self.cluster.nodes_per_domain is None:
            raise wrong('the nodes of a domain with scope = "domain"', "nothing", key="cluster.nodes_per_domain")
        if nodes is not None and nodes > own:
            key = f"failures.{index}.nodes_per_domain"
            raise wrong(f"at most {own}, the nodes and spares of the cluster", str(nodes), key=key)

    def _check_maintenance(self, sizes: Sizes) -> None:
        names = [failure.cause for failure in self.failures]
        for index, each in enumerate(self.maintenance):
            if each.name in names:
                expected = "a name that no failure and no other maintenance has"
                raise wrong(expected, f'"{each.name}"', key=f"maintenance.{index}.name")
            names.append(each.name)
            if (each.nodes or 0) > self.cluster.own_nodes:
                expected = f"at most {self.cluster.own_nodes}, the nodes and spares of the cluster"
                raise wrong(expected, str(each.nodes), key=f"maintenance.{index}.nodes")
            windows = len(each.at or ()) if each.every is None else sizes.limit_ns // each.every
            if windows * (each.nodes or 1) > _MOST_SERVICES:
                expected = f"at most {_MOST_SERVICES:.0e} nodes out within the run's limit, in all windows together"
                raise wrong(expected, f"{windows * (each.nodes or 1):.3g}", key=f"maintenance.{index}.every")

    def _check_failures(self, sizes: Sizes) -> None:
        causes = [failure.cause for failure in self.failures]
        for index, failure in enumerate(self.failures):
            if failure.cause in causes[:index]:
                raise wrong("a cause that no other failure has", f'"{failure.cause}"', key=f"failures.{index}.cause")
            if isinstance(failure, Stochastic) and failure.scope == "domain":
                self._check_domain(index, failure)
            if isinstance(failure, Traced) and failure.nodes != self.cluster.own_nodes:
                expected = f"{self.cluster.own_nodes}, the nodes and spares of the cluster"
                raise wrong(expected, str(failure.nodes), key=f"failures.{index}.nodes")
            if isinstance(failure, Scripted):
                for entry, degree in enumerate(failure.data or ()):
                    if not sizes.degrees_ok(degree):
                        divisors = f", divisors of {sizes.divided}" if sizes.uneven_refused else ""
                        allowed = f"from {sizes.min_data} to {sizes.data}{divisors}"
                        expected = f"a degree that parallelism allows ({allowed})"
                        raise wrong(expected, str(degree), key=f"failures.{index}.data.{entry}")
