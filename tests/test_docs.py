"""Every command and snippet that README and docs show is run, in order, in one directory a file; outputs are real.

A block with a title is the file of that name: it lies in the directory. A block `text` is what the commands of the
block before it print: its lines, in their order, some of which may be left out.
"""

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
    return [line for block in blocks(page, "bash") for line in lines(block)]


def lines(block):
    return [line for line in block.splitlines() if line.strip() and not line.startswith(INSTALLS)]


def files(page):
    """The files that a page shows, by the titles of their blocks."""
    return dict(re.findall(r'^```\w+ title="(.*?)"\n(.*?)^```$', page.read_text(), flags=re.MULTILINE | re.DOTALL))


def commands_and_outputs(page):
    """Blocks of commands, each with the output that is shown right after it, if any."""
    pattern = r"^```bash\n(.*?)^```$(?:\s*^```text\n(.*?)^```$)?"
    return re.findall(pattern, page.read_text(), flags=re.MULTILINE | re.DOTALL)


def run(command, directory):
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.name)
def test_commands(page, tmp_path):
    for name, text in files(page).items():
        (tmp_path / name).write_text(text)
    for block, shown in commands_and_outputs(page):
        printed = ""
        for line in lines(block):
            words = shlex.split(line, comments=True)
            if words[0] == "python":
                words[0] = sys.executable
            done = run(words, tmp_path)
            assert done.returncode == 0, f"{line}\n{done.stderr}"
            assert done.stdout or list(tmp_path.iterdir()), line
            printed += done.stdout
        rest = iter(printed.splitlines())
        for line in shown.splitlines():
            assert line in rest, f"{page.name} shows a line that is not printed there: {line}\n{printed}"


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


def test_every_page_is_in_the_sites_navigation():
    named = re.findall(r": ([a-z-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), flags=re.MULTILINE)
    assert sorted(named) == sorted(page.name for page in PAGES[1:])


def test_the_script_for_slurm_runs_on_one_machine(tmp_path):
    """With an srun that runs what it is given here, and no more than once."""
    scripts = files(ROOT / "docs" / "machines.md")
    (tmp_path / "study.sbatch").write_text(scripts["study.sbatch"])
    srun = tmp_path / "bin" / "srun"
    srun.parent.mkdir()
    srun.write_text('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nexec "$@"\n')
    srun.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(srun.parent), str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    done = subprocess.run(
        ["bash", "study.sbatch"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "2 points, 20 runs" in done.stdout


def test_the_job_for_kubernetes_runs_what_it_names(tmp_path):
    yaml = pytest.importorskip("yaml")
    job = yaml.safe_load(files(ROOT / "docs" / "machines.md")["job.yaml"])
    (container,) = job["spec"]["template"]["spec"]["containers"]
    done = run([*container["command"], *container["args"]], tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "study" / "table.parquet").exists()
