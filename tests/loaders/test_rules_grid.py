"""What a restart costs, rule by rule, over a grid of sizes at which the closed form is valid."""

import statistics
from collections import Counter
from dataclasses import replace

import pytest
from literal.agreement import off
from rules import RULES, buffers
from rules.points import Point, ledgers, play


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
    for by_sample, by_interval in (ledgers(point, rule.keys(point)) for point in rule.points[::10]):
        if by_interval.exact == "identity":
            assert [column.tolist() for column in by_interval.table] == [column.tolist() for column in by_sample.table]
        assert by_interval.extra - by_interval.missing == by_sample.extra - by_sample.missing
        differences.append(by_interval.extra - by_sample.extra)
    assert abs(off(differences)) < 4.5


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
