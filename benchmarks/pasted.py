"""How figures are written, and put into the place that a page has for them."""

from pathlib import Path


def number(value: float) -> str:
    """Three digits, or all of those before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def paste(page: Path, place: str, text: str) -> None:
    """Put a text between the lines `<!-- PLACE -->` and `<!-- end of PLACE -->` of a page.

    Raises:
        ValueError: the page has no such place.
    """
    begin, end = f"<!-- {place} -->\n", f"<!-- end of {place} -->\n"
    before, begins, rest = page.read_text("utf-8").partition(begin)
    _, ends, after = rest.partition(end)
    if not begins or not ends:
        raise ValueError(f"expected the lines {begin.strip()} and {end.strip()} in {page}")
    page.write_text(f"{before}{begin}\n{text}\n\n{end}{after}", "utf-8")
