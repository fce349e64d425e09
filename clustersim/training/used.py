"""What a run used of the cluster: hours of GPUs, repairs, stored checkpoints."""

from collections.abc import Sequence

from clustersim.history import HOUR_NS, History
from clustersim.scenario.cost import Used

_MONTH_H = 730


def used(history: History, own_nodes: int, gpus_per_node: int, checkpoint_bytes: int, stored_h: float) -> Used:
    """What a run used.

    Args:
        history: of the run.
        own_nodes: nodes and spares of the cluster, without those that can be borrowed.
        gpus_per_node: GPUs of each.
        checkpoint_bytes: of each checkpoint.
        stored_h: hours that checkpoints were stored, all together (`stored_hours`).
    """
    training_ns = sum(leg.nodes * (leg.end_ns - leg.begin_ns) for leg in history.legs)
    # What the job holds of borrowed nodes is not missing among its own.
    spare_ns = max(0, own_nodes * history.wall_ns - history.node_ns)
    busy, idle, spare = (
        nodes_ns * gpus_per_node / HOUR_NS for nodes_ns in (training_ns, history.node_ns - training_ns, spare_ns)
    )
    repairs = sum(happening.kind == "repair" for happening in history.happenings)
    return Used(busy, idle, spare, repairs, checkpoint_bytes / 1e12 * stored_h / _MONTH_H)


def stored_hours(durable_h: Sequence[float], wall_h: float, keep: int | None) -> float:
    """For how many hours checkpoints were stored, all together.

    Args:
        durable_h: when each became durable.
        wall_h: when the run was over.
        keep: how many are retained, the newest; all if None.
    """
    begun = sorted(durable_h)
    dropped = begun[keep:] if keep else []
    return sum(dropped) + wall_h * (len(begun) - len(dropped)) - sum(begun)
