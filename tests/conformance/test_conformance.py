"""Real loader libraries, crashed and restarted, beside clustersim. `pytest -m conformance` prints a table."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

import pytest
from conformance import torchrun
from conformance.catalogue import USAGES
from conformance.ours import Refusal, of_played
from conformance.play import play
from packaging.specifiers import SpecifierSet

# The libraries' own warnings, of deprecations and of too few cores, are not ours to mend.
pytestmark = [pytest.mark.conformance, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    """No library asks a server, or leaves files in the user's caches."""
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    for name in torchrun.VARIABLES:  # whatever the ranks set is unset afterwards
        monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(name, "0")
        monkeypatch.delenv(name)


CASES = [pytest.param(usage, job, id=f"{usage.package}, {usage.name}, {job}") for usage in USAGES for job in usage.jobs]


@pytest.mark.parametrize(("usage", "job"), CASES)
def test_the_library_does_what_we_say(usage, job, tmp_path, record_property):
    reader = reader_of(usage)
    played, plan = play(usage, reader, job, tmp_path), play(usage, reader, job.plan, tmp_path)
    who = (f"{usage.package} {version(usage.package)}", usage.name, str(job))
    differences = []
    for ends, ours in usage.ours(usage, job).items():
        theirs = of_played(played, plan, job.corpus, ends)
        difference = differs(theirs, ours, played.refused)
        record_property("conformance", (*who, ends, str(theirs), str(ours), difference or "as we say"))
        if difference:
            differences.append(f"{', '.join(who)}, ends by {ends}: {difference}")
    if differences:
        pytest.fail("\n".join(differences), pytrace=False)


def differs(theirs, ours, refused):
    """What changed, in a line; empty if the library does what we say."""
    if isinstance(theirs, Refusal) and isinstance(ours, Refusal):
        return ""
    if isinstance(theirs, Refusal):
        return f"expected {ours}, found that it refuses ({refused.splitlines()[0]})"
    return f"expected a refusal, found {theirs}" if isinstance(ours, Refusal) else ours.misses(theirs)


def reader_of(usage):
    """The class that reads through the library, or a skip."""
    try:
        installed = version(usage.package)
    except PackageNotFoundError:
        pytest.skip(f"{usage.package} is not installed")
    if installed not in SpecifierSet(usage.versions):
        pytest.skip(f"{usage.package} {installed} is installed; this is about {usage.versions}")
    module, name = usage.reader.split(".")
    try:
        return getattr(import_module(f"conformance.{module}"), name)
    except ModuleNotFoundError as missing:
        pytest.skip(f"{missing.name} is not installed")
