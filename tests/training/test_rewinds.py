"""Planned rollbacks, and an interval that follows the interruptions."""

import math

import numpy as np
import pytest
from by_hand import job, legs, scripted, seconds

from clustersim import ScenarioError, simulate


def rewound(*rewinds, **changes):
    return job(rewinds=[{"at_step": at, "back": back} for at, back in rewinds], **changes)


@pytest.mark.parametrize(("back", "kept"), [(3, 20), (5, 20), (6, 10), (15, 10), (16, 0), (25, 0)])
def test_a_rewind_goes_back_to_the_newest_checkpoint_that_is_old_enough(back, kept):
    run = simulate(rewound((25, back), recovery={"start_up": "60 s", "diagnosis": "1 h"}))
    assert legs(run) == [(0, 25, kept, 4), (kept, 100, 100, 4)]
    assert run.history.legs[0].ended_by == "rewind"
    assert (run.summary()["interruptions"], run.summary()["restarts"]) == (0, 1)
    assert run.summary()["from_scratch"] == (kept == 0)
    assert seconds(run) == {"useful": 1000, "wasted_progress": 250 - 10 * kept, "start_up": 60}
    assert run.account.extra == run.account.missing == 0


def test_each_rewind_happens_once_whatever_restarts_follow():
    """The crash in step 27 comes back to step 20: step 25 is completed a third time, and not rewound again."""
    run = simulate(rewound((25, 10), (40, 1), failures=scripted(at_steps=[27])))
    assert legs(run) == [(0, 25, 10, 4), (10, 27, 20, 4), (20, 40, 30, 4), (30, 100, 100, 4)]


def test_a_failure_as_the_step_is_complete_comes_first():
    """Struck at 200 s, when step 20 is complete and saved: the next leg begins there, and is rewound at once."""
    run = simulate(rewound((20, 1), failures=scripted(at_times=["200 s"])))
    assert legs(run) == [(0, 20, 20, 4), (20, 20, 10, 4), (10, 100, 100, 4)]


def test_what_is_retained_sets_how_far_a_rewind_goes():
    run = simulate(rewound((35, 10), checkpoint__keep=1))
    assert legs(run) == [(0, 35, 0, 4), (0, 100, 100, 4)]


def test_what_a_rewind_is_made_for_is_passed_over_whatever_restarts_follow():
    """Back to step 10 and position 120; positions 200 to 259 are skipped, and the 100 steps read up to 1,260."""
    run = simulate(rewound((25, 10), failures=scripted(at_steps=[27, 60]), data__skip=[[200, 260]]))
    assert legs(run)[0] == (0, 25, 10, 4)
    seen = np.zeros(5000, int)
    seen[run.spaces.samples_at(0, 0, np.r_[0:200, 260:1260])] = 1
    np.testing.assert_array_equal(run.counts.seen, seen)
    assert (run.steps, run.summary()["identical_steps_share"]) == (100, 1)


@pytest.mark.parametrize(
    ("rewinds", "line"),
    [
        ([(30, 1), (30, 2)], "1.at_step: expected a step after 30, as they are in order, found 30"),
        ([(100, 1)], "0.at_step: expected a step before 100, the end of the run, found 100"),
        ([(30, 31)], "0.back: expected at most 30, the steps until then, found 31"),
    ],
)
def test_rewinds_that_cannot_be(rewinds, line):
    with pytest.raises(ScenarioError) as refused:
        rewound(*rewinds)
    assert str(refused.value) == f"scenario: rewinds.{line}"


def test_an_adaptive_interval_is_youngs_of_the_mean_so_far():
    """M = 1 h at first; then, at 315 s, (1 h + 315 s) / 2, and so on."""
    checkpoint = {"every": "adaptive", "first_mtbf": "1 h", "stall": "2 s"}
    run = simulate(job(failures=scripted(at_steps=[25, 30]), checkpoint=checkpoint, recovery={"start_up": "60 s"}))
    firsts = [leg.timetable.step_of(0, 0) for leg in run.history.legs]
    begins = [leg.begin_ns / 1e9 for leg in run.history.legs]
    assert begins[0] == 0
    assert firsts[0] == 12  # sqrt(2 * 2 s * 3600 s) is 120 s
    assert firsts == [math.ceil(math.sqrt(4 * (3600 + begin) / (k + 1)) / 10) for k, begin in enumerate(begins)]
    assert firsts[2] < firsts[1] < firsts[0]


def test_an_adaptive_interval_finds_the_one_of_the_rate():
    """Assumed 100 times too rare, failures come every 2 h: at the end the interval is Young's for that."""
    storm = [{"cause": "storm", "rate": "12 per day", "scope": "job"}]
    checkpoint = {"every": "adaptive", "first_mtbf": "200 h", "stall": "10 s"}
    run = simulate(job(failures=storm, checkpoint=checkpoint, run={"wall_time": "600 d"}))
    assert run.history.legs[-1].timetable.step_of(0, 0) == pytest.approx(math.sqrt(2 * 10 * 7200) / 10, rel=0.05)
    at_rate = job(failures=storm, checkpoint={"every": "adaptive", "stall": "10 s"})
    assert simulate(at_rate).history.legs[0].timetable.step_of(0, 0) == 38  # 379.5 s


@pytest.mark.parametrize(
    ("checkpoint", "line"),
    [
        ({"every": "10 min", "first_mtbf": "1 h"}, 'checkpoint.every: expected "adaptive" beside first_mtbf'),
        ({"every": "adaptive", "stall": "2 s"}, 'failures: expected random failures with every = "adaptive"'),
        (
            {"every": "adaptive", "first_mtbf": "1 h"},
            "checkpoint.stall: expected a cost of a save, longer than 0, with",
        ),
        ({"every": "adaptiv"}, 'checkpoint.every: .* did you mean "adaptive"'),
    ],
)
def test_adaptive_needs_a_cost_and_a_mean(checkpoint, line):
    with pytest.raises(ScenarioError, match=line):
        job(checkpoint=checkpoint)
