"""docs/validation.md: it has the rows that `clustersim validate` has, and each that is claimed passes there."""

import re
from pathlib import Path

from clustersim.cli.validate import HEADS
from clustersim.study.validate_rows import ROWS

PAGE = (Path(__file__).parents[2] / "docs" / "validation.md").read_text("utf-8")


def rows():
    lines = re.findall(r"^\| (.+) \|$", PAGE, flags=re.MULTILINE)
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def test_the_page_has_every_row_in_order():
    head, *table = rows()
    assert head == list(HEADS)
    targets = [(row.name, target) for row in ROWS for point in row.points for target in point.targets]
    expected = [(name, target.what, target.published, "pass") for name, target in targets]
    assert [(row[0], row[1], row[2], row[-1]) for row in table] == expected


def test_the_page_says_where_each_row_comes_from():
    for row in ROWS:
        (line,) = re.findall(rf"^- \*\*{row.name}\*\*, .*", PAGE, flags=re.MULTILINE)
        assert row.source in line
