"""What a run used, worked out by hand, and its price."""

import pytest

from clustersim import ScenarioError, load_scenario, replicate, simulate

# 4 nodes of 2 GPUs train 100 steps of 10 s, and a fifth stands by. A crash in the middle of step 25 costs a minute and
# the steps from 20 on: 255 s of training, 60 s without, 800 s of training.
JOB = {
    "run": {"steps": 100},
    "model": {"global_batch": 12, "step_time": "10 s"},
    "cluster": {"nodes": 4, "spares": 1, "gpus_per_node": 2},
    "failures": [{"cause": "scripted", "at_steps": [25]}],
    "checkpoint": {"every": "10 steps", "bytes_per_parameter": "4 B", "parameters": "100 B"},
    "recovery": {"start_up": "1 min"},
    "data": {"samples": 5000},
}
PRICES = {"gpu_hour": 2.0, "idle_gpu_hour": 1.0, "spare_gpu_hour": 0.5, "repair": 100, "checkpoint_tb_month": 20}
STORED_S = (1115 - 100) + (1115 - 200) + sum(800 - 100 * k for k in range(1, 8))


def cost_of(**prices):
    return simulate(load_scenario({**JOB, "cost": prices})).summary()["cost"]


def test_amounts_and_prices_by_hand():
    figures = simulate(load_scenario({**JOB, "cost": PRICES})).summary()
    assert figures["busy_gpu_hours"] == pytest.approx(8 * 1055 / 3600)
    assert figures["idle_gpu_hours"] == pytest.approx(8 * 60 / 3600)
    assert figures["spare_gpu_hours"] == pytest.approx(2 * 1115 / 3600)
    assert figures["checkpoint_tb_months"] == pytest.approx(0.4 * STORED_S / 3600 / 730)
    assert figures["repairs"] == 0
    gpus = 2 * 8 * 1055 + 1 * 8 * 60 + 0.5 * 2 * 1115
    assert figures["cost"] == pytest.approx((gpus + 20 * 0.4 * STORED_S / 730) / 3600)


def test_checkpoints_that_are_not_retained_are_not_stored():
    kept = {**JOB, "checkpoint": {**JOB["checkpoint"], "keep": 2}, "cost": PRICES}
    # Each is stored until the second after it is durable: the first two of nine fall over the restart.
    durable = [100, 200, *(315 + 100 * k for k in range(1, 8))]
    stored_s = sum(after - each for each, after in zip(durable, [*durable[2:], 1115, 1115], strict=True))
    figures = simulate(load_scenario(kept)).summary()
    assert figures["checkpoint_tb_months"] == pytest.approx(0.4 * stored_s / 3600 / 730)


def test_the_storage_of_tiers_is_not_paid_for():
    near = {"name": "memory", "every": "5 steps", "survives": "process"}
    checkpoint = {**JOB["checkpoint"], "when_busy": "skip", "tiers": [near]}
    # The memory outlives the crash: the job goes on from step 25, and is done after 1,065 s.
    durable = [100, 200, *(315 + 100 * k for k in range(1, 8))]
    figures = simulate(load_scenario({**JOB, "checkpoint": checkpoint, "cost": PRICES})).summary()
    assert figures["checkpoint_tb_months"] == pytest.approx(0.4 * sum(1065 - each for each in durable) / 3600 / 730)


def test_idle_and_spare_gpus_cost_as_much_as_busy_ones_unless_said():
    assert cost_of(gpu_hour=3.0) == pytest.approx(3.0 * 5 * 2 * 1115 / 3600)


def test_each_repair_is_paid():
    # Every node fails once a day on average and is back after an hour.
    failures = [{"cause": "wear", "rate": "1 per node-day", "repair": "1 h"}]
    run = {"wall_time": "20 d"}
    study = replicate({**JOB, "run": run, "failures": failures, "cost": {"gpu_hour": 0, "repair": 7}}, 2, workers=1)
    assert (study.table["repairs"] > 50).all()
    assert study.table["cost"].tolist() == (7 * study.table["repairs"]).tolist()


def test_without_prices_there_is_no_cost():
    assert "cost" not in simulate(load_scenario(JOB)).summary()


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"cost": {}}, "cost.gpu_hour: expected a value (this key is required), found nothing"),
        (
            {"cost": {"gpu_hours": 2}},
            'cost.gpu_hours: expected a known key, found "gpu_hours"; did you mean "gpu_hour"?',
        ),
        ({"cost": {"gpu_hour": -1}}, "cost.gpu_hour: expected a number, not negative, found -1"),
        (
            {"cost": {"gpu_hour": 1, "checkpoint_tb_month": 20}, "checkpoint": {"every": "10 steps"}},
            "checkpoint.bytes_per_parameter: expected bytes a parameter, and their number, "
            "beside cost.checkpoint_tb_month, found nothing",
        ),
    ],
)
def test_what_is_wrong_with_prices_is_one_line(keys, line):
    with pytest.raises(ScenarioError) as refused:
        load_scenario({**JOB, **keys})
    assert line in str(refused.value)
