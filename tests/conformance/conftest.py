"""The suite's own table: what each library did, and what clustersim says of the same job."""

from rich.console import Console
from rich.table import Table


def pytest_terminal_summary(terminalreporter):
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    rows = [value for report in reports for name, value in report.user_properties if name == "conformance"]
    if not rows:
        return
    table = Table("library", "usage", "job", "ends by", "theirs", "ours", "verdict", box=None)
    for row in sorted(rows):
        table.add_row(*row)
    console = Console(width=200)
    with console.capture() as capture:
        console.print(table)
    terminalreporter.write_sep("=", "real libraries: extra/missing views against the ideal (steps as planned)")
    terminalreporter.write(capture.get())
