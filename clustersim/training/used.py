"""What a run used of the cluster: hours of GPUs, repairs, stored checkpoints."""

from collections.abc import Sequence

from clustersim.history import HOUR_NS, History
from clustersim.scenario.cost import Used

_MONTH_H = 730


def used(
    history: History, own_nodes: int, gpus_per_node: int, checkpoint_bytes: int, stored_h: Sequence[float]
) -> Used:
    """What a run used.

    Args:
        history: of the run.
        own_nodes: nodes and spares of the cluster, without those that can be borrowed.
        gpus_per_node: GPUs of each.
        checkpoint_bytes: of each checkpoint.
        stored_h: for how many hours each durable checkpoint was stored.
    """
    training_ns = sum(leg.nodes * (leg.end_ns - leg.begin_ns) for leg in history.legs)
    # What the job holds of borrowed nodes is not missing among its own.
    spare_ns = max(0, own_nodes * history.wall_ns - history.node_ns)
    busy, idle, spare = (
        nodes_ns * gpus_per_node / HOUR_NS for nodes_ns in (training_ns, history.node_ns - training_ns, spare_ns)
    )
    repairs = sum(happening.kind == "repair" for happening in history.happenings)
    return Used(busy, idle, spare, repairs, checkpoint_bytes / 1e12 * sum(stored_h) / _MONTH_H)
