"""The numbers that follow from a scenario, against hand-made ones and against exact fractions."""

import math
import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustersim.scenario import ScenarioError, load_scenario


def test_llama3_has_its_published_step_and_failures():
    scenario = load_scenario("llama3-405b")
    sizes = scenario.sizes
    # 6 * 405e9 * 8192 * 2048 FLOP on 16,384 * 400e12 FLOP/s.
    assert sizes.step_ns(128) == 6_220_800_000
    assert (sizes.gpus, sizes.data, sizes.unit_nodes, sizes.unit_replicas) == (16_384, 128, 16, 1)
    assert sizes.samples == 20 * 10**9 * 780 // 8192
    assert sizes.documents_per_sample == 8192 / 780
    assert (sizes.steps, sizes.epochs, sizes.wall_ns) == (None, None, 54 * 86_400 * 10**9)
    assert sizes.failures_per_ns * sizes.wall_ns == pytest.approx(466, rel=1e-12)
    unexpected = [cause for cause in scenario.failures if cause.cause != "planned maintenance"]
    assert len(unexpected) == 18
    assert sum(cause.count for cause in unexpected) == 419
    for cause in unexpected:
        in_job = cause.failures_per_ns(8) * (2048 if cause.scope == "node" else 1)
        assert in_job * sizes.wall_ns == pytest.approx(cause.count, rel=1e-12)


def test_the_workshop_slows_down_by_its_fullest_replica():
    sizes = load_scenario("workshop").sizes
    # 8 documents on 4, 3, 2, 1 replicas: 2, 3, 4, 8 on the fullest.
    assert [sizes.step_ns(degree) for degree in (4, 3, 2, 1)] == [10**9, 1_500_000_000, 2 * 10**9, 4 * 10**9]
    assert (sizes.steps, sizes.samples, sizes.batch, sizes.tokens_per_sample) == (60, 240, 8, None)
    assert sizes.limit_ns == 20 * 60 * 10**9
    assert sizes.documents_per_sample == 1
    assert sizes.failures_per_ns == 0


@settings(deadline=None)
@given(batch=st.integers(1, 500), data=st.integers(1, 500), step_ns=st.integers(2, 10**12), degree=st.integers(1, 500))
def test_a_step_time_is_rounded_half_up_once(batch, data, step_ns, degree):
    data, degree = min(batch, data), min(batch, data, degree)
    scenario = load_scenario(
        "workshop",
        {
            "model": {"global_batch": batch, "step_time": f"{step_ns} ns"},
            "cluster.nodes": data,
            "parallelism.data": data,
            "data.documents": 1000,
        },
    )
    exact = Fraction(step_ns * math.ceil(batch / degree), math.ceil(batch / data))
    assert scenario.sizes.step_ns(degree) == math.floor(exact + Fraction(1, 2))
    assert scenario.sizes.step_ns(data) == step_ns


@pytest.mark.parametrize(
    ("nodes", "gpus_per_node", "tensor", "pipeline", "expected"),
    [
        # data, unit_nodes, unit_replicas, units
        (16, 8, 4, 4, (8, 2, 1, 8)),
        (16, 8, 8, 1, (16, 1, 1, 16)),
        (16, 8, 2, 1, (64, 1, 4, 16)),
        (1, 1, 1, 1, (1, 1, 1, 1)),
        (6, 4, 4, 3, (2, 3, 1, 2)),
    ],
)
def test_what_goes_together(document, nodes, gpus_per_node, tensor, pipeline, expected):
    overrides = {
        "cluster.nodes": nodes,
        "cluster.gpus_per_node": gpus_per_node,
        "parallelism": {"tensor": tensor, "pipeline": pipeline},
        "failures": [],
    }
    sizes = load_scenario(document, overrides).sizes
    assert (sizes.data, sizes.unit_nodes, sizes.unit_replicas, nodes // sizes.unit_nodes) == expected
    assert nodes // sizes.unit_nodes * sizes.unit_replicas == sizes.data


def test_allowed_degrees(document):
    document["failures"].pop()
    sizes = load_scenario(document, {"parallelism.min_data": 3}).sizes
    assert [degree for degree in range(12) if sizes.degrees_ok(degree)] == [3, 4, 5, 6, 7, 8]
    sizes = load_scenario(document, {"parallelism.uneven": "refuse"}).sizes
    assert [degree for degree in range(12) if sizes.degrees_ok(degree)] == [1, 2, 4, 8]


@pytest.mark.parametrize(
    ("run", "steps", "epochs", "limit_ns"),
    [
        ({"steps": 60}, 60, None, 20 * 60 * 10**10),
        ({"samples": 64}, 1, None, 20 * 10**10),
        ({"samples": 65}, 2, None, 20 * 2 * 10**10),
        # 64 samples of 1,024 tokens a step.
        ({"tokens": 65536}, 1, None, 20 * 10**10),
        ({"tokens": 65537}, 2, None, 20 * 2 * 10**10),
        # 1,367,187 samples an epoch: 2 epochs are 42,724.6 steps.
        # A save after each 180 steps of 10 s, 237 before the last step, stalls it for 5 s.
        ({"epochs": 2}, 42_724, 2, 20 * (42_724 * 10**10 + 237 * 5 * 10**9)),
        ({"steps": 60, "limit": "1 h"}, 60, None, 3600 * 10**9),
        ({"wall_time": "2 d"}, None, None, 2 * 86_400 * 10**9),
    ],
)
def test_the_ends_of_a_run(document, run, steps, epochs, limit_ns):
    sizes = load_scenario(document, {"run": run}).sizes
    assert (sizes.steps, sizes.epochs, sizes.limit_ns) == (steps, epochs, limit_ns)
    assert sizes.wall_ns == (limit_ns if "wall_time" in run else None)


@pytest.mark.parametrize(
    ("documents", "tokens_per_document", "sequence_length", "samples"),
    [
        # The decimal 0.3, not the float next to it, which is smaller; and no product of floats, which would be 10^17.
        (10, 0.3, 1, 3),
        (10**18 - 10, 0.1, 1, 10**17 - 1),
        (2_000_000, 700, 1024, 1_367_187),
        (20 * 10**9, 780.5, 8192, 20 * 10**9 * 1561 // 2 // 8192),
    ],
)
def test_packing_counts_whole_samples_exactly(documents, tokens_per_document, sequence_length, samples):
    data = {"documents": documents, "tokens_per_document": tokens_per_document, "packing": "concat"}
    model = {"global_batch": 1, "sequence_length": sequence_length, "step_time": "1 s"}
    overrides = {"data": data, "model": model, "cluster.nodes": 1, "parallelism": {}, "run": {"steps": 1}}
    assert load_scenario("workshop", overrides).sizes.samples == samples


def test_tokens_of_documents_that_are_not_packed(document):
    data = {"documents": 5000, "tokens_per_document": 700.5}
    overrides = {"data": data, "run": {"tokens": 64 * 7005 // 10 + 1}}
    sizes = load_scenario(document, {**overrides, "model.sequence_length": None}).sizes
    assert (sizes.tokens_per_sample, sizes.documents_per_sample, sizes.samples) == (700.5, 1, 5000)
    assert sizes.steps == 2
    assert load_scenario(document, overrides).sizes.tokens_per_sample == 700.5
    del data["tokens_per_document"]
    assert load_scenario(document, overrides).sizes.tokens_per_sample == 1024


def test_failures_that_hit_the_job_add_up(document):
    day_ns = 86_400 * 10**9
    assert load_scenario(document).sizes.failures_per_ns * day_ns == pytest.approx(2 + 1, rel=1e-12)
    per_gpu = {"failures": [{"cause": "GPU", "rate": "0.5 per GPU-day"}]}
    assert load_scenario(document, per_gpu).sizes.failures_per_ns * day_ns == pytest.approx(64, rel=1e-12)


def test_bounds_may_be_reached(document):
    # An epoch of exactly one batch, a shard for each sample, a replica for each sample of the batch.
    overrides = {"data": {"samples": 8, "shards": 8}, "model.global_batch": 8, "parallelism.min_data": 8}
    sizes = load_scenario(document, {**overrides, "failures": []}).sizes
    assert (sizes.samples, sizes.shards, sizes.batch, sizes.data, sizes.min_data) == (8, 8, 8, 8, 8)


def test_degrees_that_divide_the_batch_into_whole_micro_batches(document):
    """torchft#302: 16 samples, 4 at once; 16 / (4 * 3) is no whole number, so 1, 2 and 4 replicas are allowed."""
    cluster = {"nodes": 4, "gpus_per_node": 1}
    overrides = {"model.global_batch": 16, "cluster": cluster, "failures": None}
    overrides["parallelism"] = {"micro_batch": 4, "uneven": "refuse"}
    sizes = load_scenario(document, overrides).sizes
    assert [degree for degree in range(1, 5) if sizes.degrees_ok(degree)] == [1, 2, 4]
    paces = load_scenario(document, {**overrides, "parallelism.uneven": "pace"}).sizes
    assert [paces.step_ns(degree) // paces.full_step_ns for degree in (4, 3, 2, 1)] == [1, 2, 2, 4]
    for key, value, line in (
        ("model.global_batch", 18, "micro_batch: expected a divisor of global_batch = 18"),
        ("model.global_batch", 24, "data: expected a divisor of global_batch = 24 / micro_batch = 6"),
        (
            "failures",
            [{"cause": "x", "at_steps": [5], "data": [3]}],
            "4, divisors of 16 / 4, the micro-batches), found 3",
        ),
    ):
        with pytest.raises(ScenarioError, match=re.escape(line)):
            load_scenario(document, {**overrides, key: value})
