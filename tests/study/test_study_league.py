"""The league of loaders: every preset over the same failures, in an order that fits, the least damage first."""

import pytest

from clustersim import Scenario, ScenarioError, load_scenario, simulate
from clustersim.scenario import presets
from clustersim.study.league import FIGURES, entries, league, needed_orders, on_degree


@pytest.fixture(scope="module")
def workshop():
    return league("workshop", None, 3, workers=1).table.set_index("preset")


def test_it_has_a_row_for_every_preset(workshop):
    assert sorted(workshop.index) == sorted(presets())


def test_no_preset_is_left_out(workshop):
    assert (workshop["refused"] == "").all()
    assert workshop.drop(columns="resume_s").notna().all(axis=None)


@pytest.mark.parametrize("scenario", ["small", "workshop"])
def test_each_preset_fits_what_is_shipped(scenario):
    assert [name for name, entry in entries(scenario).items() if not isinstance(entry, Scenario)] == []


def test_readers_that_are_more_than_the_shards_are_given_one_each(workshop):
    """4 ranks over one shard; what reads by sample is left its own."""
    assert workshop.loc["datasets-3.6", ["order", "shards_given"]].tolist() == ["shard-shuffle", 4]
    assert workshop.loc[["restore", "grain-sliced", "tf-data"], "shards_given"].tolist() == [0, 0, 0]
    few = load_scenario("workshop", {"data.shards": 3})
    assert [entries(few)[name].data.shards for name in ("restore", "datasets-3.6")] == [3, 4]
    many = load_scenario("workshop", {"data.shards": 24})
    assert (league(many, ["datasets-3.6"], 1, workers=1).table["shards_given"] == 0).all()


def test_its_figures_are_those_of_runs_alone(workshop):
    for name in ("epoch", "reshuffle", "energon"):
        scenario = load_scenario("workshop", {"loader.preset": name})
        alone = [simulate(scenario, replication).summary() for replication in range(3)]
        for figure in FIGURES:
            assert workshop.loc[name, figure] == pytest.approx(sum(run[figure] for run in alone) / 3)


def test_the_workshops_published_row(workshop):
    assert workshop.loc["epoch", ["extra_views", "missing_views"]].tolist() == [80, 80]
    assert workshop.loc["epoch", "identical_steps_share"] == pytest.approx(40 / 60)
    assert workshop.loc["epoch", "extra_views_per_failure"] == 80


def test_the_least_damage_comes_first_and_the_plain_ones_among_equals(workshop):
    ran = workshop[workshop["refused"] == ""]
    damage = ran["extra_views"] + ran["missing_views"]
    assert damage.is_monotonic_increasing
    assert list(ran.index[:2]) == ["restore", "unseen-remainder"]
    assert ran.index.get_loc("epoch") < ran.index.get_loc("accelerate-no-skip")
    assert (workshop["refused"].iloc[len(ran) :] != "").all()


def test_a_preset_that_the_scenario_does_not_allow_says_why():
    skipping = load_scenario("workshop", {"data.skip": [[80, 88]]})
    row = league(skipping, ["restore", "datasets-3.6"], 1, workers=1).table.set_index("preset").loc["datasets-3.6"]
    assert row["refused"].startswith('workshop.toml: loader: expected last_batch = "span"')
    assert (row["replications"], row["order"], row["shards_given"]) == (0, "", 0)


def test_a_preset_is_run_in_an_order_that_it_needs():
    scenario = load_scenario("workshop", {"data.shards": 24, "data.order": "sequential"})
    names = ["restore", "datasets-3.6", "datasets-5.2", "reshuffle", "webdataset-resampled"]
    orders = league(scenario, names, 1, workers=1).table.set_index("preset")["order"]
    assert orders.to_dict() == {
        "restore": "sequential",
        "datasets-3.6": "sequential",
        "datasets-5.2": "shard-shuffle",
        "reshuffle": "shuffle",
        "webdataset-resampled": "with-replacement",
    }


def test_a_shuffled_scenario_stays_shuffled_where_the_preset_can():
    scenario = load_scenario("workshop", {"data.shards": 24})
    table = league(scenario, ["datasets-3.6"], 1, workers=1).table
    assert table["order"].tolist() == ["shard-shuffle"]


def test_coming_back_takes_the_time_that_the_clock_gave_it():
    """A counter of steps reads the epoch again up to its step; a saved position is there at once."""
    fed = load_scenario("images", {"run": {"steps": 20_000}, "failures": [{"cause": "crash", "at_steps": [19_000]}]})
    resume_s = league(fed, ["restore", "torch-distributed-skip"], 1, workers=1).table.set_index("preset")["resume_s"]
    assert 0 < resume_s["restore"] < 1
    again = simulate(load_scenario(fed, {"loader": {"preset": "torch-distributed-skip"}}))
    assert resume_s["torch-distributed-skip"] == pytest.approx(3600 * again.time_h["loader_resume"])
    assert resume_s["torch-distributed-skip"] > 1000
    assert league("workshop", ["epoch"], 1, workers=1).table["resume_s"].isna().all()


def test_parts_of_the_scenarios_own_loader_are_left_out():
    scenario = load_scenario("workshop", {"loader.preset": "epoch", "loader.comes_back": "next-epoch"})
    assert league(scenario, ["epoch"], 1, workers=1).table.loc[0, "extra_views"] == 80


def test_a_corpus_that_is_too_large_to_count_one_by_one():
    row = league("llama3-405b", ["litdata-0.2.76", "restore"], 1, workers=1).table.set_index("preset").loc
    assert row["restore", "refused"] == ""
    assert "at most 10 M samples" in row["litdata-0.2.76", "refused"]


def test_a_wrong_name_or_a_scenario_that_allows_none_is_refused():
    with pytest.raises(ScenarioError, match='found "epoc"; did you mean "epoch"'):
        league("workshop", ["epoc"], 1, workers=1)
    with pytest.raises(ScenarioError, match="at most 10 M samples"):
        league("llama3-405b", ["litdata-0.2.76"], 1, workers=1)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("restore", ["exact", "exact"]),
        ("unseen-remainder", ["complete", "complete"]),
        ("epoch", ["repeats", "repeats"]),
        ("no-rewind", ["loses", "loses"]),
        ("datasets-3.6", ["repeats", "loses"]),
        ("grain-sliced", ["repeats, loses", "repeats, loses"]),
        ("energon", ["refuses", "refuses"]),
        ("litdata-0.2.76", ["complete", "refuses"]),
    ],
)
def test_on_other_ranks(name, found):
    assert [on_degree(name, 4, 3), on_degree(name, 2, 4)] == found


def test_the_orders_that_texts_name():
    assert needed_orders("restore") == []
    assert needed_orders("litdata-0.2.50") == ["nested-shuffle", "shard-shuffle", "sequential"]
    assert needed_orders("megatron-cyclic-sharded") == ["shuffle", "shuffle-once"]
