"""Every command and snippet that README and docs show is run, in order, in one empty directory a file."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
INSTALLS = "python3 -m venv"  # run as printed by .ci/run, in an environment of its own


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def commands(page):
    lines = [line for block in blocks(page, "bash") for line in block.splitlines()]
    return [line for line in lines if line.strip() and not line.startswith(INSTALLS)]


def run(command, directory):
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.name)
def test_commands(page, tmp_path):
    for line in commands(page):
        words = shlex.split(line, comments=True)
        if words[0] == "python":
            words[0] = sys.executable
        done = run(words, tmp_path)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        assert done.stdout or list(tmp_path.iterdir()), line


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_snippets(page, tmp_path):
    for snippet in blocks(page, "python"):
        done = run([sys.executable, "-W", "error", "-c", snippet], tmp_path)
        assert done.returncode == 0, f"{snippet}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_the_page_on_how_it_works_names_files_that_exist():
    named = re.findall(r"`((?:clustersim/|[a-z]+/)?[a-z_]+\.py)`", (ROOT / "docs" / "how-it-works.md").read_text())
    assert len(named) > 8
    for name in named:
        assert (ROOT / name).exists() or (ROOT / "clustersim" / name).exists(), name
