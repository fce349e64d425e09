"""What is known of a scenario before any simulation, for people."""

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from clustersim.cli.assumptions import assumptions
from clustersim.cli.output import table
from clustersim.cli.words import count, duration, share, size
from clustersim.forecast import Forecast
from clustersim.scenario import Scenario


def check_page(scenario: Scenario, forecast: Forecast) -> list[RenderableType]:
    """The parts of the page, from top to bottom; warnings come first."""
    parts: list[RenderableType] = [Text(f"{scenario.name}: the scenario is sound.", style="bold"), ""]
    for warning in forecast.warnings:
        parts += [Text(f"Warning: {warning}.", style="bold red"), ""]
    parts += [assumptions(scenario, forecast), "", _expected(forecast), ""]
    if forecast.causes:
        parts += [_causes(forecast), ""]
    but = "" if scenario.storage is None else ", but for the wait for data"
    parts.append(f"Expectations in closed form, nothing was simulated{but}.")
    return parts


def _expected(forecast: Forecast) -> Table:
    """One row an expectation; those that the scenario does not give are left out."""
    rows = table("Expected", "")
    rows.add_row("run without failures", duration(3600 * forecast.failure_free_h))
    rows.add_row("its steps", count(forecast.failure_free_steps))
    if forecast.failures:
        rows.add_row("failures that stop it in that time", count(forecast.failures))
    rows.add_row("epochs that it passes", f"{forecast.failure_free_epochs:.3g}")
    if forecast.feed_tokens_per_s is not None:
        rows.add_row("tokens a second", count(forecast.feed_tokens_per_s))
    if forecast.feed_bytes_per_s is not None:
        rows.add_row("bytes a second", size(forecast.feed_bytes_per_s))
    rows.add_row("nodes in repair, mean", f"{forecast.nodes_down:.3g}")
    if forecast.nodes_lost:
        rows.add_row("nodes lost for good by the end", f"{forecast.nodes_lost:.3g}")
    if forecast.repair_slots is not None:
        rows.add_row("repair slots in use, mean", share(forecast.nodes_down / forecast.repair_slots))
    rows.add_row("more nodes gone than spares", share(forecast.spare_shortfall))
    rows.add_row("checkpoint interval", duration(forecast.interval_s))
    for name, optimum_s in (("by Young's formula", forecast.young_s), ("by Daly's formula", forecast.daly_s)):
        if optimum_s:
            rows.add_row(name, duration(optimum_s))
    if forecast.ettr_first_order is not None:
        rows.add_row("useful share of time (ETTR), first order", share(forecast.ettr_first_order))
    return rows


def _causes(forecast: Forecast) -> Table:
    """One row a random cause, the most frequent first."""
    rows = table("Cause", "failures a day", "detection", "takes", "repair")
    for cause in sorted(forecast.causes, key=lambda cause: -cause.failures_per_day):
        repair = "" if cause.repair_h is None else duration(3600 * cause.repair_h)
        often = count(cause.failures_per_day)
        detection = "never" if cause.detection_s is None else duration(cause.detection_s)
        rows.add_row(cause.cause, often, detection, cause.takes.replace("node for repair", "node"), repair)
    slow = any(cause.slows is not None for cause in forecast.causes)
    rows.add_row("all that stop the job" if slow else "all", count(forecast.failures_per_day))
    return rows
