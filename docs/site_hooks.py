"""What mkdocs needs beside the pages: the shipped scenarios, which pages link to and which lie outside of docs/."""

import re
import tomllib
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

_SHIPPED = "scenarios"
_LINK = re.compile(r"\]\(\.\./scenarios(/[^)]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the scenario files, and a page that lists them, folder by folder."""
    root = Path(config.config_file_path).parent
    lines = ["# Shipped scenarios", "", "`clustersim run NAME` takes those of the first list by their bare names.", ""]
    for folder in (root / _SHIPPED, *sorted(path for path in (root / _SHIPPED).rglob("*") if path.is_dir())):
        shipped = sorted(folder.glob("*.toml")) + sorted(folder.glob("*.json"))
        if shipped:
            name = folder.relative_to(root / _SHIPPED).as_posix()
            lines += [f"## {'Scenarios' if name == '.' else name}", ""]
            lines += [
                f"- [{path.stem}]({path.relative_to(root / _SHIPPED).as_posix()}): {_told(path)}" for path in shipped
            ]
            lines.append("")
        for path in shipped:
            name = path.relative_to(root).as_posix()
            files.append(File.generated(config, name, abs_src_path=str(path)))
    files.append(File.generated(config, f"{_SHIPPED}/index.md", content="\n".join(lines)))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Links out of docs/ to scenarios lead to the files of the site; those to folders to the page that lists them."""
    return _LINK.sub(lambda match: f"]({_SHIPPED}{_inside(match[1] or '')})", markdown)


def _inside(path: str) -> str:
    folder = path.strip("/")
    return path if folder.endswith((".toml", ".json")) else f"/index.md#{folder.replace('/', '')}"


def _told(path: Path) -> str:
    """The name that a scenario has, or the first words of a preset."""
    if path.suffix == ".json":
        return "JSON Schema of scenario files, for editors"
    text = path.read_text("utf-8")
    name = tomllib.loads(text).get("name")
    comment = next((line.lstrip("# ") for line in text.splitlines() if line.startswith("#")), "")
    return str(name or comment)
