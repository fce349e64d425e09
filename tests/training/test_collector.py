"""The garbage collector rests while a run goes on, and is as it was after it, however the run ends."""

import gc
from contextlib import ExitStack

import pytest

from clustersim import ScenarioError, simulate
from clustersim.training.compile import collector_at_rest


@pytest.fixture(autouse=True)
def _collector():
    yield
    gc.enable()


def test_it_rests_through_a_run_within_a_run():
    rests = []

    def watch(_):
        if not rests:
            rests.append(not gc.isenabled())
            simulate("small")
            rests.append(not gc.isenabled())

    simulate("small", progress=watch)
    assert rests == [True, True]
    assert gc.isenabled()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_it_wakes_after_a_run_that_is_broken_off(error):
    def stop(_):
        raise error

    with pytest.raises(error):
        simulate("small", progress=stop)
    with pytest.raises(ScenarioError):
        simulate("no such scenario")
    assert gc.isenabled()


def test_what_the_user_has_put_to_rest_rests_on():
    gc.disable()
    simulate("small")
    assert not gc.isenabled()


def test_runs_of_two_threads_that_overlap_leave_it_awake():
    """The second begins while the first goes on, and ends after it."""
    first, second = ExitStack(), ExitStack()
    first.enter_context(collector_at_rest())
    second.enter_context(collector_at_rest())
    first.close()
    assert gc.isenabled()
    second.close()
    assert gc.isenabled()
