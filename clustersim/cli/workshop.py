"""`clustersim workshop`: 240 documents, one failure, three loaders side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clustersim.cli.options import JsonOption, SeedOption
from clustersim.cli.output import complain, emit_json, emit_page, table
from clustersim.cli.picture import NO_PICTURE, check_picture, drawable, write_picture
from clustersim.cli.usage import path_to, whole_number
from clustersim.cli.words import plural, share

if TYPE_CHECKING:
    from rich.console import RenderableType

    from clustersim.study.workshop import Played

_PICTURE = Path("workshop.png")
# No document is seen more often than this by the three loaders, wherever the failure strikes.
_MOST_VIEWS = 4
_FIGURES = (
    ("extra views", "extra_views"),
    ("missing views", "missing_views"),
    ("documents never seen", "never_seen_samples"),
    ("steps rolled back", "rolled_back_steps"),
)


def workshop(
    fail_step: Annotated[
        int,
        typer.Option(parser=whole_number(0, 59), metavar="STEP", help="The step that the failure strikes."),
    ] = 47,
    seed: SeedOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=path_to("a picture's name"),
            metavar="FILE",
            help=f"The picture, a PNG, SVG or PDF. [default: {_PICTURE}]",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Play a run of 240 documents and one failure under three loaders."""
    if out is not None:
        check_picture(out)
    from clustersim.study.workshop import play

    played = play(fail_step, seed)
    if json:
        emit_json(
            {
                "seed": played[0].seed,
                "fail_step": fail_step,
                "loaders": {
                    each.loader: {
                        "summary": each.summary,
                        "documents_by_views": each.documents_by_views(_MOST_VIEWS),
                    }
                    for each in played
                },
            }
        )
    else:
        emit_page(*_page(played, fail_step))
    # Who asks for JSON alone wants no file beside it.
    picture = out if json else out or _PICTURE
    if picture is None:
        return
    if drawable():
        _draw(played, fail_step, picture)
    else:
        complain(NO_PICTURE)


def _page(played: list[Played], fail_step: int) -> list[RenderableType]:
    """One column a loader."""
    rows = table("", *(each.loader for each in played))
    for label, name in _FIGURES:
        rows.add_row(label, *(str(each.summary[name]) for each in played))
    rows.add_row(
        "steps with the planned batch", *(share(each.summary["identical_steps_share"] or 0) for each in played)
    )
    columns = [each.documents_by_views(_MOST_VIEWS) for each in played]
    for views in range(max(map(len, columns))):
        rows.add_row(
            f"documents seen {plural(views, 'time')}",
            *(str(column[views]) if views < len(column) else "0" for column in columns),
        )
    return [
        f"240 documents, read twice in 60 steps of 8; a checkpoint every 10 steps; failure in step {fail_step}.",
        "",
        rows,
    ]


def _draw(played: list[Played], fail_step: int, picture: Path) -> None:
    import pandas as pd

    from analysis.workshop import figure

    counts = pd.concat(
        [
            pd.DataFrame({"loader": each.loader, "document": range(len(each.seen)), "seen": each.seen})
            for each in played
        ],
        ignore_index=True,
    )
    title = f"The workshop, failure in step {fail_step}: what the final model saw"
    write_picture(figure(counts, title, planned=2), picture)
