"""Which library is used how, what clustersim has for it, and in which jobs the two are compared."""

from dataclasses import dataclass

from conformance.jobs import EVEN_JOBS
from conformance.ours import Model
from conformance.play import Ends, Job


@dataclass(frozen=True)
class Usage:
    """A way to use a library.

    `reader` names a class, as module.Class of this folder; `versions` is a specifier of the library's versions. The
    rest of the fields is what the user's own loop does (play.Usage).
    """

    package: str
    name: str
    reader: str
    ours: Model
    jobs: tuple[Job, ...] = EVEN_JOBS
    ends: tuple[Ends, ...] = ("epochs", "steps")
    versions: str = ""
    refusals: tuple[type[Exception], ...] = ()
    saves_epoch: bool = True
    rank_0_for_new: bool = False
