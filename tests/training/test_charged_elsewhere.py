"""Each bucket of time has a test by hand that fails when the time is charged to any other bucket."""

import importlib.util
from pathlib import Path

import pytest

from clustersim.training import buckets

TESTS = Path(__file__).parents[1]
RECOVERY = "training/test_job.py::test_phases_of_a_recovery_follow_each_other"
# The test that has to notice, and what it is called with.
NOTICED_BY = {
    "useful": ("training/test_job.py::test_without_failures_there_is_one_leg", ()),
    "degraded": ("training/test_in_place.py::test_a_failure_costs_the_step_in_flight_and_the_regrouping", ()),
    "slow_nodes": ("training/test_planned.py::test_what_is_slow_is_slow_again_and_may_be_so_already", ()),
    "data_starvation": ("storage/test_feeding.py::test_a_starved_step_is_longer_by_its_wait", ()),
    "wasted_progress": (
        "training/test_job.py::test_a_failure_costs_its_recovery_and_the_work_since_the_last_durable_save",
        (),
    ),
    "save_stall": ("training/test_job.py::test_without_failures_there_is_one_leg", ()),
    "unfinished": (
        "training/test_job.py::test_the_end_by_time_keeps_the_last_whole_step_or_the_last_durable_save",
        (True, 86),
    ),
    "maintenance": ("training/test_planned.py::test_the_job_saves_and_comes_back_when_the_window_is_over", ()),
    "waiting_for_nodes": ("cluster/test_domains.py::test_all_domains_at_one_instant_are_one_interruption", ()),
    "loader_resume": ("storage/test_feeding.py::test_a_store_that_keeps_up_costs_the_run_its_way_back_alone", ()),
    **dict.fromkeys(("detection", "diagnosis", "scheduling", "start_up", "load", "warm_up"), (RECOVERY, ())),
}


def named(node):
    """The function of a test, by its file and name."""
    file, _, name = node.partition("::")
    spec = importlib.util.spec_from_file_location(f"charged_elsewhere_{Path(file).stem}", TESTS / file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


@pytest.mark.parametrize("bucket", buckets.BUCKETS)
def test_the_test_of_a_bucket_fails_if_its_time_is_charged_elsewhere(bucket, monkeypatch):
    node, arguments = NOTICED_BY[bucket]
    test, charges = named(node), buckets.charges
    test(*arguments)
    for other in buckets.BUCKETS:
        if other == bucket:
            continue

        def charged(history, full_step_ns, other=other):
            told = charges(history, full_step_ns)
            return ((other if into == bucket else into, spent_ns, nodes) for into, spent_ns, nodes in told)

        monkeypatch.setattr(buckets, "charges", charged)
        with pytest.raises(AssertionError):
            test(*arguments)
