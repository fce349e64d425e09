"""The job: what it trains, split how, and when it ends."""

from collections.abc import Mapping
from typing import Literal

from pydantic import ModelWrapValidatorHandler, model_validator

from clustersim.scenario.batches import Batches
from clustersim.scenario.errors import wrong
from clustersim.scenario.part import Part
from clustersim.scenario.units import Bytes, FlopRate, Name, PositiveCount, PositiveDuration, Seed

_ENDS = ("wall_time", "steps", "samples", "tokens", "epochs")


class Run(Part):
    """When the run ends (exactly one of five ways) and how it is counted."""

    wall_time: PositiveDuration | None = None
    """It ends after this much wall-clock time."""
    steps: PositiveCount | None = None
    """It ends after this many steps."""
    samples: PositiveCount | None = None
    """It ends with the step that reaches this many samples."""
    tokens: PositiveCount | None = None
    """It ends with the step that reaches this many tokens."""
    epochs: PositiveCount | None = None
    """It ends when the loop over its epochs ends, however many steps that takes."""
    epochs_of: Name | None = None
    """The corpus of a mixture whose epochs those are; if not said, of whichever has been read so often first."""
    seed: Seed = 0
    """Every random draw follows from it and the number of the replication. Below 2^63."""
    limit: PositiveDuration | None = None
    """Wall-clock time at which a run that has not ended is given up; 20 times its failure-free time if not said."""
    account: Literal["auto", "identity", "interval"] = "auto"
    """Count views sample by sample (identity), by intervals of positions, or whichever fits the size (auto)."""

    @model_validator(mode="wrap")
    @classmethod
    def _ends_once(cls, values: object, handler: ModelWrapValidatorHandler["Run"]) -> "Run":
        run = handler(values)
        # In the order in which they were written: what an override adds comes after what it should replace.
        written = values if isinstance(values, Mapping) else _ENDS
        ends = [key for key in written if key in _ENDS and getattr(run, key) is not None]
        if len(ends) != 1:
            hint = f" (an empty value removes a key: --set run.{ends[0]}=)" if ends else ""
            raise wrong(f"exactly one of {', '.join(_ENDS)}", (" and ".join(ends) or "none of them") + hint)
        return run

    @model_validator(mode="after")
    def _check(self) -> "Run":
        if self.epochs_of is not None and self.epochs is None:
            raise wrong("epochs beside it", "none", key="epochs_of")
        if self.limit is not None and self.wall_time is not None:
            raise wrong("no limit beside wall_time, which ends the run", "both", key="limit")
        return self


class Ramp(Part):
    """A stage of a run whose global batch is still smaller."""

    global_batch: PositiveCount
    """Samples a step in this stage."""
    until_samples: PositiveCount
    """It ends with the step that reaches this many samples since the run's start."""


class Model(Part):
    """What is trained; it sets how long a step takes."""

    global_batch: PositiveCount
    """Samples a step; a change of the data-parallel degree does not change it."""
    batch_ramp: tuple[Ramp, ...] | None = None
    """Stages of smaller batches, one after the other, before global_batch holds. Each step lasts as long as a full
    one."""
    parameters: PositiveCount | None = None
    """Parameters that a token passes: 6 FLOP each, forward and backward."""
    sequence_length: PositiveCount | None = None
    """Tokens a sample."""
    flops_per_gpu: FlopRate | None = None
    """Achieved, not peak: step time = 6 * parameters * tokens of a step / (GPUs * this)."""
    step_time: PositiveDuration | None = None
    """Instead of flops_per_gpu: the time of a step at full degree."""
    bytes_per_token: Bytes = 4
    """Bytes that the loader delivers for a token."""

    @property
    def batches(self) -> Batches:
        """The samples of each step."""
        return Batches(self.global_batch, tuple((stage.until_samples, stage.global_batch) for stage in self.ramp))

    @property
    def ramp(self) -> tuple[Ramp, ...]:
        """The stages of the ramp, none if there is none."""
        return self.batch_ramp or ()

    @model_validator(mode="after")
    def _check_ramp(self) -> "Model":
        stages = self.ramp
        for number, stage in enumerate(stages):
            last = number + 1 == len(stages)
            batch, of = (
                (self.global_batch, "the model") if last else (stages[number + 1].global_batch, "the next stage")
            )
            if stage.global_batch >= batch:
                expected = f"less than {batch}, the batch of {of}"
                raise wrong(expected, str(stage.global_batch), key=f"batch_ramp.{number}.global_batch")
            if not last and stage.until_samples >= stages[number + 1].until_samples:
                expected = f"less than {stages[number + 1].until_samples}, where the next stage ends"
                raise wrong(expected, str(stage.until_samples), key=f"batch_ramp.{number}.until_samples")
        return self

    @model_validator(mode="after")
    def _check(self) -> "Model":
        if self.step_time is not None:
            if self.flops_per_gpu is not None:
                raise wrong("either step_time or flops_per_gpu", "both", key="flops_per_gpu")
            return self
        for key in ("parameters", "sequence_length", "flops_per_gpu"):
            if getattr(self, key) is None:
                raise wrong("step_time, or parameters, sequence_length and flops_per_gpu", f"no {key}", key="step_time")
        return self


class Parallelism(Part):
    """How the job is split; the product of the four is the number of GPUs that it uses."""

    tensor: PositiveCount = 1
    """GPUs that share each layer's matrices."""
    pipeline: PositiveCount = 1
    """Stages of layers."""
    context: PositiveCount = 1
    """GPUs that share a sequence."""
    data: PositiveCount | None = None
    """Replicas of the model, which share the global batch; what the GPUs allow if not said."""
    min_data: PositiveCount = 1
    """The fewest replicas that the job shrinks to."""
    micro_batch: PositiveCount = 1
    """Samples that a replica takes at once: a step takes as long as all micro-batches of the fullest replica, of which
    the last one may be short."""
    uneven: Literal["pace", "refuse"] = "pace"
    """Where the degree does not divide the batch, into whole micro-batches: the fullest replica sets the pace, or such
    a degree is refused."""
