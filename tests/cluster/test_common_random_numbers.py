"""A draw belongs to what it is about: what does not concern the failures leaves them where they were."""

import numpy as np
import pytest
from scipy import stats

from clustersim import load_scenario, simulate
from clustersim.cluster.compile import causes_of
from clustersim.cluster.lifetimes import Lifetimes
from clustersim.streams import Hashed, generator, lowest, mix_array


def failures(run, until_h=None):
    events = run.events[run.events["kind"] == "failure"]
    events = events if until_h is None else events[events["time_h"] < until_h]
    return events[["time_h", "cause", "node"]].to_csv(index=False)


def small(**changes):
    return load_scenario("small", {key.replace("__", "."): value for key, value in changes.items()})


@pytest.mark.parametrize(
    "changes",
    [
        {"checkpoint__every": "3 min"},
        {"checkpoint__stall": "30 s"},
        {"loader__preset": "epoch"},
        {"recovery__start_up": "20 min"},
        {"recovery__policy": "shrink"},
    ],
)
def test_wall_time_failures_stay_where_they_were(changes):
    base, other = simulate(small()), simulate(small(**changes))
    until = min(base.history.wall_ns, other.history.wall_ns) / 3.6e12
    assert base.summary()["failures"] > 5
    assert failures(base, until) == failures(other, until)


@pytest.mark.parametrize("ages", ["in_job", "training"])
def test_lives_in_the_job_stay_the_same(ages):
    """Times move with the recovery, lives (cause, node, k) do not: a node fails at the age that its first life has."""
    keys = {"cause": "wear", "rate": "0.2 per node-day", "law": {"type": "weibull", "shape": 1.5}, "ages": ages}
    runs = [simulate(small(failures=[keys], recovery__start_up=start_up)) for start_up in ("1 min", "5 h")]
    for run in runs:
        causes = causes_of(run.scenario, 0, 0)
        lifetimes, cause = Lifetimes(run.seed, 0), causes[0]
        failed = run.events[run.events["kind"] == "failure"].drop_duplicates("node")
        for node, time_h in zip(failed["node"], failed["time_h"], strict=True):
            trained = (run.legs["end_h"].clip(upper=time_h) - run.legs["begin_h"]).clip(lower=0).sum()
            age = trained if ages == "training" else time_h
            assert age == pytest.approx(lifetimes.life(cause, int(node), 0) / 3.6e12)
        assert len(failed) > 5
    assert (failures(runs[0]) != failures(runs[1])) == (ages == "training")


def test_a_replication_alone_is_the_same_as_among_others():
    scenario = small()
    alone = simulate(scenario, 17)
    among = [simulate(scenario, replication) for replication in range(20)][17]
    assert alone.summary() == among.summary()
    assert alone.history == among.history
    assert simulate(scenario, 16).history != alone.history


def test_numpy_integers_name_the_same_streams():
    assert simulate(small(), np.int64(3)).history == simulate(small(), 3).history
    assert simulate(small(), 0, np.uint32(7)).history == simulate(small(), 0, 7).history
    with pytest.raises(TypeError):
        simulate(small(), 1.5)


def test_a_cause_keeps_its_failures_whatever_other_causes_there_are():
    scenario = small()
    rare = {"cause": "another", "rate": "0 per node-day"}
    more = load_scenario(scenario, {"failures": [rare, *scenario.resolved()["failures"]]})
    assert failures(simulate(more)) == failures(simulate(scenario))


def test_seeds_and_replications_do_not_shift_each_other():
    """The lives of (seed 1, replication 0) appear nowhere in (seed 0, replication 1), at any node or life."""
    here = Hashed(0, 1, "life").uniforms(np.arange(10_000), 0)
    there = Hashed(1, 0, "life").uniforms(np.arange(10_000), 0)
    assert not np.isin(here, there).any()
    later = Hashed(0, 1, "life").uniforms(np.arange(10_000), 1)
    assert not np.isin(here, later).any()


def test_hashed_uniforms_are_uniform_and_the_same_one_by_one():
    stream = Hashed(3, 4, "life")
    many = stream.uniforms(np.arange(100_000), 7)
    assert [stream.uniform(node, 7) for node in (0, 5, 99_999)] == [many[0], many[5], many[99_999]]
    assert many.min() > 0
    assert many.max() < 1
    counts = np.bincount((many * 100).astype(int), minlength=100)
    chi_square = ((counts - 1000) ** 2 / 1000).sum()
    assert chi_square < 99 + 4 * np.sqrt(2 * 99)
    lag = np.corrcoef(many[:-1], many[1:])[0, 1]
    assert abs(lag) < 4 / np.sqrt(len(many))


def test_neighbours_draw_independently():
    """Neighbours in entity, in number, in both and in streams, in pairs on a grid of 64 x 64."""
    entities, numbers = np.arange(4096)[:, None], np.arange(129)[None, :]
    drawn, other, later = (
        (stream.words(entities, numbers) >> np.uint64(58)).astype(np.int64)
        for stream in (Hashed(3, 4, "life"), Hashed(3, 4, "lives"), Hashed(3, 5, "life"))
    )
    pairs = [(drawn, other), (drawn, later)]
    for i, j in ((0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (0, 64), (64, 0)):
        pairs.append((drawn[i:, j:], drawn[: 4096 - i, : 129 - j]))
    pairs.append((drawn[1:, :-1], drawn[:-1, 1:]))
    for one, two in pairs:
        counts = np.bincount((64 * one + two).ravel(), minlength=4096)
        assert stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("bit", range(12))
def test_each_bit_of_an_entity_or_a_number_moves_every_bit_of_a_draw(bit):
    rng = np.random.default_rng(bit)
    entities, numbers = rng.integers(0, 2**20, 20_000), rng.integers(0, 2**12, 20_000)
    stream = Hashed(3, 4, "life")
    words = stream.words(entities, numbers)
    for moved in (stream.words(entities ^ (1 << bit), numbers), stream.words(entities, numbers ^ (1 << bit))):
        bits = np.unpackbits((words ^ moved).view(np.uint8)).reshape(-1, 64).mean(axis=0)
        assert abs(bits - 0.5).max() < 4.5 * 0.5 / np.sqrt(20_000)


@pytest.mark.parametrize("share", [0.0, 1e-300, 2.0**-53, 1e-6, 0.0123, 0.5, 1 - 2.0**-53, 1.0])
@pytest.mark.parametrize("stop", [0, 1, 32, 20_005])
def test_the_lowest_draws_are_those_that_are_drawn_one_by_one(share, stop):
    stream = Hashed(3, 4, "life")
    _, found, uniforms = lowest([stream], [share], [stop])
    drawn = [stream.first(entity) for entity in range(stop)]
    assert found.tolist() == [entity for entity, uniform in enumerate(drawn) if uniform <= share]
    assert uniforms.tolist() == [drawn[entity] for entity in found]


def test_the_lowest_draws_of_several_streams_are_those_of_each():
    streams = [Hashed(3, 4, name) for name in "abcd"]
    shares, stops = [0.1, 1.0, 0.0, 0.5], [70, 33, 1000, 0]
    found = lowest(streams, shares, stops)
    alone = [lowest([stream], [share], [stop]) for stream, share, stop in zip(streams, shares, stops, strict=True)]
    assert found[0].tolist() == [of for of, (_, entities, _) in enumerate(alone) for _ in entities]
    assert found[1].tolist() == [entity for _, entities, _ in alone for entity in entities]
    assert found[2].tolist() == [uniform for _, _, uniforms in alone for uniform in uniforms]
    assert [len(column) for column in lowest([], [], [])] == [0, 0, 0]


@pytest.mark.parametrize("just", [-1, 0, 1])
def test_a_draw_is_among_the_lowest_up_to_itself(just):
    """The share that a draw is, and its neighbours among floating-point numbers."""
    stream = Hashed(3, 4, "life")
    _, _, uniforms = lowest([stream], [1.0], [200])
    for uniform in uniforms.tolist():
        share = np.nextafter(uniform, just) if just else uniform
        assert lowest([stream], [float(share)], [200])[1].tolist() == np.flatnonzero(uniforms <= share).tolist()


@pytest.mark.parametrize("of_block", [2.0**-53, 0.5 + 2.0**-53, 1 - 2.0**-53])
@pytest.mark.parametrize("of_others", [2.0**-53, 0.5 + 2.0**-53, 1 - 2.0**-53])
def test_draws_stay_inside_the_open_interval(of_block, of_others, monkeypatch):
    """Also where what they are made of is as near to 0 or 1 as a draw can be."""
    monkeypatch.setattr(Hashed, "uniform", lambda self, entity, number: of_others if number == 0 else of_block)
    assert all(0 < Hashed(3, 4, "life").first(entity) < 1 for entity in range(32))


def test_draws_made_for_the_lowest_are_uniform_and_independent():
    """All of them, the least and the greatest of each block, whose the least is, and the places beside each other."""
    _, _, uniforms = lowest([Hashed(3, 4, "life")], [1.0], [320_000])
    blocks = uniforms.reshape(-1, 32)
    for drawn, law in (
        (uniforms, lambda u: u),
        (blocks.min(axis=1), lambda u: 1 - (1 - u) ** 32),
        (blocks.max(axis=1), lambda u: u**32),
        (blocks[:, 3], lambda u: u),
    ):
        assert stats.kstest(drawn, law).pvalue > 1e-3
    assert stats.chisquare(np.bincount(blocks.argmin(axis=1), minlength=32)).pvalue > 1e-3
    correlations = np.corrcoef(blocks.T)[np.triu_indices(32, 1)]
    assert abs(correlations).max() < 4.5 / np.sqrt(len(blocks))


def test_the_lowest_draws_come_as_often_together_as_others():
    """How many of a block's 32 are among the lowest 2 percent is binomial."""
    _, found, _ = lowest([Hashed(3, 4, "life")], [0.02], [3_200_000])
    together = np.bincount(np.bincount(found // 32, minlength=100_000).clip(max=5), minlength=6)
    law = stats.binom(32, 0.02)
    expected = 100_000 * np.array([*law.pmf(range(5)), law.sf(4)])
    assert stats.chisquare(together, expected).pvalue > 1e-3


@pytest.mark.parametrize("entity", [-1, 0, 31, 70_000])
def test_an_entity_draws_uniformly_over_the_replications(entity):
    drawn = [Hashed(0, replication, "life").first(entity) for replication in range(3000)]
    assert stats.kstest(drawn, lambda u: u).pvalue > 1e-3
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 3.5 / np.sqrt(3000)


def test_words_are_mixed_as_published():
    """The finaliser of SplitMix64 with Python's own integers."""

    def mixed(word):
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            word = (word ^ word >> shift) * factor % 2**64
        return word ^ word >> 31

    words = [0, 1, 2**63, 2**64 - 1]
    assert mix_array(np.array(words, dtype=np.uint64)).tolist() == [mixed(word) for word in words]


def test_generators_are_named():
    assert generator(0, 0, "a").random() == generator(0, 0, "a").random()
    assert generator(0, 0, "a", 1).random() != generator(0, 0, "a", "1").random()
