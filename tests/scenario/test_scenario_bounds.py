"""The largest scenarios: refused beyond a bound, accepted at it, and within it every figure is finite."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clustersim.scenario import ScenarioError, load_scenario

STEP = "model: expected a step of at least 2 ns, as a failure may strike in its middle, found"
DURABLE = (
    "checkpoint.every: expected less than 2^62 ns (146 years) until a checkpoint is durable, "
    "with as few replicas as min_data, found"
)
COMPUTED = {"parameters": 1, "sequence_length": 1024, "global_batch": 8, "flops_per_gpu": "1 EFLOP/s"}


@pytest.mark.parametrize(
    ("overrides", "line"),
    [
        ({"model.step_time": "1 ns"}, f"{STEP} 1 ns"),
        ({"model": COMPUTED}, f"{STEP} 1 ns"),
        (
            {"data.tokens_per_document": 1e15},
            "data.tokens_per_document: expected a mean length below 1e15 tokens, found 1000000000000000.0",
        ),
        (
            {"data.documents": "4 T", "data.tokens_per_document": 9e14, "model.sequence_length": 1},
            "data: expected an epoch of fewer than 2^62 samples, found 3.6e+27",
        ),
        ({"data.shards": 10_000_001}, "data.shards: expected at most 10 M shards, found 10000001"),
        ({"checkpoint.every": "1e15 steps"}, f"{DURABLE} 1.73e+07 times that"),
        # Steps of 10 s, of 80 s with one replica; what a save costs comes on top.
        ({"checkpoint.every": f"{2**62 // (80 * 10**9) + 1} steps"}, f"{DURABLE} 1 times that"),
        ({"checkpoint.every": "146 y", "checkpoint.write": "1 y"}, f"{DURABLE} 1.01 times that"),
        (
            {
                "checkpoint": {"every": "daly", "stall": "1 s"},
                "failures": [{"cause": "x", "rate": "1e-40 per node-day"}],
            },
            f"{DURABLE} 2.25e+12 times that",
        ),
        (
            {"failures.0.count": 20_000_001 * 8},
            "failures: expected at most 2e+07 random failures within the run's limit, found 1.6e+08",
        ),
        (
            {"run.account": "identity", "data.documents": "200 M"},
            "run.account: expected at most 1e+08 samples an epoch to count each of them, found 1.37e+08",
        ),
        (
            {"run.account": "identity", "run.wall_time": "2000 d", "model.global_batch": 64},
            "run.account: expected at most 1e+09 planned views to count them sample by sample, found 1.11e+09",
        ),
        (
            {"run": {"samples": "1.1 B", "account": "identity"}, "failures": []},
            "run.account: expected at most 1e+09 planned views to count them sample by sample, found 1.1e+09",
        ),
    ],
)
def test_beyond_a_bound_it_is_refused(document, overrides, line):
    with pytest.raises(ScenarioError) as caught:
        load_scenario(document, overrides)
    assert str(caught.value) == f"scenario: {line}"


@pytest.mark.parametrize(
    "overrides",
    [
        {"model.step_time": "2 ns", "run.wall_time": "1 h", "data.documents": "1 T"},
        {"data.tokens_per_document": 999e12},
        {"data": {"samples": "20 M", "shards": "10 M"}},
        {"checkpoint": {"every": f"{2**62 // (80 * 10**9)} steps"}},
        {"checkpoint.every": "145 y"},
        # 1 a day in software beside them.
        {"failures.0.count": 19_999_989},
        {"run.account": "identity", "data": {"samples": "100 M"}},
        {"run": {"samples": "1 B", "account": "identity"}, "failures": []},
        {"run.account": "interval", "data.documents": "200 M"},
    ],
)
def test_a_bound_may_be_reached(document, overrides):
    load_scenario(document, overrides)


def magnitudes(least, most):
    """Whole numbers from 10^least to 10^most, of every length alike."""
    return st.floats(least, most).map(lambda exponent: int(10**exponent))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    wall_s=magnitudes(0, 9.7),
    every=st.one_of(magnitudes(0, 10).map("{} steps".format), magnitudes(0, 18.7).map("{} ns".format), st.just("daly")),
    stall_s=magnitudes(0, 9.7),
    write_s=magnitudes(0, 9.7),
    tokens_per_document=st.floats(-4, 16).map(lambda exponent: 10**exponent),
    documents=magnitudes(3, 18.7),
    count=st.floats(-99, 10).map(lambda exponent: 10**exponent),
)
def test_whatever_is_accepted_fits_63_bits_and_floats(
    document, wall_s, every, stall_s, write_s, tokens_per_document, documents, count
):
    overrides = {
        "run.wall_time": f"{wall_s} s",
        "checkpoint": {"every": every, "stall": f"{stall_s} s", "write": f"{write_s} s"},
        "data": {"documents": documents, "tokens_per_document": tokens_per_document, "packing": "concat"},
        # Without the other causes the mean time between failures may be as long as a number allows.
        "failures": [{**document["failures"][0], "count": count}],
    }
    try:
        scenario = load_scenario(document, overrides)
    except ScenarioError:
        return
    sizes, save_ns = scenario.sizes, scenario.checkpoint.stall + scenario.checkpoint.write
    for degree in range(sizes.min_data, sizes.data + 1):
        step_ns = sizes.step_ns(degree)
        assert sizes.limit_ns + sizes.steps_between_saves(step_ns) * step_ns + save_ns < 2**63
    assert sizes.samples < 2**62
    assert math.isfinite(sizes.samples * sizes.tokens_per_sample * sizes.documents_per_sample)
    assert math.isfinite(1 / sizes.failures_per_ns)
