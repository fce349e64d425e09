"""What a scenario says of checkpoints: times or bytes, and which of them do not go together."""

import pytest

from clustersim.scenario import ScenarioError, load_scenario

# 3 GB on 16 nodes: 12 bytes for each of 250 M parameters.
BYTES = {"checkpoint.bytes_per_parameter": "12 B", "model.parameters": "250 M", "checkpoint.write": None}
WRITTEN = {**BYTES, "checkpoint.write_bandwidth": "10 MB/s"}
READ = {**BYTES, "checkpoint.read_bandwidth": "10 MB/s", "recovery.load": None}


@pytest.mark.parametrize(
    ("overrides", "seconds"),
    [
        ({}, 18.75),  # 16 nodes at 10 MB/s
        ({"checkpoint.write_cap": "100 MB/s"}, 30),
        ({"checkpoint.write_cap": "1 GB/s"}, 18.75),
        ({"checkpoint.write_bandwidth": None, "checkpoint.write_cap": "100 MB/s"}, 30),
        ({"checkpoint.parameters": "1 B"}, 75),  # a mixture of experts holds more than a token passes
        ({"checkpoint.bytes_per_parameter": "13.2 B"}, 20.625),
    ],
)
def test_the_time_to_write_follows_from_bytes(document, overrides, seconds):
    scenario = load_scenario(document, WRITTEN | overrides)
    sizes, checkpoint = scenario.sizes, scenario.checkpoint
    assert checkpoint.write_ns(sizes.checkpoint_bytes, sizes.nodes(sizes.data)) == seconds * 10**9
    assert load_scenario(scenario.resolved()).sizes == sizes


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({**WRITTEN, "checkpoint.write": "1 s"}, "checkpoint.write_bandwidth: expected either write or a bandwidth"),
        ({**READ, "recovery.load": "1 s"}, "recovery.load: expected either load or a bandwidth to read the checkpoint"),
        (
            {**READ, "checkpoint.bytes_per_parameter": None},
            'checkpoint.bytes_per_parameter: expected bytes a parameter, such as "14 B", beside read_bandwidth',
        ),
        (
            {**WRITTEN, "model.parameters": None},
            "checkpoint.parameters: expected the number of parameters, of which write_bandwidth carries the bytes",
        ),
        (
            {"checkpoint.write_bandwidth": "10 MB"},
            'checkpoint.write_bandwidth: expected a bandwidth such as "50 GB/s", found "10 MB" (a size)',
        ),
        (
            {"checkpoint.read_cap": "0 B/s"},
            'checkpoint.read_cap: expected a bandwidth such as "50 GB/s", greater than 0, found "0 B/s"',
        ),
    ],
)
def test_wrong_combinations_are_refused(document, overrides, message):
    with pytest.raises(ScenarioError) as error:
        load_scenario(document, overrides)
    assert str(error.value).startswith(f"scenario: {message}")
