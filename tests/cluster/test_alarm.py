"""No strike is missed, late or told twice, whatever sets the alarm; and who looks ahead in the queue sees what is."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from slow_failures import SlowFailures
from worlds import scenarios, world_of

from clustersim import load_scenario
from clustersim.cluster import cluster
from clustersim.cluster.clock import Alarm, Rank

# All last whole minutes, as a step does: lives, repairs, steps and phases end together time and again.
MINUTES = {"type": "empirical", "durations": ["1 min", "2 min", "5 min", "30 min", "7 h"]}
SILENT = {"kind": "silent", "detection": "1 min"}
MENDED = {"repair": MINUTES, "transient": 0.2, "repair_fails": 0.2, "recurs": "5 min"}


@st.composite
def worlds_of_ties(draw):
    """Random scenarios whose causes and steps end at whole minutes."""
    scenario = draw(scenarios())
    ages = st.sampled_from(["wall", "in_job", "training"])
    causes = [
        {"cause": "node", "law": MINUTES, "ages": draw(ages), "renews": draw(st.sampled_from(["cause", "all"]))}
        | MENDED,
        {
            "cause": "slow",
            "law": MINUTES,
            "ages": draw(ages),
            "kind": "slow",
            "slows": 2,
            "detection": "5 min",
        },
        {"cause": "odd", "law": MINUTES, "ages": draw(ages)} | draw(st.sampled_from([{}, SILENT])),
        {"cause": "rack", "law": MINUTES, "scope": "domain", "repair": "1 min", "detection": "2 min"},
        {"cause": "bug", "law": MINUTES, "scope": "job", "ages": draw(ages), "detection": "1 min"},
        {"cause": "script", "at_times": ["1 min", "10 min", "2 h"]},
    ]
    soft = {"cause": "soft", "rate": "0 per day", "scope": "job"}
    chosen = draw(st.lists(st.sampled_from(causes), min_size=1, max_size=4, unique_by=lambda cause: cause["cause"]))
    return load_scenario(scenario, {"failures": [*chosen, soft], "model.step_time": "1 min"})


def told(history):
    """What happened, whatever was written down first of one instant; a timetable is told by its saves."""
    legs = [leg._replace(timetable=None) for leg in history.legs]
    ended = history.wall_ns, history.node_ns, history.outcome
    return legs, history.recoveries, sorted(history.happenings), sorted(history.outages), ended


def play(worlds, count, check):
    settings(
        max_examples=count,
        phases=[Phase.generate],
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )(given(worlds)(check))()


@pytest.mark.parametrize("worlds", [scenarios(), worlds_of_ties()], ids=["random", "ties"])
@pytest.mark.parametrize("count", [25, pytest.param(1000, marks=pytest.mark.slow)])
def test_strikes_are_those_that_are_found_by_looking_at_every_life(worlds, count, monkeypatch):
    struck = 0

    def check(scenario):
        nonlocal struck
        history = world_of(scenario).run()
        with monkeypatch.context() as patch:
            patch.setattr(cluster, "Failures", SlowFailures)
            assert told(world_of(scenario).run()) == told(history)
        struck += len(history.happenings)

    play(worlds, count, check)
    assert struck > 20 * count


@pytest.mark.parametrize("worlds", [scenarios(), worlds_of_ties()], ids=["random", "ties"])
@pytest.mark.parametrize("rank", [Rank.COMPLETE, Rank.END], ids=["first", "last"])
def test_alarms_of_others_move_nothing(worlds, rank):
    """With one each second, as of who watches the run, the job can nowhere tell what comes before the next alarm."""

    def check(scenario):
        watched = world_of(scenario)

        def watch(alarm):
            Alarm(watched.env, alarm.at_ns + 10**9, rank, watch)

        Alarm(watched.env, 0, rank, watch)
        assert watched.run().digest == world_of(scenario).run().digest

    play(worlds, 10, check)
