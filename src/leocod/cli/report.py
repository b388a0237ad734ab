"""`leocod report`: the report of one run, or of several side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leocod.cli.terminal import say


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write; by default into the run, or report.html.")
    ] = None,
) -> None:
    """Write the report of a run again, or of several runs side by side."""
    from leocod.files.run_directory import RunDirectory
    from leocod.report.report import write_report

    for run in runs:
        RunDirectory(run).require_finished()
    file = out or (runs[0] / "report.html" if len(runs) == 1 else Path("report.html"))
    say(f"Report: {write_report(runs, file)}")
