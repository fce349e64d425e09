import subprocess
import sys
from importlib import import_module

import pytest

from clustersim.cli.commands import SUMMARIES

HEAVY = ("numpy", "pandas", "pyarrow", "pydantic", "rich", "scipy", "simpy")


def modules_of(*arguments):
    """Everything that a command line imports."""
    program = f"import sys; from clustersim.cli.main import main; main({list(arguments)}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]], ids=" ".join)
def test_what_simulates_nothing_imports_nothing_that_is_slow(arguments):
    assert [module for module in modules_of(*arguments) if module in HEAVY] == []


def test_a_command_is_imported_alone():
    ours = [module for module in modules_of("check", "--help") if module.startswith("clustersim.cli.")]
    assert "clustersim.cli.check" in ours
    assert [name for name in SUMMARIES if f"clustersim.cli.{name}" in ours] == ["check"]


@pytest.mark.parametrize("name", SUMMARIES)
def test_the_list_says_what_the_command_says(name, clustersim):
    assert getattr(import_module(f"clustersim.cli.{name}"), name).__doc__ == SUMMARIES[name]
    code, shown, _ = clustersim(name, "--help")
    assert code == 0
    assert shown.startswith(f"Usage: clustersim {name} ")
    assert " ".join(shown.split()).find(SUMMARIES[name]) > 0
    assert f"\n  {name} " in clustersim("--help")[1]


def test_a_command_that_is_not_there_is_told_with_the_nearest(clustersim):
    assert clustersim("swep") == (2, "", "clustersim: No such command 'swep'. Did you mean 'sweep'?\n")
