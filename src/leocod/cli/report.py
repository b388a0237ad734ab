"""`leocod report`: the report of one run, or of several side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from leocod.cli.terminal import errors, say
from leocod.errors import InvalidRun
from leocod.text import list_some

MOST_NAMED = 10
"""Runs that a message names."""


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories, or folders of them.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write; by default into the run, or a new report.html.")
    ] = None,
) -> None:
    """Write the report of a run again, or of several runs side by side.

    Runs that differ only in their seed are one line and one row, with mean and spread. Differences come with their
    interval over the seeds that both have. What the report comes to is printed, too.
    """
    from leocod.files.atomic import write_text
    from leocod.files.run_directory import find_free_path
    from leocod.report.report import load_kinds, render
    from leocod.report.verdict import tell_verdict

    found = _find_finished(runs)
    file = out or (found[0] / "report.html" if len(found) == 1 else find_free_path(Path("report.html")))
    kinds = load_kinds(found)
    write_text(file, render(kinds))
    for line in tell_verdict(kinds):
        say(line)
    say(f"Report: {file}")


def _find_finished(paths: Sequence[Path]) -> list[Path]:
    """The runs that are named, each once. In a folder, runs that have not finished are left out and named."""
    from leocod.files.run_directory import RunDirectory, list_runs

    found: dict[Path, Path] = {}
    unfinished = []
    for path in paths:
        inside = list_runs(path)
        if not inside:
            RunDirectory(path).require_finished()
        for run in inside or [path]:
            if inside and not RunDirectory(run).has_finished:
                unfinished.append(run.name)
            else:
                found.setdefault(run.resolve(), run)
    if unfinished:
        say(f"Left out, not finished: {list_some(unfinished, MOST_NAMED)}.", errors)
    if not found:
        raise InvalidRun("No run there has finished, so there is nothing to report.")
    return list(found.values())
