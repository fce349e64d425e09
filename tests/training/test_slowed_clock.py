"""The timetable of a slowed leg against one that is played nanosecond by nanosecond."""

from hypothesis import given, settings
from hypothesis import strategies as st

from clustersim.training.closing import Closing
from clustersim.training.leg import LegClock, Saving
from clustersim.training.slowed import slowed

SAVINGS = st.builds(Saving, st.integers(1, 4), st.integers(0, 5), st.integers(0, 12), st.sampled_from(["wait", "skip"]))
PACES = st.dictionaries(st.integers(0, 12), st.integers(0, 6), min_size=1, max_size=3)


def paced(clock, extras):
    for at, extra in sorted(extras.items()):
        clock = slowed(clock, at, extra)
    return clock


def played(clock, extra_of, until):
    """(steps, partial, stalled, time since the step before, saves due) at each instant; a step takes its extra more."""
    rows, gone = [], 0
    for step in range(until):
        done = clock.time_of(step)
        pause = clock.time_of(step + 1) - done - clock.step
        begun, due = done + gone, clock.due(0, step)
        rows += [(step, 0, begun + i - gone - step * clock.step, i, due) for i in range(pause)]
        gone_before, gone = gone, gone + extra_of(step)
        stalled = done + pause - step * clock.step
        rows += [(step, i, stalled, pause, due) for i in range(clock.step + gone - gone_before)]
    return rows


@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.integers(1, 5), SAVINGS, PACES)
def test_progress_at_every_instant(step, saving, extras):
    clock = LegClock(step, (saving,))
    late = paced(clock, extras)

    def extra_of(number):
        return next((extra for at, extra in sorted(extras.items(), reverse=True) if at <= number), 0)

    for now, (steps, partial, stalled, paused, due) in enumerate(played(clock, extra_of, 25)):
        assert late.at(now) == (steps, partial, stalled), now
        whole = clock.time_of(steps + 1) - clock.time_of(steps) - step
        assert late.made(0, now) == due - (due > clock.due(0, steps - 1) and paused < whole), now
        assert late.durable(0, now) == sum(late.durable_at(0, number) <= now for number in range(due)), now


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(1, 5), SAVINGS, PACES, st.integers(1, 20), st.integers(0, 6))
def test_a_new_pace_leaves_what_is_past(step, saving, extras, at, extra):
    clock = LegClock(step, (saving,))
    before = paced(clock, extras)
    after = slowed(before, at, extra)
    assert [after.time_of(steps) for steps in range(at + 1)] == [before.time_of(steps) for steps in range(at + 1)]
    normal = clock.time_of(at + 5) - clock.time_of(at)
    assert after.time_of(at + 5) - after.time_of(at) == normal + 5 * extra
    assert slowed(clock, at, 0) is clock
    assert slowed(clock, at, 1).delay(at + 3) == 3


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(1, 5), SAVINGS, PACES, st.integers(1, 20))
def test_a_slowed_leg_closes_like_any_other(step, saving, extras, steps):
    late = paced(LegClock(step, (saving,)), extras)
    closing = Closing(late, steps)
    assert closing.at(late.time_of(steps) - 1) == late.at(late.time_of(steps) - 1)
    over = closing.at(closing.over)
    assert (over.steps, over.partial) == (steps, 0)
    assert over.stalled + steps * step + closing.delay(steps) == closing.over


def test_what_steps_took_longer_is_the_sum_over_the_paces():
    """A thousand paces, of which each lasts for three steps and makes them 0 to 6 ns longer."""
    late = paced(LegClock(10, (Saving(5, 0, 0, "wait"),)), {3 * number: number % 7 for number in range(1, 1001)})
    assert late.delay(3 * 1000) == 3 * sum(number % 7 for number in range(1, 1000))
    assert late.delay(3) == 0
    assert late.delay(3 * 1000 + 2) - late.delay(3 * 1000) == 2 * (1000 % 7)
