"""Closed forms that the simulation is compared with and that `clustersim check` prints; times in any one unit."""

import math


def young(save: float, mtbf: float) -> float:
    """Young's interval (1974): sqrt(2 save mtbf), compute time between saves."""
    return math.sqrt(2 * save * mtbf)


def daly(save: float, mtbf: float) -> float:
    """Daly's interval (2006, eq. 37), compute time between saves; mtbf itself once a save costs 2 mtbf or more."""
    if save >= 2 * mtbf:
        return mtbf
    ratio = save / (2 * mtbf)
    return young(save, mtbf) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - save


def daly_efficiency(interval: float, save: float, mtbf: float, restart: float) -> float:
    """Useful time over wall time under Daly's complete model (2006).

    Exponential failures, which may strike during saves and restarts:
    wall = mtbf exp(restart / mtbf) (exp((interval + save) / mtbf) - 1) useful / interval.
    """
    return interval / (mtbf * math.exp(restart / mtbf) * math.expm1((interval + save) / mtbf))


def uninterrupted(length: float, mtbf: float) -> float:
    """Mean time until something of a length gets done that begins anew at each failure: mtbf (exp(length / mtbf) - 1).

    Exponential failures; infinite where that is beyond a float.
    """
    try:
        return mtbf * math.expm1(length / mtbf) if mtbf < math.inf else length
    except OverflowError:
        return math.inf


def first_order_ettr(interval: float, save: float, mtbf: float, restart: float) -> float:
    """ETTR to first order: (1 - (restart + interval/2) / mtbf) / (1 + save/interval) (Kokolis, arXiv 2410.21680)."""
    return max(0.0, 1 - (restart + interval / 2) / mtbf) / (1 + save / interval)


def machine_repair(nodes: int, slots: int, load: float) -> list[float]:
    """P(n nodes are down) in the long run, n = 0 .. nodes: the machine repair model M/M/c//N.

    Args:
        nodes: that fail while they are up, spares among them.
        slots: nodes that can be repaired at once.
        load: rate at which a node fails, over the rate at which one is repaired; greater than 0. Lives and repairs are
            exponential; where there is a slot for every node, repairs may follow any law of the same mean.
    """
    logs = [0.0]  # in logarithms: the weights of thousands of nodes leave the range of floats
    for down in range(nodes):
        logs.append(logs[-1] + math.log((nodes - down) * load / min(down + 1, slots)))
    most = max(logs)
    weights = [math.exp(each - most) for each in logs]
    whole = math.fsum(weights)
    return [weight / whole for weight in weights]
