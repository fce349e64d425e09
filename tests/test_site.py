"""The site that mkdocs builds of docs/: without a warning, with the shipped scenarios, and nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("material", reason="mkdocs-material is not installed (clustersim[docs])")
    built = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(built)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return built


def test_each_page_is_built(site):
    for page in (ROOT / "docs").glob("*.md"):
        assert (site / f"{page.stem}.html").exists()


def test_links_to_scenarios_lead_to_their_files(site):
    shipped = site / "scenarios" / "validation" / "daly.toml"
    assert shipped.read_bytes() == (ROOT / "scenarios" / "validation" / "daly.toml").read_bytes()
    assert 'href="scenarios/validation/daly.toml"' in (site / "validation.html").read_text()
    assert 'href="scenarios/index.html#validation"' in (site / "validation.html").read_text()
    assert "Sixteen nodes, ten days" in (site / "scenarios" / "index.html").read_text()


def test_pages_load_nothing_from_elsewhere(site):
    """Scripts, styles, fonts and pictures come with the site; a plain link to a paper may lead out."""
    for page in site.rglob("*.html"):
        loaded = re.findall(r"<(?:script|img|iframe|source)[^>]*? src=\"?([^\" >]+)", page.read_text())
        loaded += re.findall(r"<link(?![^>]*rel=\"?canonical)[^>]*? href=\"?([^\" >]+)", page.read_text())
        assert loaded, page
        assert [each for each in loaded if re.match(r"(https?:)?//", each)] == [], page
