"""What breaks: the causes of a scenario, with their laws compiled."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from clustersim.laws import Law, Life

JOB = -1
"""The 'node' of what concerns the job as a whole."""

Kind = Literal["crash", "hang", "silent", "false-alarm", "slow", "maintenance"]


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause of failures.

    `life` is the law of the time from new to failure of one node, domain or of the job, in the time it ages by.
    `repair` is None for a cause that takes no node, and a share `transient` of the others' failures takes none either.
    A scripted cause, and one of a trace, has `life` None.

    `kind` says how the job meets it. "crash" and "hang": it stands from the failure on and knows after `detection`
    (of a hang the timeout, and perhaps never). "silent": it trains on with corrupt weights for `detection`, and stops
    when that is seen. "false-alarm": as a crash, but nothing broke. "slow": it trains on, each step `slows` times as
    long, for `detection`; then it saves, and the node leaves. "maintenance": at its times it saves, and the node, or
    the whole machine, is out for as long as that takes.
    """

    index: int
    name: str
    scope: Literal["node", "domain", "job"]
    ages: Literal["wall", "in_job", "training"]
    life: Life | None
    renews_all: bool
    detection: Law
    repair: Law | None
    kind: Kind = "crash"
    repair_at_detection: bool = False
    transient: float = 0.0
    manual_repair: Law | None = None  # follows a share `escalates` of the repairs
    escalates: float = 0.0
    repair_fails: float = 0.0  # shares of the repairs that mend nothing, and nobody knows
    manual_fails: float = 0.0
    misdiagnosis: float = 0.0  # share of the failures for which another node of the job is taken out
    recurs: Law | None = None  # life of what was not mended; None: as of any other
    lemon_life: Life | None = None  # None: a lemon fails as others do
    at_times_ns: tuple[int, ...] = ()
    at_nodes: tuple[int, ...] = ()  # of a trace, of maintenance: which node at each of them, and how long it is out
    out_ns: tuple[int, ...] = ()
    at_steps: tuple[int, ...] = ()
    by_what_is_read: bool = False  # at the steps that the loader names as each leg begins
    degrees: tuple[int, ...] = ()
    slows: float = 1.0
    nodes_per_domain: int = 1  # with scope "domain"


class Strike(NamedTuple):
    """Life k of a node, of a domain or of the job under a cause ends; for a scripted cause k counts its entries."""

    cause: Cause
    entity: int  # the number of the node or of the domain, or JOB
    k: int
