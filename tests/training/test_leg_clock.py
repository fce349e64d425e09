"""The arithmetic of a leg against a leg that is played nanosecond by nanosecond."""

from hypothesis import given, settings
from hypothesis import strategies as st

from clustersim.training.leg import LegClock, Saving


def played(step, saving, until):
    """One (steps, partial, stalled, durable, kept) for each instant 0..until."""
    rows = []
    steps = partial = stalled = since_save = stalling = 0
    durable_at = []  # (when, steps held)
    writing_until = 0
    for now in range(until + 1):
        if partial == step:
            steps, since_save, partial = steps + 1, since_save + 1, 0
        due = partial == 0 and since_save > 0 and since_save % saving.every == 0 and stalling == 0
        busy = now < writing_until
        if due and not busy:
            stalling = saving.stall
            if stalling == 0:
                durable_at.append((now + saving.write, steps))
                writing_until, since_save = now + saving.write, 0
        waiting = due and busy and saving.when_busy == "wait"
        durable = [held for when, held in durable_at if when <= now]
        rows.append((steps, partial, stalled, len(durable), durable[-1] if durable else 0))
        if waiting:
            stalled += 1
        elif stalling:
            stalling, stalled = stalling - 1, stalled + 1
            if stalling == 0:
                end = now + 1
                durable_at.append((end + saving.write, steps))
                writing_until, since_save = end + saving.write, 0
        else:
            partial += 1
    return rows


SAVINGS = st.builds(Saving, st.integers(1, 4), st.integers(0, 5), st.integers(0, 40), st.sampled_from(["wait", "skip"]))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(1, 5), SAVINGS)
def test_progress_at_every_instant(step, saving):
    clock = LegClock(step, saving)
    for now, expected in enumerate(played(step, saving, 150)):
        progress = clock.at(now)
        found = (
            progress.steps,
            progress.partial,
            progress.stalled,
            progress.durable,
            progress.kept,
        )
        assert found == expected, (now, step, saving)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.integers(1, 5), SAVINGS, st.integers(0, 60))
def test_time_of_a_step_is_the_first_instant_that_has_it(step, saving, steps):
    clock = LegClock(step, saving)
    when = clock.time_of(steps)
    assert clock.at(when).steps == steps
    if steps:
        assert clock.at(when - 1).steps == steps - 1
