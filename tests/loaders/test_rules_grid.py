"""What a restart costs, rule by rule, over a grid of sizes at which the closed form is valid."""

from collections import Counter

import pytest
from rules import epochs, miscounts, positions

RULES = [*positions.RULES, *miscounts.RULES, *epochs.RULES]


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.name) for rule in RULES])
def test_a_rule_holds(rule):
    rule.check(rule.points)


def test_each_rule_is_asked_at_500_points():
    asked = Counter()
    for rule in RULES:
        asked[rule.name.split()[0]] += len(set(rule.points))
    assert min(asked.values()) >= 500, asked
