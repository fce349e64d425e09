"""What a run costs: prices, and the amounts that they are multiplied by.

Money is a plain number in the user's own currency: the tool neither knows nor converts one.
"""

from typing import NamedTuple

from clustersim.scenario.part import Part
from clustersim.scenario.units import Number


class Used(NamedTuple):
    """What a run used of the cluster, whatever it cost."""

    busy_gpu_hours: float
    """GPU-hours of the job while it trained."""
    idle_gpu_hours: float
    """GPU-hours that the job held and did not train in: in recoveries, and waiting for nodes."""
    spare_gpu_hours: float
    """GPU-hours of the cluster's nodes that the job did not hold: standing by, cold, in repair."""
    repairs: int
    """Repairs that were done."""
    checkpoint_tb_months: float
    """TB (10^12 bytes) of durable checkpoints times months (730 h) that they were stored."""


class Cost(Part):
    """Prices, each a plain number in a currency of your own. Tables of results give money in it too."""

    gpu_hour: Number
    """Of one GPU for an hour while the job trains on it."""
    idle_gpu_hour: Number | None = None
    """While the job holds it and does not train, as in a recovery; gpu_hour if not said."""
    spare_gpu_hour: Number | None = None
    """While the job does not hold it: in a spare, on or off, and in a node in repair; gpu_hour if not said."""
    repair: Number = 0
    """Of one repair of a node."""
    checkpoint_tb_month: Number = 0
    """Of 10^12 bytes of durable checkpoints, stored for a month of 730 h."""

    def of(self, used: Used) -> float:
        """The price of what a run used."""
        idle = self.gpu_hour if self.idle_gpu_hour is None else self.idle_gpu_hour
        spare = self.gpu_hour if self.spare_gpu_hour is None else self.spare_gpu_hour
        prices = (self.gpu_hour, idle, spare, self.repair, self.checkpoint_tb_month)
        return sum(price * amount for price, amount in zip(prices, used, strict=True))
