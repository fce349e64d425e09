"""Runs that read several corpora: each has its share of every batch, its own epochs, and its own damage."""

import numpy as np
import pandas as pd
import pytest

from clustersim import ScenarioError, load_scenario, order_for, planned_batch, simulate
from clustersim.study.result import Result
from clustersim.study.store import Store

CORPORA = [
    {"name": "web", "samples": 900, "weight": 7, "shards": 9},
    {"name": "code", "samples": 120, "weight": 2, "shards": 4},
    {"name": "books", "samples": 40, "weight": 1},
]
FIRST = {"web": 0, "code": 900, "books": 1020}


def scenario(loader="restore", crashes=(), order="shuffle", **changes):
    return load_scenario(
        {
            "name": "mixture",
            "run": {"steps": 60},
            "model": {"global_batch": 24, "step_time": "1 s"},
            "cluster": {"nodes": 4, "gpus_per_node": 1},
            "failures": [{"cause": "crash", "at_steps": list(crashes)}] if crashes else [],
            "checkpoint": {"every": "5 steps"},
            "data": {"order": order, "corpora": CORPORA},
            "loader": {"preset": loader} if isinstance(loader, str) else loader,
        },
        {key.replace("__", "."): value for key, value in changes.items()},
    )


@pytest.mark.parametrize("account", ["identity", "interval"])
@pytest.mark.parametrize("order", ["shuffle", "shard-shuffle"])
def test_a_sound_loader_reads_each_corpus_through_as_often_as_its_share_says(account, order):
    run = simulate(scenario(crashes=(7, 13, 44), order=order, run__account=account))
    figures = run.summary()
    assert (figures["extra_views"], figures["missing_views"], figures["identical_steps_share"]) == (0, 0, 1)
    # Of 1,440 samples 70, 20 and 10 %: 1.12 epochs of the web, 2.4 of the code, 3.6 of the books.
    assert run.by_corpus["corpus"].tolist() == list(FIRST)
    assert run.by_corpus["views"].tolist() == run.by_corpus["planned_views"].tolist() == [1008, 288, 144]
    rows = run.ledger.set_index(["corpus", "planned", "seen"])["samples"].to_dict()
    assert rows == {
        ("web", 1, 1): 792,
        ("web", 2, 2): 108,
        ("code", 2, 2): 72,
        ("code", 3, 3): 48,
        ("books", 3, 3): 16,
        ("books", 4, 4): 24,
    }
    if order == "shard-shuffle":
        assert run.shards.groupby("corpus", sort=False)["shard"].count().to_dict() == {"web": 9, "code": 4, "books": 1}
        assert run.shards["views"].sum() == 1440
    for step in (0, 7, 8, 59):
        np.testing.assert_array_equal(run.batch(step), planned_batch(run.scenario, step))
        of_corpus = np.searchsorted([900, 1020], run.batch(step), side="right")
        assert abs(np.bincount(of_corpus, minlength=3) - 24 * np.array([0.7, 0.2, 0.1])).max() < 2


def test_damage_is_that_of_each_corpus_and_the_rows_of_a_restart_sum_to_it():
    """From step 45 back to 40: 960 samples into the run, 672 of the web, 192 of the code, 96 of the books."""
    run = simulate(scenario("epoch", crashes=(43,)))
    by_corpus, total = run.damage_by_corpus, run.damage
    assert total["lineage_views"].tolist() == [1440]
    assert by_corpus["extra_views"].sum() == total["extra_views"].iloc[0] == run.account.extra
    assert by_corpus["missing_views"].sum() == total["missing_views"].iloc[0] == run.account.missing
    # The web is read from its start again for 336 of its 900 samples; so each corpus, from its epoch's start.
    seen = run.counts.seen
    for number, (name, again, epoch, read) in enumerate(
        [("web", 672, 0, 336), ("code", 72, 1, 96), ("books", 16, 2, 48)]
    ):
        size, corpus = CORPORA[number]["samples"], run.corpora[number]
        views = np.full(size, epoch)
        views[corpus.loader.spaces.samples_at(0, epoch, np.arange(again))] += 1
        for position in range(read):
            views[corpus.loader.spaces.samples_at(0, epoch + position // size, np.array([position % size]))] += 1
        np.testing.assert_array_equal(seen[FIRST[name] : FIRST[name] + size], views)
        assert run.summary()[f"extra_views.{name}"] == by_corpus.set_index("corpus")["extra_views"][name]


@pytest.mark.parametrize("loader", ["restore", "epoch", "reshuffle", "no-rewind", "restart-run", "unseen-remainder"])
def test_what_holds_for_every_loader(loader):
    run = simulate(scenario(loader, crashes=(7, 13, 44)))
    figures, batches = run.summary(), [run.batch(step).tolist() for step in range(60)]
    assert np.sort(np.concatenate(batches)).tolist() == np.repeat(np.arange(1060), run.counts.seen).tolist()
    assert figures["lineage_views"] == 1440
    assert figures["extra_views"] == sum(figures[f"extra_views.{name}"] for name in FIRST)
    assert figures["never_seen_samples"] == run.by_corpus["never"].sum()
    planned = [sorted(planned_batch(run.scenario, step).tolist()) for step in range(60)]
    assert figures["identical_steps_share"] == sum(sorted(a) == b for a, b in zip(batches, planned, strict=True)) / 60
    for sample in (3, 950, 1059):
        kept = run.sample(sample).query("fate == 'kept'")["step"].tolist()
        assert kept == [step for step, batch in enumerate(batches) for each in batch if each == sample]


@pytest.mark.parametrize(
    ("loader", "order"),
    [
        ("torchdata-map", "shuffle"),
        ("torch-distributed-skip", "shuffle"),
        ("megatron-cyclic", "shuffle"),
        ("transformers-trainer", "shuffle"),
        ("datasets-3.6", "shard-shuffle"),
        ("datasets-3.6-buffer", "shard-shuffle"),
        ("dlrover-shard-queue", "shard-shuffle"),
        ("litdata-0.2.76", "nested-shuffle"),
        ("webdataset-resampled", "with-replacement"),
    ],
)
def test_a_loader_that_counts_batches_takes_the_same_share_of_each(loader, order):
    """28, 8 and 4 of every 40; with 4 ranks 7, 2 and 1 each."""
    corpora = [{**corpus, "shards": 8} for corpus in CORPORA]
    changes = {"data__corpora": corpora, "model__global_batch": 40}
    run = simulate(scenario(loader, crashes=(7, 13, 44), order=order, **changes))
    batches = [run.batch(step) for step in range(60)]
    assert [len(each) for each in (run.batch(0, 0), run.batch(0, 3))] == [10, 10]
    np.testing.assert_array_equal(np.bincount(np.searchsorted([900, 1020], batches[0], side="right")), [28, 8, 4])
    assert np.sort(np.concatenate(batches)).tolist() == np.repeat(np.arange(1060), run.counts.seen).tolist()
    planned = [sorted(planned_batch(run.scenario, step).tolist()) for step in range(60)]
    alike = sum(sorted(a.tolist()) == b for a, b in zip(batches, planned, strict=True))
    assert run.identical_steps == alike
    assert run.loader.steps_as_planned(run.reads.kept, 60) <= alike
    figures = run.summary()
    assert figures["extra_views"] - figures["missing_views"] == run.account.views - run.account.planned_views
    assert (
        figures["extra_views"]
        == run.damage["extra_views"].iloc[-1]
        == run.damage_by_corpus.query("restart == 3")["extra_views"].sum()
    )


@pytest.mark.parametrize(
    ("loader", "order"),
    [("datasets-3.6", "shard-shuffle"), ("epoch", "shard-shuffle"), ("no-rewind", "sequential")],
)
def test_where_shards_are_read_both_accounts_count_the_same(loader, order):
    changes = {"data__corpora": [{**corpus, "shards": 8} for corpus in CORPORA], "model__global_batch": 40}
    shrinks = [{"cause": "loss", "at_steps": [17, 44], "data": [3, 4]}]
    one, other = (
        simulate(scenario(loader, order=order, failures=shrinks, run__account=account, **changes))
        for account in ("identity", "interval")
    )
    assert (one.exact, other.exact, one.by_identity, other.by_identity) == ("identity", "identity", True, False)
    for table in ("by_corpus", "shards", "ledger", "damage_by_corpus", "damage"):
        pd.testing.assert_frame_equal(getattr(one, table), getattr(other, table))
    assert one.account.extra > 0


def test_the_ideal_of_each_corpus_is_its_share_of_all_steps():
    """50 samples of books in batches of 4: the last batch of an epoch is short of two."""
    corpora = [*CORPORA[:2], {**CORPORA[2], "samples": 50}]
    loader = {"last_batch": "short", "saves": "samples", "comes_back": "exact"}
    run = simulate(scenario(loader, data__corpora=corpora, model__global_batch=40, run={"steps": 13}))
    assert run.by_corpus["views"].tolist() == [13 * 28, 13 * 8, 50]
    ideal = run.account_ideal.by_cell()
    assert (ideal.planned_views.tolist(), ideal.missing.tolist()) == ([364, 104, 52], [0, 0, 2])
    assert run.account.missing == run.account.extra == 0


def test_intervals_have_the_law_of_the_count_of_each_sample():
    """Reshuffled: the mean damage of each corpus is the same, counted either way."""
    found = {
        account: [simulate(scenario("reshuffle", (13, 44), run__account=account), seed=seed) for seed in range(60)]
        for account in ("identity", "interval")
    }
    assert {run.exact for run in found["interval"]} == {"distribution"}
    for name in FIRST:
        one, other = (np.array([run.summary()[f"extra_views.{name}"] for run in runs]) for runs in found.values())
        error = np.sqrt((one.var(ddof=1) + other.var(ddof=1)) / 60)
        assert abs(one.mean() - other.mean()) < 4 * error
        assert one.mean() > 4


def test_an_order_is_the_corpus_s_own():
    """Another corpus beside it, or another weight, changes nothing; two of the same size are shuffled differently."""
    alone = simulate(scenario()).corpora[1].loader.spaces.samples_at(0, 0, np.arange(120))
    others = [*CORPORA[1:], {"name": "twin", "samples": 120, "weight": 4}]
    code, _, twin = (each.loader.spaces for each in simulate(scenario(data__corpora=others)).corpora)
    np.testing.assert_array_equal(code.samples_at(0, 0, np.arange(120)), alone)
    assert (twin.samples_at(0, 0, np.arange(120)) != alone).mean() > 0.9
    with pytest.raises(ValueError, match="3 corpora have as many orders"):
        order_for(scenario(), 0)


def test_a_ramp_and_a_mixture_go_together():
    ramp = [{"global_batch": 8, "until_samples": 100}]
    run = simulate(scenario("reshuffle", (7, 20), model__batch_ramp=ramp, run={"samples": 900}))
    assert run.steps == 13 + -(-(900 - 104) // 24)
    assert run.by_corpus["views"].sum() == 104 + 24 * (run.steps - 13)
    assert abs(run.by_corpus["views"] - np.array([0.7, 0.2, 0.1]) * run.by_corpus["views"].sum()).max() < 1


@pytest.mark.parametrize("loader", ["restore", {"saves": "steps", "comes_back": "exact"}])
@pytest.mark.parametrize("account", ["identity", "interval"])
def test_each_corpus_passes_over_its_turns_among_the_positions_that_are_skipped(loader, account):
    """The stream without them is that of the run that skips nothing, before and after a restart."""
    skip = [[240, 289], [700, 705], [1012, 1013]]
    stream = np.concatenate([planned_batch(scenario(run={"steps": 63}), step) for step in range(63)])
    stream = np.delete(stream, np.r_[240:289, 700:705, 1012])[:1440]
    run = simulate(scenario(loader, (7, 13, 44), data__skip=skip, run__account=account))
    assert np.concatenate([run.batch(step) for step in range(60)]).tolist() == stream.tolist()
    np.testing.assert_array_equal(run.counts.seen, np.bincount(stream, minlength=1060))
    figures = run.summary()
    assert (figures["extra_views"], figures["missing_views"], figures["identical_steps_share"]) == (0, 0, 1)
    assert (figures["extra_views_ideal"], figures["missing_views_ideal"]) == (0, 0)
    assert run.by_corpus["views"].sum() == 1440


def test_what_is_skipped_is_no_part_of_the_epochs_that_end_a_mixture():
    """96 positions, of which 9 or 10 are turns of the 40 books, are 4 steps less."""
    run = simulate(scenario(crashes=(7,), run={"epochs": 1}, data__skip=[[100, 196]]))
    assert run.steps == run.scenario.sizes.steps == scenario(run={"epochs": 1}).sizes.steps - 4
    assert run.by_corpus.loc[2, "views"] <= 31


@pytest.mark.parametrize(
    ("run", "number"),
    # The web is read through within 1,286 samples of the mixture, the code within 600, the books within 400.
    [
        ({"epochs": 1, "epochs_of": "web"}, 0),
        ({"epochs": 3, "epochs_of": "code"}, 1),
        ({"epochs": 1}, 2),
        ({"epochs": 3}, 2),
    ],
)
@pytest.mark.parametrize("crashes", [(), (7, 13)])
def test_a_mixture_ends_with_the_epochs_of_a_corpus(run, number, crashes):
    """Of one, or of whichever is at their end first; with the last batch that needs no sample of the next epoch."""
    made = simulate(scenario(crashes=crashes, run=run))
    assert made.steps == made.planned_steps == made.scenario.sizes.steps
    longer = simulate(scenario(run={"steps": made.steps + 1}))
    end = run["epochs"] * CORPORA[number]["samples"]
    assert made.by_corpus.loc[number, "views"] <= end < longer.by_corpus.loc[number, "views"]
    assert (made.account.extra, made.account.missing) == (0, 0)
    assert made.account_ideal.missing == made.account_ideal.extra == 0


def test_what_a_corpus_reads_again_lengthens_a_mixture_that_ends_by_its_epochs():
    """Step 10 of 24 samples: 168, 48 and 24 are read again, and the web has them once more before it is at its end."""
    run = simulate(scenario("epoch", crashes=(13,), run={"epochs": 1, "epochs_of": "web"}))
    assert run.steps == (900 + 168) // 0.7 // 24
    web = run.counts.seen[:900]
    again = run.corpora[0].loader.spaces.samples_at(0, 0, np.arange(168))
    assert web[again].tolist() == [2] * 168
    assert web.sum() == run.by_corpus.loc[0, "views"] > 900 + 168 - 24
    assert run.planned_steps == 900 / 0.7 // 24 < run.steps


def test_loaders_that_count_batches_end_a_mixture_likewise():
    changes = {"model__global_batch": 40, "run": {"epochs": 2, "epochs_of": "code"}}
    run = simulate(scenario("torchdata-map", crashes=(7, 13), **changes))
    assert run.steps == 2 * 120 // 8 == run.scenario.sizes.steps
    assert run.by_corpus["views"].tolist() == [30 * 28, 240, 30 * 4]
    assert run.account.extra == run.account.missing == 0


def test_what_a_mixture_leaves_is_read_back(tmp_path):
    made = scenario("epoch", (13, 44))
    result, store = Result(made, 0), Store(tmp_path / "out", {"scenario": made.resolved(), "seed": 0})
    for replication in range(2):
        run = simulate(made, replication)
        store.add(run)
        result.add(run)
    ledger = pd.read_parquet(tmp_path / "out" / "ledger")
    assert ledger.groupby("corpus")["samples"].sum().to_dict() == {"web": 1800, "code": 240, "books": 80}
    assert sum(row["samples"] for row in result.ledger) == 1060


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data__corpora": CORPORA[:1]}, "data.corpora: expected 2 to 100 corpora, found 1"),
        (
            {"data__corpora.1.name": "web"},
            'data.corpora.1.name: expected a name that no other corpus has, found "web"',
        ),
        (
            {"data__corpora.2.shards": 41},
            "data.corpora.2.shards: expected at most 40, the samples of the corpus, found 41",
        ),
        ({"data__corpora.2.weight": 0}, "data.corpora.2.weight: expected a whole number, at least 1, found 0"),
        (
            {"data__corpora.2.weight": 9999},
            "data.corpora: expected weights of at most 10000 together, in lowest terms: hundredths of a percent, "
            "found 10008",
        ),
        ({"data__shards": 5}, "data.shards: expected the shards of each corpus beside data.corpora, found 5"),
        (
            {"data__samples": 5},
            "data.samples: expected exactly one of documents, document_lengths, samples, windows and corpora, "
            "found more than one",
        ),
        (
            {"run": {"epochs": 2, "epochs_of": "weeb"}},
            'run.epochs_of: expected the name of one of data.corpora, found "weeb"; did you mean "web"?',
        ),
        ({"run": {"steps": 2, "epochs_of": "web"}}, "run.epochs_of: expected epochs beside it, found none"),
        (
            {"run": {"epochs": 10**18}},
            "run.epochs: expected epochs of fewer than 4.61e+17 samples, found 1000000000000000000",
        ),
        (
            {"loader__preset": "torchdata-map"},
            "model.global_batch: expected a batch that the weights of data.corpora divide, with a loader whose batches "
            "do not span epochs, found 24",
        ),
        (
            {"loader__preset": "torchdata-map", "model__global_batch": 30},
            "data.corpora.2.weight: expected a share of at least 4 samples of a batch, for 4 ranks, with batches that "
            "do not span epochs, found 3",
        ),
        (
            {"loader__preset": "datasets-3.6", "model__global_batch": 40, "data__order": "shard-shuffle"},
            "data.corpora.2.shards: expected at least 4 shards, one for each of 4 ranks x 1 workers, found 1",
        ),
        (
            {"loader__preset": "torchdata-map", "model__global_batch": 800},
            "data.corpora.1.samples: expected at least 160 samples, the corpus's share of a batch that does not span "
            "epochs, found 120",
        ),
        (
            {"poison": {"samples": [3]}},
            "poison: expected no poison with data.corpora, as it is looked for in one sequence of batches of one size, "
            "found both",
        ),
    ],
)
def test_what_does_not_go_with_a_mixture_is_said_in_one_line(changes, message):
    with pytest.raises(ScenarioError) as error:
        scenario(**changes)
    assert message in str(error.value)
