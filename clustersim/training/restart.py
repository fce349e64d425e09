"""What a restart takes: how long each of its phases is, and which checkpoint the next leg comes from."""

from collections.abc import Callable

from clustersim.history import Spent
from clustersim.laws import Constant, draw
from clustersim.streams import Hashed
from clustersim.training.plan import JobPlan
from clustersim.training.recovery import lasting
from clustersim.training.store import Checkpoint, Store

# Which draw of a recovery's stream is whose.
_START_UP, _LOAD, _DIAGNOSIS, _SCHEDULING, _WARM_UP, _REGROUP, _REJOIN, _LOAD_AGAIN = range(8)


class Restarts:
    """The restarts of a job, one after the other; durations are nanoseconds, drawn anew for each attempt."""

    def __init__(
        self, plan: JobPlan, store: Store, stream: Hashed, loader_resume: Callable[[int, int], int] | None
    ) -> None:
        """Take what restarts follow from.

        Args:
            plan: of the job.
            store: of its checkpoints.
            stream: that chance is drawn from.
            loader_resume: how long the loader takes to come back to a step with so many replicas; None: no time.
        """
        self._plan = plan
        self._store = store
        self._stream = stream
        self._loader_resume = loader_resume
        # Phases that chance has no part in are worked out once.
        laws = (plan.scheduling, plan.start_up, plan.warm_up, *(tier.load(plan.degree) for tier in plan.tiers))
        constant = all(isinstance(law, Constant) for law in laws)
        self._is_certain = constant and store.all_sound and loader_resume is None
        self._known: dict[tuple[int, int, int], list[Spent]] = {}  # by degree, nodes and tier
        self._attempts = self._diagnoses = self._regroups = self._rejoins = 0
        self.source: Checkpoint | None = None
        """The checkpoint of the attempt that is under way, or of the leg that it led to; None: step 0."""
        self.goes_bad = False
        """Whether what is trained from `source` goes bad."""
        self.in_vain: list[tuple[int, Checkpoint]] = []
        """Until when checkpoints are tried that cannot be read."""

    @property
    def step(self) -> int:
        """The first step of the leg that comes from `source`."""
        return 0 if self.source is None else self.source.step

    def found(self, detection: int, nodes: int) -> list[Spent]:
        """The phases of the next failure until it is known what broke, with so many nodes held."""
        diagnosis = draw(self._plan.diagnosis, self._stream, _DIAGNOSIS, self._diagnoses)
        self._diagnoses += 1
        phases: list[Spent] = [("detection", detection, nodes)] if detection else []
        if diagnosis:
            phases.append(("diagnosis", diagnosis, nodes))
        return phases

    def regroup(self) -> int:
        """How long the next regrouping of replicas takes that go on in place."""
        self._regroups += 1
        return draw(self._plan.regroup, self._stream, _REGROUP, self._regroups - 1)

    def rejoin(self) -> int:
        """How long the next replica heals that joins others in place."""
        self._rejoins += 1
        return draw(self._plan.rejoin, self._stream, _REJOIN, self._rejoins - 1)

    def phases(self, now: int, degree: int, nodes: int) -> list[Spent]:
        """The phases from the moment when there are nodes enough until the first step; `source` is settled.

        Args:
            now: when they begin.
            degree: the data-parallel degree of the next leg.
            nodes: that the job holds.
        """
        if not self._is_certain:
            return self._drawn(now, degree, nodes)
        self.source = self._store.newest
        key = degree, nodes, 0 if self.source is None else self.source.tier
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._drawn(now, degree, nodes)
        return known

    def _drawn(self, now: int, degree: int, nodes: int) -> list[Spent]:
        plan, stream, attempt = self._plan, self._stream, self._attempts
        self._attempts += 1
        scheduling = draw(plan.scheduling, stream, _SCHEDULING, attempt)
        start_up = draw(plan.start_up, stream, _START_UP, attempt) + plan.start_up_more_ns(nodes)
        load = self._load(now + scheduling + start_up, degree, attempt)
        return lasting(
            nodes,
            ("scheduling", scheduling),
            ("start_up", start_up),
            ("load", load),
            ("loader_resume", 0 if self._loader_resume is None else self._loader_resume(self.step, degree)),
            ("warm_up", draw(plan.warm_up, stream, _WARM_UP, attempt)),
        )

    def _load(self, begin_ns: int, degree: int, attempt: int) -> int:
        """Choose the checkpoint that the next leg comes from: how long it takes to read it, and others in vain.

        A run without a checkpoint starts at step 0, which takes as long to load.
        """
        spent = tries = 0
        for checkpoint in self._store.candidates():
            fate = self._store.fate(checkpoint)
            if fate != "unreadable":
                self.source, self.goes_bad = checkpoint, fate == "goes bad"
                return spent + self._read(checkpoint.tier, degree, attempt, tries)
            for _ in range(self._plan.load_attempts):
                spent += self._read(checkpoint.tier, degree, attempt, tries)
                tries += 1
            self.in_vain.append((begin_ns + spent, checkpoint))
        self.source, self.goes_bad = None, False
        return spent + self._read(0, degree, attempt, tries)

    def _read(self, tier: int, degree: int, attempt: int, tries: int) -> int:
        """How long it takes to read a checkpoint of a tier in an attempt, after so many reads of it."""
        number = _LOAD_AGAIN + tries + 1 if tries else _LOAD
        return draw(self._plan.tiers[tier].load(degree), self._stream, number, attempt)

    def stop(self, now: int) -> list[str]:
        """An attempt is over or cut short: drop what was read in vain by now, and say of which tiers it was."""
        known = [checkpoint for over, checkpoint in self.in_vain if over <= now]
        self.in_vain = []
        for checkpoint in known:
            self._store.drop(checkpoint)
        return [self._plan.tiers[checkpoint.tier].name for checkpoint in known]

    def went_bad(self) -> str:
        """The leg showed that its source is bad: the tier of that; it is dropped after the last of its tries."""
        assert self.source is not None
        self._store.went_bad(self.source, self._plan.load_attempts)
        return self._plan.tiers[self.source.tier].name
