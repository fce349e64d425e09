"""Poison in a run: it dies at the same step until something is done, and what is done is in the account."""

import numpy as np
import pytest

import clustersim.run as run_module
from clustersim import load_scenario, simulate
from clustersim.account import Draws
from clustersim.loaders.taken_out import hunt_of, without
from clustersim.scenario import ScenarioError
from clustersim.study.histories import groups

JOB = {
    "run": {"epochs": 2, "account": "interval"},
    "model": {"global_batch": 8, "step_time": "1 min"},
    "cluster": {"nodes": 4, "gpus_per_node": 1},
    "checkpoint": {"every": "10 steps"},
    "recovery": {"start_up": "5 min"},
    "data": {"samples": 960, "shards": 12, "order": "shuffle"},
}


def played(account="interval", seed=0, **parts):
    return simulate(load_scenario({**JOB, "run": {"epochs": 2, "account": account}, **parts}), seed=seed)


def steps_of(run, sample):
    """The steps of the two epochs that read a sample, by reading both."""
    samples = np.concatenate([run.spaces.samples_at(0, epoch, np.arange(960)) for epoch in range(2)])
    return (np.flatnonzero(samples == sample) // 8).tolist()


@pytest.mark.parametrize("order", ["shuffle", "shuffle-once", "shard-shuffle", "sequential"])
@pytest.mark.parametrize("account", ["interval", "identity"])
def test_a_batch_is_skipped_after_the_retries_and_exactly_it_is_missing(order, account):
    run = played(account, data={**JOB["data"], "order": order}, poison={"samples": [500], "retries": 2})
    first, second = steps_of(run, 500)
    assert [leg.stop for leg in run.history.legs] == [first] * 3 + [second] * 3 + [240]
    figures = run.summary()
    assert (figures["extra_views"], figures["missing_views"], figures["interruptions"]) == (0, 16, 6)
    assert figures["rolled_back_steps"] == 3 * (first % 10) + 3 * (second % 10)
    assert figures["identical_steps_share"] == 238 / 240
    assert run.time_ns["start_up"] == 6 * 5 * 60 * 10**9
    assert set(run.events["cause"]) == {"poison"}
    assert run.sample(500).query("step == @first")["fate"].tolist() == ["in flight"] * 3 + ["taken out"]


@pytest.mark.parametrize("account", ["interval", "identity"])
def test_a_sample_in_quarantine_is_missing_once_an_epoch(account):
    run = played(account, poison={"samples": [500], "act": "quarantine"})
    figures = run.summary()
    assert (figures["extra_views"], figures["missing_views"], figures["interruptions"]) == (0, 2, 4)
    assert figures["never_seen_samples"] == 1
    assert (run.exact, run.damage.missing_views.iloc[-1]) == ("identity", 2)
    assert run.sample(500)["fate"].tolist()[-2:] == ["taken out"] * 2


def test_what_is_taken_out_in_each_epoch_is_counted_as_the_same_sample(monkeypatch):
    """More views than are usually counted one by one: with poison they are, up to a bound of its own."""
    monkeypatch.setattr(run_module, "IDENTITY_MAX", 100)
    run = played("auto", poison={"samples": [500], "act": "quarantine"})
    assert (run.exact, run.summary()["never_seen_samples"]) == ("identity", 1)
    monkeypatch.setattr(run_module, "POISON_MAX", 100)
    run = played("auto", poison={"samples": [500, 501], "act": "quarantine"})
    assert (run.by_identity, run.exact, run.summary()["never_seen_samples"]) == (False, "identity", 2)


def test_the_batches_that_poison_takes_out_share_the_poison_and_others_by_chance():
    """Two epochs lack a batch of 8 each, both with sample 500; of the other 7, 49 / 959 are in both on average."""
    never = {"interval": [], "identity": []}
    for account, found in never.items():
        for seed in range(150):
            run = played(account, poison={"samples": [500], "retries": 0}, seed=seed)
            assert (run.summary()["extra_views"], run.summary()["missing_views"]) == (0, 16)
            found.append(run.summary()["never_seen_samples"] - 1)
    error = np.sqrt(49 / 959 / 150)
    assert min(map(min, never.values())) == 0
    assert all(abs(np.mean(found) - 49 / 959) < 4 * error for found in never.values())


def test_a_search_by_halves_costs_its_restarts():
    run = played(poison={"samples": [500], "retries": 0, "act": "bisect"})
    assert run.summary()["interruptions"] == 1 + 3
    assert run.summary()["missing_views"] == 2


def test_a_pair_kills_only_where_it_shares_a_batch():
    apart = played(data={**JOB["data"], "order": "sequential"}, poison={"samples": [7, 8], "together": 2})
    assert apart.summary()["interruptions"] == 0
    shared = played(
        data={**JOB["data"], "order": "sequential"}, poison={"samples": [8, 15], "together": 2, "retries": 1}
    )
    assert [leg.stop for leg in shared.history.legs] == [1, 1, 121, 121, 240]


def test_it_strikes_beside_other_failures_and_the_damage_grows_with_the_lineage():
    failures = [{"cause": "crash", "at_steps": [30, 155]}]
    run = played(failures=failures, poison={"samples": [500], "retries": 1})
    assert run.steps == 240
    assert run.summary()["missing_views"] == 16
    grown = run.damage.set_index("restart")["missing_views"]
    assert grown.is_monotonic_increasing
    assert grown.iloc[-1] == 16
    assert run.summary()["interruptions"] == 2 + 4


def test_a_leg_that_something_else_ended_at_the_poisoned_step_is_no_crash_of_it():
    """Sample 500 is in steps 62 and 182: at the first something else strikes at the same instant, and is no retry."""
    failures = [{"cause": "crash", "at_steps": [62]}]
    poison = {"samples": [500], "retries": 1}
    run = played(data={**JOB["data"], "order": "sequential"}, failures=failures, poison=poison)
    ended = [(leg.stop, leg.ended_by) for leg in run.history.legs]
    assert ended == [(62, "crash"), *[(62, "poison")] * 2, *[(182, "poison")] * 2, (240, "end of run")]
    figures = run.summary()
    assert (figures["poison_crashes"], figures["poison_acted"], figures["missing_views"]) == (4, 2, 16)


def test_what_is_trained_again_is_so_without_the_samples_in_quarantine():
    """Of 12 samples in batches of 8, samples 3 and 8 meet in step 1 first; step 0, which has 3 alone, is redone."""
    run = played(
        run={"steps": 6, "account": "identity"},
        data={"samples": 12, "shards": 1, "order": "sequential"},
        poison={"samples": [3, 8], "together": 2, "retries": 0, "act": "quarantine"},
    )
    assert [(leg.start, leg.stop) for leg in run.history.legs] == [(0, 1), (0, 6)]
    assert run.counts.seen.tolist() == [4, 4, 4, 0, 4, 4, 4, 4, 0, 4, 4, 4]


def test_a_share_of_a_large_corpus():
    data = {"samples": "10 B", "shards": 1000}
    parts = {"run": {"steps": 2_000_000}, "model": {"global_batch": 4096, "step_time": "1 s"}, "data": data}
    run = simulate(load_scenario({**JOB, **parts, "poison": {"share": 1e-9}}))
    hunted = hunt_of(run.scenario, 0, 0)
    assert run.summary()["missing_views"] == 4096 * len(hunted.acted_at) > 0
    assert run.summary()["interruptions"] == 4 * len(hunted.acted_at)
    assert 4 < len(hunted.acted_at) < 16  # of ten, in 82 % of the epoch


def test_draws_without_some_positions_are_cut_where_they_lie():
    whole = Draws(*(np.array([value], dtype=np.int64) for value in (0, 1, 3, 0, 10, 5, 2, 4)))
    cut = without(whole, 10, [(15, 16), (28, 33)])
    read = {
        (int(cut.epoch[row]) + more, int(offset))
        for row in range(len(cut))
        for more in range(int(cut.epochs[row]))
        for offset in cut.offsets(row)
    }
    gone = {(1, 5), (2, 8), (2, 9), (3, 0), (3, 1), (3, 2)}
    assert read == {(epoch, offset) for epoch in (1, 2, 3) for offset in range(10)} - gone
    for row in range(len(cut)):
        place = 10 * int(cut.epoch[row]) + int(cut.start[row]) - 10
        assert int(cut.step[row]) * 4 + int(cut.lead[row]) == 5 * 4 + 2 + place
    assert without(whole, 10, [(0, 10), (40, 45)]).views() == 30


def test_poison_moves_time_so_loaders_share_no_history():
    poison = {"samples": [3]}
    orders = ({**JOB["data"], "order": order} for order in ("shuffle", "sequential"))
    assert groups([load_scenario({**JOB, "data": data, "poison": poison}) for data in orders], None) == [[0], [1]]


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"poison": {}}, "poison.samples: expected either samples or share, found neither"),
        ({"poison": {"samples": [960]}}, "poison.samples.0: expected a sample from 0 to 959, found 960"),
        ({"poison": {"share": 1e-9}}, "poison.share: expected a share of 1 to 1000 of 960 samples, found 9.6e-07"),
        ({"poison": {"samples": []}}, "poison.samples: expected at least 1, as so many in a batch crash it, found 0"),
        ({"poison": {"samples": [0, 7, 0], "together": 2}}, "poison.samples: expected each sample once, found 0 again"),
        ({"poison": {"samples": [1, 2], "together": 3}}, "poison.samples: expected at least 3, .*, found 2"),
        (
            {
                "poison": {"samples": [3]},
                "loader": {"saves": "samples", "comes_back": "exact", "epoch_edge": "finished"},
            },
            'loader.epoch_edge: expected "new" or "old" with .poison., so that it is known .*, found "finished"',
        ),
        (
            {"poison": {"share": 0.002, "together": 3}},
            "poison.share: expected a share of 3 to 1000 of 960 samples, found 1.92",
        ),
        (
            {"poison": {"samples": [1], "together": 2, "act": "bisect"}},
            'poison.act: expected "skip-batch" or "quarantine" with together > 1, as halves part them, found "bisect"',
        ),
        (
            {"poison": {"samples": [1]}, "loader": {"preset": "epoch"}},
            'loader.comes_back: expected "exact" or "reshuffle" or "remainder" with .poison., .*found "restart-epoch"',
        ),
        (
            {"poison": {"samples": [1]}, "failures": [{"cause": "poison", "at_steps": [3]}]},
            'failures.0.cause: expected another name beside .poison., whose crashes have this one, found "poison"',
        ),
        (
            {"poison": {"samples": [1]}, "loader": {"preset": "torchdata-map"}},
            'loader.partition: expected "global" with .poison.',
        ),
    ],
)
def test_what_is_wrong_is_one_line(parts, told):
    with pytest.raises(ScenarioError, match=told):
        load_scenario({**JOB, **parts})
