import pytest

from clustersim.cli.main import main

# A job that loses its only node for good, and one whose failures come faster than its checkpoints.
STARVING = """
name = "one node"
[run]
steps = 1000
[model]
global_batch = 4
step_time = "1 min"
[cluster]
nodes = 1
gpus_per_node = 1
[[failures]]
cause = "death"
rate = "24 per node-day"
repair = "never"
[checkpoint]
every = "10 steps"
[data]
documents = 100
"""
STUCK = (
    STARVING.replace('repair = "never"', "").replace('"24 per', '"24000 per').replace("[run]", '[run]\nlimit = "2 h"')
)


@pytest.fixture
def starving(tmp_path):
    path = tmp_path / "starving.toml"
    path.write_text(STARVING)
    return str(path)


@pytest.fixture
def stuck(tmp_path):
    path = tmp_path / "stuck.toml"
    path.write_text(STUCK)
    return str(path)


@pytest.fixture
def clustersim(capsys):
    """Runs a command line in this process: exit code, stdout, stderr."""

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return call
