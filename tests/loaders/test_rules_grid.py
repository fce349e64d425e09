"""What a restart costs, rule by rule, over a grid of sizes at which the closed form is valid."""

import statistics
from collections import Counter
from dataclasses import replace

import pytest
from literal.agreement import off
from rules import RULES, buffers, shares
from rules.points import Point, by_interval, ledgers, play, play_by_interval


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.name) for rule in RULES])
def test_a_rule_holds(rule):
    rule.check(rule.points)


def counted_by_law():
    """The rules whose compositions are not counted sample by sample only."""
    return [rule for rule in RULES if ledgers(rule.points[0], rule.keys(rule.points[0])) is not None]


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.name) for rule in counted_by_law()])
def test_intervals_say_what_a_count_of_each_sample_says(rule):
    """To the sample, or in the mean where several permutations meet."""
    differences = []
    for counted, swept in (ledgers(point, rule.keys(point)) for point in rule.points[::10]):
        if swept.exact == "identity":
            assert [column.tolist() for column in swept.table] == [column.tolist() for column in counted.table]
        assert swept.extra - swept.missing == counted.extra - counted.missing
        differences.append(swept.extra - counted.extra)
    assert abs(off(differences)) < 4.5


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.name) for rule in (*shares.RULE_10, *shares.RULE_14)])
def test_what_is_queued_or_drawn_keeps_its_rule_by_intervals(rule):
    rule.check(rule.points, play_by_interval)


A_TRILLION = {"samples": 10**12, "shards": 20_000, "batch": 16_000, "epochs": 2, "ranks": (16, 16)}


def test_a_trillion_samples_wait_in_a_queue():
    """Each rank's shard of 50 M samples in progress is read again, and no other sample."""
    point = Point(**A_TRILLION, checkpoints=(62_512_345,), order="shard-shuffle")
    ledger = by_interval(point, shares.QUEUE)
    assert ledger.exact == "identity"
    assert (ledger.extra, ledger.missing) == shares.queue_again(point) == (16 * 12_345_000, 0)


def test_a_trillion_samples_are_drawn():
    """As many shards are never drawn, and drawn too often, as of samples that are a shard each."""
    alike = Point(20_000, 160, 2, (16, 16), (80,), shards=20_000)
    law = [moments(alike)[0] for moments in (shares.never_drawn, shares.drawn_too_often)]
    found = []
    for seed in range(30):
        point = Point(**A_TRILLION, checkpoints=(40_000_000,), order="with-replacement", seed=seed)
        ledger = by_interval(point, shares.DRAWS)
        assert ledger.exact == "identity"
        _, seen, samples = ledger.table
        assert samples.sum() == point.samples
        never, extra = samples[seen == 0].sum(), (samples * (seen - 2).clip(min=0)).sum()
        found.append((int(never) // 50_000_000, int(extra) // 50_000_000))
    for figure, mean in zip(zip(*found, strict=True), law, strict=True):
        assert abs(statistics.mean(figure) - mean) < 4 * statistics.stdev(figure) / 30**0.5


def test_each_of_the_17_rules_is_asked_at_500_points():
    asked = Counter()
    for rule in RULES:
        asked[int(rule.name.split()[0])] += len(set(rule.points))
    assert sorted(asked) == list(range(1, 18))
    assert min(asked.values()) >= 500, asked


def test_what_a_lost_buffer_held_crowds_where_it_had_pulled_to():
    """Configuration A, a buffer of 64, 4 to 3 ranks: 53 views were measured twice; spread evenly it would be 120."""
    point = Point(960, 24, 2, (4, 3), (20,), buffer=64, order="shard-shuffle", shards=24)
    out, again = buffers.views_of_the_epoch(point, saved=False)
    by_age = out[again].sum()
    assert abs(by_age - 52) < 5
    pulled = buffers.places(point, 4)[1] < 120 + 64
    assert (pulled & again).sum() * point.read / pulled.sum() == 120
    found = [play(replace(point, seed=seed), buffers.behind(buffers.LOST)(point)).damage(2)[0] for seed in range(200)]
    assert abs(statistics.mean(found) - by_age) < 4 * statistics.stdev(found) / 200**0.5
