"""What a restart costs, rule by rule, over a grid of sizes at which the closed form is valid."""

import pytest
from rules import positions

RULES = [*positions.RULES]


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.name) for rule in RULES])
def test_a_rule_holds(rule):
    assert len(rule.points) >= 500
    rule.check(rule.points)
