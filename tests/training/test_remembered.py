"""What a job remembers of its restarts and checkpoints is what it would work out anew."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from worlds import scenarios, world_of

from clustersim import load_scenario
from clustersim.history import Recovery
from clustersim.training import restart
from clustersim.training.recovery import Recovering
from clustersim.training.store import Store


class Nothing:
    """No law is one of these."""


@st.composite
def sound(draw):
    """Random scenarios in which chance has no part in a restart, but which checkpoint is left and for how many."""
    memory = {"name": "memory", "every": "1 steps", "read_bandwidth": "1 GB/s"}
    survives = draw(st.sampled_from([{"survives": "process"}, {"survives": "node", "copies": 2}]))
    checkpoint = {
        "every": "4 steps",
        "when_busy": "skip",
        "parameters": "1 B",
        "bytes_per_parameter": "14 B",
        "tiers": [memory | survives],
    }
    again = {"cause": "again", "rate": "100 per day", "scope": "job"}
    lost = {"cause": "lost", "rate": "10 per node-day", "repair": "1 h"}
    flip = {"cause": "flip", "rate": "50 per day", "scope": "job", "kind": "silent", "detection": "9 min"}
    changes = {
        "checkpoint": checkpoint,
        "recovery.load": "20 s",
        "failures": [again, lost, flip],
        "run": {"steps": 400},
    }
    return load_scenario(draw(scenarios()), changes | {"data.samples": "1 M"})


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(scenarios() | sound())
def test_restarts_and_the_newest_checkpoint(scenario):
    history = world_of(scenario).run()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(restart, "Constant", Nothing)
        patch.setattr(Store, "newest", property(lambda store: next(iter(store.candidates()), None)))
        assert world_of(scenario).run().digest == history.digest


PHASES = st.lists(
    st.tuples(st.sampled_from(["load", "warm_up", "detection"]), st.integers(1, 4), st.just(2)), max_size=3
)


@given(st.lists(st.tuples(PHASES, st.integers(0, 13)), max_size=6))
def test_phases_that_are_cut_short_anywhere(runs):
    """Phases begin one after the other and are stopped after some time, twice: nanosecond by nanosecond."""
    recovering, begin, spent = Recovering(100), 100, []
    for phases, lasts in runs:
        singly = [name for name, length, _ in phases for _ in range(length)]
        assert recovering.run(begin, phases) == begin + len(singly)
        lasts = min(lasts, len(singly))
        begin += lasts
        recovering.stop(begin)
        recovering.stop(begin)
        assert recovering.ends_ns == begin
        spent += singly[:lasts]
    record = recovering.record()
    assert isinstance(record, Recovery)
    assert [span.phase for span in record.spans for _ in range(span.begin_ns, span.end_ns)] == spent
    assert all(length > 0 for _, length, _ in record.phases)
    assert [span.begin_ns for span in record.spans] + [begin] == [100] + [span.end_ns for span in record.spans]
