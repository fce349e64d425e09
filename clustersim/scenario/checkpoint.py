"""Checkpoints: when the job saves, what a save costs, and how long it takes to write one and to read it back."""

from fractions import Fraction
from typing import Literal

from pydantic import StrictBool, model_validator

from clustersim.scenario.errors import wrong
from clustersim.scenario.part import Part
from clustersim.scenario.rates import Interval
from clustersim.scenario.units import Bandwidth, BytesEach, Duration, PositiveCount


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

    @model_validator(mode="after")
    def _check_write(self) -> "Medium":
        if self.write is not None:
            for key in ("write_bandwidth", "write_cap"):
                if getattr(self, key) is not None:
                    raise wrong("either write or a bandwidth", "both", key=key)
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


class Checkpoint(Medium):
    """When the job saves, and what a save costs."""

    every: Interval
    """Training time or steps between saves: "10 min", "10 steps", or by formula: "young", "daly"."""
    when_busy: Literal["wait", "skip"] = "wait"
    """A save that falls due while one is being written waits for it, or is left out."""
    final_checkpoint: StrictBool = True
    """A run that ends by time keeps its last whole step; false: only what is durable by then."""
    bytes_per_parameter: BytesEach | None = None
    """Bytes that a checkpoint holds for each parameter: 12 to 14 B with the state of Adam."""
    parameters: PositiveCount | None = None
    """Parameters that a checkpoint holds; model.parameters if not said, which leaves out experts that sleep."""
    read_by: Literal["replica", "job"] = "replica"
    """Each replica reads a whole checkpoint, or the job reads one and passes it on at no cost."""

    @model_validator(mode="after")
    def _check_bytes(self) -> "Checkpoint":
        if self.bandwidth_key is not None and self.bytes_per_parameter is None:
            expected = f'bytes a parameter, such as "14 B", beside {self.bandwidth_key}'
            raise wrong(expected, "nothing", key="bytes_per_parameter")
        return self

    def size(self, parameters: int | None) -> int:
        """Bytes of a checkpoint of a model with so many parameters; 0 if they are not said."""
        held = self.parameters or parameters
        if self.bytes_per_parameter is None or held is None:
            return 0
        return round(held * Fraction(repr(self.bytes_per_parameter)))
