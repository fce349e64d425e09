"""Which checkpoint the job comes back to: what is retained, what can be read, what survives."""

import numpy as np
import pytest
from by_hand import job, legs, scripted, seconds

from clustersim import ScenarioError, simulate


def silent(at, seen_after):
    return [{"cause": "bit flip", "kind": "silent", "at_times": [at], "detection": seen_after}]


def kinds(run):
    return [(row.kind, row.cause) for row in run.history.happenings if row.kind != "failure"]


@pytest.mark.parametrize(("keep", "kept"), [(None, 20), (3, 20), (2, 20), (1, 0)])
def test_a_silent_failure_goes_back_to_what_is_retained(keep, kept):
    """Saves at 100, 200 and 300 s; corrupt since 255 s, seen at 355 s: of two retained the older one is sound."""
    changes = {} if keep is None else {"checkpoint__keep": keep}
    run = simulate(job(failures=silent("255 s", "100 s"), **changes))
    assert legs(run) == [(0, 35, kept, 4), (kept, 100, 100, 4)]
    scratch = [("from scratch", "")] if kept == 0 else []
    assert kinds(run) == [("detection", "bit flip"), *scratch]


def test_retention_counts_over_restarts():
    """Two are kept. The crash at 255 s comes back to step 20; the corruption is older than all that is retained."""
    crash = {"cause": "crash", "at_times": ["255 s"]}
    run = simulate(job(failures=[*silent("150 s", "310 s"), crash], checkpoint__keep=2))
    assert legs(run) == [(0, 25, 20, 4), (20, 40, 0, 4), (0, 100, 100, 4)]  # retained: 30 and 40
    run = simulate(job(failures=[*silent("150 s", "290 s"), crash], checkpoint__keep=3))
    assert legs(run)[1] == (20, 38, 10, 4)  # 10, 20 and 30


LOAD = {"load": "7 s", "start_up": "60 s"}


def test_a_run_that_never_saved_starts_anew_without_a_word_but_with_a_load():
    run = simulate(job(failures=scripted(at_steps=[5]), recovery=LOAD))
    assert kinds(run) == []
    assert seconds(run) == {"useful": 1000, "wasted_progress": 55, "start_up": 60, "load": 7}


def test_checkpoints_that_cannot_be_read_cost_their_loads_and_older_ones_are_taken():
    """Every one is corrupt: two are retained, each is tried twice in vain, and the job starts at step 0."""
    keys = {"checkpoint__keep": 2, "checkpoint__corrupt_at_load": 1.0}
    run = simulate(job(failures=scripted(at_steps=[35]), recovery={**LOAD, "load_attempts": 2}, **keys))
    assert legs(run) == [(0, 35, 0, 4), (0, 100, 100, 4)]
    assert kinds(run) == [("bad checkpoint", "main"), ("bad checkpoint", "main"), ("from scratch", "")]
    assert seconds(run) == {"useful": 1000, "wasted_progress": 355, "start_up": 60, "load": 7 * 5}


@pytest.mark.parametrize(("at", "loads", "known"), [(420, 5 + 7 * 3, 1), (425, 10 + 7 * 2, 2), (429, 14 + 7, 2)])
def test_a_load_that_is_cut_short_tells_nothing(at, loads, known):
    """Loads in vain are over at 422 and 429 s, and the last at 436 s; a failure in them begins the recovery anew."""
    again = {"cause": "again", "at_times": [f"{at} s"]}
    keys = {"checkpoint__keep": 2, "checkpoint__corrupt_at_load": 1.0}
    run = simulate(job(failures=[*scripted(at_steps=[35]), again], recovery=LOAD, **keys))
    assert legs(run) == [(0, 35, 0, 4), (0, 100, 100, 4)]
    assert seconds(run)["load"] == loads
    assert kinds(run).count(("bad checkpoint", "main")) == 2


def test_the_share_of_checkpoints_that_cannot_be_read():
    """A checkpoint's fate is its own: 3 in 10 loads fail, whatever else the run does."""
    storm = [{"cause": "storm", "rate": "1 per hour", "scope": "job"}]
    keys = {"run": {"wall_time": "300 d"}, "checkpoint__corrupt_at_load": 0.3, "recovery": {"load": "1 s"}}
    run = simulate(job(failures=storm, **keys))
    failed, restarts = len(kinds(run)), run.summary()["restarts"]
    loads = failed + restarts
    assert abs(failed - 0.3 * loads) < 4 * np.sqrt(loads * 0.3 * 0.7)
    assert run.time_ns["load"] == pytest.approx(loads * 10**9, abs=60 * 10**9)  # but for those that were cut short


def test_a_bad_checkpoint_shows_later_and_is_tried_again_until_an_older_one_is_taken():
    """Step 30 loads and goes bad three steps later, twice; so does step 20, and what was saved from it is not kept."""
    keys = {"checkpoint__keep": 2, "checkpoint__corrupt_later": 1.0, "checkpoint__bad_after_steps": 12}
    run = simulate(job(failures=scripted(at_steps=[35]), recovery={**LOAD, "load_attempts": 2}, **keys))
    assert legs(run) == [
        (0, 35, 30, 4),
        (30, 42, 30, 4),
        (30, 42, 20, 4),
        (20, 32, 20, 4),
        (20, 32, 0, 4),
        (0, 100, 100, 4),
    ]
    assert [leg.ended_by for leg in run.history.legs[1:-1]] == ["bad checkpoint"] * 4
    assert run.summary()["interruptions"] == 5
    assert seconds(run) == {"useful": 1000, "wasted_progress": 355 + 4 * 120, "start_up": 5 * 60, "load": 5 * 7}
    assert run.account.extra == run.account.missing == 0


def test_a_failure_before_a_bad_checkpoint_shows_comes_back_to_it():
    """Restarted at 355 s from step 30; struck at 470 s, when step 40 is saved already, it is at step 30 again."""
    again = {"cause": "again", "at_times": ["470 s"]}
    keys = {"checkpoint__keep": 1, "checkpoint__corrupt_later": 1.0, "checkpoint__bad_after_steps": 12}
    run = simulate(job(failures=[*scripted(at_steps=[35]), again], **keys))
    assert legs(run) == [(0, 35, 30, 4), (30, 41, 30, 4), (30, 42, 0, 4), (0, 100, 100, 4)]


# --- tiers

MEMORY = {"name": "memory", "every": "3 steps", "stall": "1 s", "load": "2 s", "survives": "process"}


def tiered(failures, *, tiers=(MEMORY,), **changes):
    """Main is saved every 10 steps."""
    checkpoint = {"every": "10 steps", "stall": "4 s", "when_busy": "skip", "tiers": tiers}
    return job(failures=failures, recovery={"load": "30 s"}, checkpoint=checkpoint, **changes)


def test_the_newest_checkpoint_of_any_tier_is_taken():
    """Memory is saved after steps 3, 6, .., 24; step 25, which begins at 250 + 2 * 4 + 8 s, is struck in its middle."""
    run = simulate(tiered(scripted(at_steps=[25])))
    assert legs(run) == [(0, 25, 24, 4), (24, 100, 100, 4)]
    assert run.history.legs[0].end_ns == 271 * 10**9
    stalls = (2 * 4 + 8) + (7 * 4 + 25)  # the last of main is not reached, memory's after steps 27 .. 99
    assert seconds(run) == {"useful": 1000, "wasted_progress": 15, "save_stall": stalls, "load": 2}
    assert run.checkpoints.query("leg == 0").groupby("tier")["step"].apply(list).to_dict() == {
        "main": [10, 20],
        "memory": [3, 6, 9, 12, 15, 18, 21, 24],
    }


def test_of_equal_checkpoints_the_first_tier_s_is_taken():
    run = simulate(tiered(scripted(at_steps=[31])))
    assert (legs(run)[0], seconds(run)["load"]) == ((0, 31, 30, 4), 30)


SOFT = {"cause": "soft", "rate": "0 per day", "scope": "job"}
"""Never strikes; a memory survives it."""


def wears(cause, at, **keys):
    """Half of the nodes (or domains) fail at an instant, in step 25; they are mended, and the others never fail."""
    law = {"type": "empirical", "durations": [at, "9 y"]}
    return {"cause": cause, "law": law, "repair": "1 s", **keys}


def run_that_is_struck(at, *causes, **changes):
    """The first replication in which the job is struck at these instants (s), by the loss of a node or domain each."""
    for replication in range(300):
        run = simulate(tiered([*causes, SOFT], **changes), replication=replication)
        failures = [row for row in run.history.happenings if row.kind == "failure" and row.where == "job"]
        if [row.time_ns // 10**9 for row in failures] == at:
            return run
    raise AssertionError("no such replication")


@pytest.mark.parametrize(
    ("tier", "kept"),
    [
        ({"survives": "process"}, 20),
        ({"survives": "node", "copies": 2}, 24),
        ({"survives": "domain", "copies": 2}, 24),
        ({"survives": "job"}, 24),
    ],
)
def test_the_loss_of_a_node_takes_a_memory_without_copies(tier, kept):
    run = run_that_is_struck([271], wears("node", "271 s"), tiers=[{**MEMORY, **tier}], cluster__spares=4)
    assert legs(run)[0] == (0, 25, kept, 4)


@pytest.mark.parametrize(
    ("tier", "kept"),
    [
        ({"survives": "process"}, 20),
        ({"survives": "node", "copies": 2}, 20),
        ({"survives": "node", "copies": 4}, 24),
        ({"survives": "domain", "copies": 2}, 24),
        ({"survives": "job"}, 24),
    ],
)
def test_the_loss_of_a_domain_of_three_nodes(tier, kept):
    cluster = {"nodes": 3, "gpus_per_node": 1, "spares": 3, "nodes_per_domain": 3}
    rack = wears("rack", "271 s", scope="domain")
    run = run_that_is_struck([271], rack, tiers=[{**MEMORY, **tier}], cluster=cluster)
    assert legs(run)[0] == (0, 25, kept, 3)


@pytest.mark.parametrize(("copies_in", "copies", "kept"), [(2, 2, 20), (2, 3, 24), (1, 4, 20), (4, 2, 24)])
def test_the_loss_of_a_switch_is_that_of_all_its_domains(copies_in, copies, kept):
    """A switch of four nodes; the copies lie in different racks of two, on different nodes, or under switches."""
    cluster = {"nodes": 4, "gpus_per_node": 1, "spares": 4, "nodes_per_domain": copies_in}
    switch = wears("switch", "271 s", scope="domain", nodes_per_domain=4)
    tier = {**MEMORY, "survives": "domain", "copies": copies}
    run = run_that_is_struck([271], switch, tiers=[tier], cluster=cluster)
    assert legs(run)[0] == (0, 25, kept, 4)


@pytest.mark.parametrize(("copies", "kept"), [(2, 20), (3, 24)])
def test_nodes_that_are_lost_in_one_recovery_add_up(copies, kept):
    """The second node is lost before the first is missed."""
    causes = wears("first", "271 s", detection="40 s"), wears("second", "281 s")
    tier = {**MEMORY, "survives": "node", "copies": copies}
    run = run_that_is_struck([271, 281], *causes, tiers=[tier], cluster__spares=4)
    assert legs(run)[0] == (0, 25, kept, 4)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"survives": "nothing"},
            'tiers.0.survives: expected one of "process", "node", "domain", "job", found "nothing"',
        ),
        (
            {"survives": "node"},
            'tiers.0.copies: expected at least 2 copies, of which one may be lost, with survives = "node", found 1',
        ),
        ({"survives": "job", "copies": 2}, 'tiers.0.copies: expected no copies with survives = "job", found 2'),
        (
            {"every": "young"},
            'tiers.0.every: expected an interval such as "10 min" or "5 steps" of a tier, found "young"',
        ),
        ({"name": "main"}, 'tiers.0.name: expected a name that no other tier has, found "main"'),
        ({"corrupt_later": 0.5}, "tiers.0.bad_after_steps: expected bad_after_steps beside corrupt_later, found none"),
        ({"bad_after_steps": 5}, "tiers.0.corrupt_later: expected a share above 0 beside bad_after_steps, found 0"),
        (
            {"bad_after_steps": 5, "corrupt_later": 0},
            "tiers.0.corrupt_later: expected a share above 0 beside bad_after_steps, found 0",
        ),
        (
            {"corrupt_later": 0.5, "bad_after_steps": 3, "corrupt_at_load": 0.75},
            "tiers.0.corrupt_later: expected at most 1 together with corrupt_at_load, found 1.25",
        ),
        (
            {"read_cap": "1 GB/s"},
            "tiers.0.load: expected either load or a bandwidth to read the checkpoint, found both",
        ),
    ],
)
def test_tiers_that_are_wrong_are_refused_with_their_key(changes, line):
    with pytest.raises(ScenarioError) as refused:
        tiered(scripted(at_steps=[25]), tiers=[{**MEMORY, **changes}])
    assert str(refused.value) == f"scenario: checkpoint.{line}"


def test_a_tier_that_survives_none_of_the_failures_is_refused():
    node = {"cause": "wear", "rate": "1 per node-day", "repair": "1 h"}
    with pytest.raises(
        ScenarioError, match=r"checkpoint\.tiers\.0\.survives: expected a tier that survives at least one"
    ):
        tiered([node])
    tiered([{**node, "transient": 0.5}])
    tiered([])
    switch = {"cause": "switch", "scope": "domain", "nodes_per_domain": 4, "rate": "1 per domain-day", "repair": "1 h"}
    copies = [{**MEMORY, "survives": "domain", "copies": count} for count in (2, 3)]
    with pytest.raises(
        ScenarioError, match='expected a tier that survives at least one of the failures, found "domain"'
    ):
        tiered([switch], tiers=copies[:1], cluster__nodes_per_domain=2)
    tiered([switch], tiers=copies[1:], cluster__nodes_per_domain=2)


def test_bytes_of_a_tier_and_waiting_beside_tiers():
    tier = {key: value for key, value in MEMORY.items() if key != "load"} | {"read_cap": "1 GB/s"}
    with pytest.raises(
        ScenarioError, match=r"bytes_per_parameter: expected .* beside tiers\.0\.read_cap, found nothing"
    ):
        tiered(scripted(at_steps=[25]), tiers=[tier])
    with pytest.raises(ScenarioError, match=r'when_busy: expected "skip" beside tiers, .* found "wait"'):
        job(checkpoint={"every": "10 steps", "tiers": [MEMORY]})
