"""Checkpoints: when the job saves, what a save costs, and how long it takes to write one and to read it back."""

from fractions import Fraction
from typing import Literal

from pydantic import StrictBool, model_validator

from clustersim.scenario.errors import wrong
from clustersim.scenario.laws import DurationOrLaw
from clustersim.scenario.part import Part
from clustersim.scenario.rates import Interval
from clustersim.scenario.units import Bandwidth, BytesEach, Duration, Name, PositiveCount, PositiveDuration, Share

MAIN_TIER = "main"
"""What [checkpoint] itself is called among its tiers."""


class Medium(Part):
    """What checkpoints are written to and read from: stated times, or bandwidths that a size is divided by."""

    stall: Duration = 0
    """Training stands still this long at each save."""
    write: Duration | None = None
    """After the stall, until the checkpoint is durable; training goes on meanwhile. 0 if nothing is said."""
    write_bandwidth: Bandwidth | None = None
    """Instead of write: what each node of the job writes; together they write every byte once."""
    write_cap: Bandwidth | None = None
    """What all nodes together can write at most."""
    read_bandwidth: Bandwidth | None = None
    """Instead of a time to load: what each node of the job reads."""
    read_cap: Bandwidth | None = None
    """What all nodes together can read at most."""
    read_by: Literal["replica", "job"] = "replica"
    """Each replica reads a whole checkpoint, or the job reads one and passes it on at no cost."""
    keep: PositiveCount | None = None
    """How many are retained, the newest; all if not said."""
    corrupt_at_load: Share = 0
    """The share of the checkpoints that cannot be read, which is found at the end of their load."""
    corrupt_later: Share = 0
    """The share of the checkpoints that load, and show only later that they are bad: the loss becomes NaN."""
    bad_after_steps: PositiveCount | None = None
    """How many steps later."""

    @model_validator(mode="after")
    def _check_write(self) -> "Medium":
        if self.write is not None:
            for key in ("write_bandwidth", "write_cap"):
                if getattr(self, key) is not None:
                    raise wrong("either write or a bandwidth", "both", key=key)
        return self

    @model_validator(mode="after")
    def _check_corruption(self) -> "Medium":
        if self.corrupt_later > 0 and self.bad_after_steps is None:
            raise wrong("bad_after_steps beside corrupt_later", "none", key="bad_after_steps")
        if self.corrupt_later == 0 and self.bad_after_steps is not None:
            raise wrong("a share above 0 beside bad_after_steps", "0", key="corrupt_later")
        if self.corrupt_at_load + self.corrupt_later > 1:
            expected = "at most 1 together with corrupt_at_load"
            raise wrong(expected, str(self.corrupt_at_load + self.corrupt_later), key="corrupt_later")
        return self

    @property
    def bandwidth_key(self) -> str | None:
        """The first key by which a time follows from a size, None if there is none."""
        keys = ("write_bandwidth", "write_cap", "read_bandwidth", "read_cap")
        return next((key for key in keys if getattr(self, key) is not None), None)

    @property
    def reads_by_bandwidth(self) -> bool:
        """Whether the time to load follows from the size."""
        return self.read_bandwidth is not None or self.read_cap is not None

    def write_ns(self, size: int, nodes: int) -> int:
        """The time to write `size` bytes from so many nodes; the size counts only where there is a bandwidth."""
        if self.write_bandwidth is None and self.write_cap is None:
            return self.write or 0
        return _transfer_ns(size, nodes, self.write_bandwidth, self.write_cap)

    def read_ns(self, size: int, nodes: int) -> int:
        """The time in which so many nodes read `size` bytes together; only where there is a bandwidth to read."""
        return _transfer_ns(size, nodes, self.read_bandwidth, self.read_cap)


def _transfer_ns(size: int, nodes: int, each: float | None, together: float | None) -> int:
    """Bytes over the lesser of what the nodes and what the shared part of the way can carry, rounded once."""
    rates = [] if each is None else [nodes * Fraction(each)]
    rates += [] if together is None else [Fraction(together)]
    return round(size * 10**9 / min(rates))


class Tier(Medium):
    """Another place that the job saves to, nearer and less safe: a peer's memory, a local disk."""

    name: Name
    """Its name, unique in the scenario."""
    every: Interval
    """Training time or steps between its saves."""
    load: DurationOrLaw | None = None
    """Reading a checkpoint from it; 0 if neither it nor read_bandwidth is said."""
    survives: Literal["process", "node", "domain", "job"]
    """What it survives: failures that take no node; the loss of a node, of a domain; all that happens to the job."""
    copies: PositiveCount = 1
    """With "node" or "domain": on how many of them each part lies; it survives the loss of one fewer."""

    @model_validator(mode="after")
    def _check_tier(self) -> "Tier":
        if self.every.by not in ("time", "steps"):
            raise wrong('an interval such as "10 min" or "5 steps" of a tier', f'"{self.every}"', key="every")
        if self.survives in ("node", "domain"):
            if self.copies < 2:
                expected = f'at least 2 copies, of which one may be lost, with survives = "{self.survives}"'
                raise wrong(expected, str(self.copies), key="copies")
        elif self.copies > 1:
            raise wrong(f'no copies with survives = "{self.survives}"', str(self.copies), key="copies")
        if self.reads_by_bandwidth and self.load is not None:
            raise wrong("either load or a bandwidth to read the checkpoint", "both", key="load")
        return self


class Checkpoint(Medium):
    """When the job saves, and what a save costs. It survives all that happens to the job; its tiers need not."""

    every: Interval
    """Training time or steps between saves: "10 min", "10 steps", or by formula: "young", "daly".

    "adaptive": each leg takes Young's, for the mean time between interruptions so far.
    """
    first_mtbf: PositiveDuration | None = None
    """With "adaptive": what is assumed of that mean before the first interruption; that of the stated rates if not."""
    when_busy: Literal["wait", "skip"] = "wait"
    """A save that falls due while one is being written waits for it, or is left out."""
    final_checkpoint: StrictBool = True
    """A run that ends by time keeps its last whole step; false: only what is durable by then."""
    bytes_per_parameter: BytesEach | None = None
    """Bytes that a checkpoint holds for each parameter: 12 to 14 B with the state of Adam."""
    parameters: PositiveCount | None = None
    """Parameters that a checkpoint holds; model.parameters if not said, which leaves out experts that sleep."""
    tiers: tuple[Tier, ...] = ()
    """Nearer places that the job saves to besides. It comes back from the newest checkpoint that is left anywhere."""

    @model_validator(mode="after")
    def _check_first(self) -> "Checkpoint":
        if self.first_mtbf is not None and self.every.by != "adaptive":
            raise wrong('"adaptive" beside first_mtbf', f'"{self.every}"', key="every")
        return self

    @model_validator(mode="after")
    def _check_bytes(self) -> "Checkpoint":
        if self.carries_bytes is not None and self.bytes_per_parameter is None:
            expected = f'bytes a parameter, such as "14 B", beside {self.carries_bytes}'
            raise wrong(expected, "nothing", key="bytes_per_parameter")
        return self

    @model_validator(mode="after")
    def _check_tiers(self) -> "Checkpoint":
        if self.tiers and self.when_busy != "skip":
            raise wrong('"skip" beside tiers, which do not wait for each other', f'"{self.when_busy}"', key="when_busy")
        names = [MAIN_TIER, *(tier.name for tier in self.tiers)]
        for index, name in enumerate(names[1:]):
            if name in names[: index + 1]:
                raise wrong("a name that no other tier has", f'"{name}"', key=f"tiers.{index}.name")
        return self

    @property
    def carries_bytes(self) -> str | None:
        """The first key, of it or of a tier, by which a time follows from a size; None if there is none."""
        keys = ((f"tiers.{index}.", tier.bandwidth_key) for index, tier in enumerate(self.tiers))
        return next((at + key for at, key in (("", self.bandwidth_key), *keys) if key is not None), None)

    def size(self, parameters: int | None) -> int:
        """Bytes of a checkpoint of a model with so many parameters; 0 if they are not said."""
        held = self.parameters or parameters
        if self.bytes_per_parameter is None or held is None:
            return 0
        return round(held * Fraction(repr(self.bytes_per_parameter)))
