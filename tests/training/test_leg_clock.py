"""The arithmetic of a leg against a leg that is played nanosecond by nanosecond."""

from hypothesis import given, settings
from hypothesis import strategies as st

from clustersim.training.leg import LegClock, Saving


class Played:
    """One tier of a leg that is played: the saves that are made, and when they are durable."""

    def __init__(self, saving):
        self.saving = saving
        self.since_save = 0
        self.due = False
        self.made = []  # (when its stall was over, when it is durable, steps held, training time)

    def trained_since(self, trained):
        return trained - self.made[-1][3] if self.made else self.saving.write

    def busy(self, now):
        return bool(self.made) and now < self.made[-1][1]


def played(step, savings, until):
    """For each instant 0..until (steps, partial, stalled), and for each tier (made, durable, steps held)."""
    rows = []
    tiers = [Played(saving) for saving in savings]
    steps = partial = stalled = 0
    stalling = None  # the tier that stalls the leg, and for how long still
    for now in range(until + 1):
        if partial == step:
            steps, partial = steps + 1, 0
            for tier in tiers:
                tier.since_save += 1
                if tier.since_save % tier.saving.every == 0:
                    tier.due = tier.saving.when_busy == "wait" or tier.trained_since(steps * step) >= tier.saving.write
        if stalling and stalling[1] == 0:
            stalling = end_stall(stalling[0], now, steps, step)
        while stalling is None and (due := next((tier for tier in tiers if tier.due), None)) and not waits(due, now):
            stalling = (due, due.saving.stall)
            if due.saving.stall == 0:
                stalling = end_stall(due, now, steps, step)
        durable = [[save for save in tier.made if save[1] <= now] for tier in tiers]
        row = [
            (len(tier.made), len(done), done[-1][2] if done else 0) for tier, done in zip(tiers, durable, strict=True)
        ]
        rows.append(((steps, partial, stalled), row))
        if stalling:
            stalling, stalled = (stalling[0], stalling[1] - 1), stalled + 1
        elif any(tier.due for tier in tiers):
            stalled += 1
        else:
            partial += 1
    return rows


def waits(tier, now):
    return tier.saving.when_busy == "wait" and tier.busy(now)


def end_stall(tier, now, steps, step):
    tier.made.append((now, now + tier.saving.write, steps, steps * step))
    tier.due, tier.since_save = False, 0


def saving(whens):
    return st.builds(Saving, st.integers(1, 4), st.integers(0, 5), st.integers(0, 40), st.sampled_from(whens))


SAVINGS = st.tuples(saving(["wait", "skip"])) | st.lists(saving(["skip"]), min_size=2, max_size=3).map(tuple)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.integers(1, 5), SAVINGS)
def test_progress_at_every_instant(step, savings):
    clock = LegClock(step, savings)
    for now, (progress, tiers) in enumerate(played(step, savings, 150)):
        assert clock.at(now) == progress, (now, step, savings)
        for tier, (made, durable, held) in enumerate(tiers):
            assert (clock.made(tier, now), clock.durable(tier, now)) == (made, durable), (now, tier, step, savings)
            assert held == (clock.step_of(tier, durable - 1) if durable else 0)
            if made:
                assert clock.made_at(tier, made - 1) <= now < clock.made_at(tier, made)
            if durable:
                assert clock.durable_at(tier, durable - 1) <= now < clock.durable_at(tier, durable)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.integers(1, 5), SAVINGS, st.integers(0, 60))
def test_time_of_a_step_is_the_first_instant_that_has_it(step, savings, steps):
    clock = LegClock(step, savings)
    when = clock.time_of(steps)
    assert clock.at(when).steps == steps
    if steps:
        assert clock.at(when - 1).steps == steps - 1
