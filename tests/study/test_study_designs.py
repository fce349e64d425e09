"""Designs: which points a sweep has, units included."""

import numpy as np
import pytest

from clustersim import latin_hypercube, load_scenario, saltelli, sobol, zipped
from clustersim.study.designs import design_of
from clustersim.study.ranges import Range

TWO = {"checkpoint.every": ("2 min", "1 h"), "cluster.spares": (0, 3)}


def test_a_grid_is_every_combination_and_its_last_key_varies_fastest():
    design = design_of({"a": [1, 2], "b": ["x", "y"]})
    assert [tuple(point.values()) for point in design.points] == [(1, "x"), (1, "y"), (2, "x"), (2, "y")]


def test_zipped_lists_go_together():
    assert [dict(point) for point in zipped({"a": [1, 2], "b": [3, 4]}).points] == [{"a": 1, "b": 3}, {"a": 2, "b": 4}]
    with pytest.raises(ValueError, match="b: expected 2 values, as many as of a, found 3"):
        zipped({"a": [1, 2], "b": [3, 4, 5]})


@pytest.mark.parametrize(
    ("vary", "line"),
    [
        ([], "expected at least one point, found none"),
        ({"a": []}, "a: expected a list of at least one value, found an empty one"),
        ({"a": "5 min"}, "a: expected a list of values, found '5 min'"),
        ([{"a": 1}, {"b": 1}], r"expected the keys of the first point \(a\) in point 1, found b"),
    ],
)
def test_what_is_no_design_is_refused(vary, line):
    with pytest.raises(ValueError, match=line):
        design_of(vary)


@pytest.mark.parametrize(
    ("low", "high", "place", "value"),
    [
        ("2 min", "4 min", 0.25, "2.5 min"),
        ("30 min", "1 h", 0.5, "45.0 min"),
        ("10 steps", "13 steps", 0.0, "10 steps"),
        ("10 steps", "13 steps", 0.999, "13 steps"),
        ("1 GB/s", "500 GB/s", 1.0, "500.0 GB/s"),
        ("50 per 1000 node-days", "60 per 1000 node-days", 0.5, "55.0 per 1000 node-days"),
        ("1 k", "2 k", 1 / 3, "1.333 k"),
        (0, 3, 0.25, 1),
        (0.0, 3.0, 0.25, 0.75),
    ],
)
def test_ranges_keep_the_unit_of_their_first_end(low, high, place, value):
    assert Range.between("key", low, high).at(place) == value


@pytest.mark.parametrize(
    ("low", "high", "line"),
    [
        ("2 min", "5 GB", 'key: expected a range in one unit, found "2 min" and "5 GB"'),
        ("2 min", "1 min", 'key: expected a range that ends above "2 min", found "1 min"'),
        ("daly", "1 min", 'key: expected a range between two numbers, found "daly" and "1 min"'),
    ],
)
def test_what_is_no_range_is_refused(low, high, line):
    with pytest.raises(ValueError, match=line):
        Range.between("key", low, high)


def test_a_latin_hypercube_has_one_point_in_each_part_of_every_range():
    design = latin_hypercube(TWO, 20, seed=3)
    places = np.array(design.places)
    for column in places.T:
        assert sorted((column * 20).astype(int)) == list(range(20))
    assert {point["cluster.spares"] for point in design.points} == {0, 1, 2, 3}
    for point in design.points:
        load_scenario("small", point)
    assert design == latin_hypercube(TWO, 20, seed=3) != latin_hypercube(TWO, 20, seed=4)


def test_a_sobol_sequence_is_balanced():
    places = np.array(sobol(TWO, 16).places)
    for column in places.T:
        assert sorted((column * 16).astype(int)) == list(range(16))
    with pytest.raises(ValueError, match="expected a power of two of points, found 12"):
        sobol(TWO, 12)


def test_saltelli_swaps_one_column_at_a_time():
    design = saltelli(TWO, 4)
    a, b, first, second = np.array(design.places).reshape(4, 4, 2)
    np.testing.assert_array_equal(first, np.column_stack([b[:, 0], a[:, 1]]))
    np.testing.assert_array_equal(second, np.column_stack([a[:, 0], b[:, 1]]))
