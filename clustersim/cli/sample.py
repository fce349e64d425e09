"""`clustersim sample`: which steps read a sample, and which of them the final model kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from clustersim.cli.options import JsonOption, ReplicationOption, ScenarioArgument, SeedOption, SetOption, load
from clustersim.cli.outcome import UNFINISHED, how_it_ended
from clustersim.cli.output import complain, emit_json, emit_page, table
from clustersim.cli.usage import whole_number
from clustersim.cli.words import plural

if TYPE_CHECKING:
    from rich.console import RenderableType

    from clustersim.study.lookup import SampleStory


def sample(
    scenario: ScenarioArgument,
    number: Annotated[int, typer.Argument(parser=whole_number(0), metavar="ID", help="The sample's number, from 0.")],
    document: Annotated[
        bool, typer.Option("--document", help="ID is a document's number; the samples that hold it are shown.")
    ] = False,
    overrides: SetOption = None,
    replication: ReplicationOption = 0,
    seed: SeedOption = None,
    json: JsonOption = False,
) -> None:
    """List the steps that read a sample, and which of them were kept."""
    from clustersim.simulation import simulate
    from clustersim.study.lookup import samples_of, story_of

    loaded = load(scenario, overrides)
    try:
        samples = samples_of(loaded, number) if document else range(number, number + 1)
        if samples.stop > loaded.sizes.samples:
            raise ValueError(f"no sample {number}: they are numbered 0 to {loaded.sizes.samples - 1}")
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="ID") from None
    run = simulate(loaded, replication, seed)
    try:
        stories = [story_of(run, each) for each in samples]
    except ValueError as error:  # read too often to be listed
        raise typer.BadParameter(str(error), param_hint="ID") from None
    if json:
        emit_json(
            {
                "scenario": loaded.name,
                "seed": run.seed,
                "replication": replication,
                "document": number if document else None,
                "samples": [{**story._asdict(), "reads": story.reads.to_dict("records")} for story in stories],
            }
        )
    else:
        emit_page(*(part for story in stories for part in _page(story)))
    if run.history.outcome != "done":
        complain(how_it_ended(run.history.outcome, run.history.reason, run.history.wall_ns))
        raise typer.Exit(UNFINISHED)


def _page(story: SampleStory) -> list[RenderableType]:
    """The answer in a sentence, and a row for each read."""
    seen = f"the final model saw it {plural(story.seen, 'time')}"
    answer = f"Sample {story.sample} was planned {plural(story.planned, 'time')}; {seen}."
    if story.reads.empty:
        return [answer]
    rows = table("step", "leg", "epoch", "offset", "fate", left=0)
    rows.columns[-1].justify = "left"
    for read in story.reads.itertuples():
        # Numbers to look up are shown whole.
        rows.add_row(*(str(part) for part in (read.step, read.leg, read.epoch, read.offset, read.fate)))
    return [answer, "", rows]
