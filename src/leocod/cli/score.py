"""`leocod score`: metrics of runs, computed again from what they have stored."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leocod.cli.terminal import console

if TYPE_CHECKING:
    from leocod.evaluation.error_breakdown import ErrorCounts
    from leocod.evaluation.history import History
    from leocod.evaluation.metrics.base import Metric

MISSING = {
    "every evaluation": "the detections of {lost} of {all} evaluations were not kept (record.detections)",
    "last evaluation": "the detections of the last evaluation were not kept",
    "start": "there was no evaluation before the first step (evaluate.start: true)",
    "prequential": "the training frames were not tried before they were learnt (evaluate.prequential: true)",
}
"""Why a metric that needs it cannot be computed."""


def score(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this metric: a name, or module:Class. May be repeated."),
    ] = None,
    errors: Annotated[
        bool, typer.Option("--errors", help="Count what is wrong with the detections of the last evaluation.")
    ] = False,
) -> None:
    """Compute metrics again from the detections that runs have stored, and say which cannot be computed.

    Needs no model. A run that was broken off has metrics up to where it came.
    """
    from leocod.evaluation.metrics.base import find_metrics, list_shipped
    from leocod.report.history import read_errors, read_history

    metrics = find_metrics(metric or list_shipped())
    for run in runs:
        if errors:
            step, classes, counts = read_errors(run)
            _print_errors(run, step, classes, counts)
        if metric or not errors:
            _print_scores(run, metrics, read_history(run))


def _print_scores(run: Path, metrics: list[Metric], history: History) -> None:
    from rich.table import Table
    from rich.text import Text

    from leocod.cli.terminal import say
    from leocod.evaluation.metrics.base import compute_metrics

    scores = compute_metrics(metrics, history)
    table = Table(show_header=False)
    for metric in metrics:
        if (value := scores.get(metric.name)) is not None:
            title = f"{metric.label}, {history.definitions.fill_in(metric.title)}"
            # As many digits as it takes to compare with results.json.
            table.add_row(Text(metric.name), Text(title), Text(f"{value:.6f} {metric.unit}"))
    say(str(run))
    if table.row_count:
        console.print(table)
    for metric in metrics:
        if scores.get(metric.name) is None:
            say(f"{metric.name}: not computed. {_explain(metric, history)}")


def _explain(metric: Metric, history: History) -> str:
    lacking = [name for name in MISSING if name in metric.needs - history.measured]
    if not lacking:
        return metric.undefined
    lost, kept = len(history.lost_steps), len(history.evaluated_steps)
    reasons = "; ".join(MISSING[name].format(lost=lost, all=lost + kept) for name in lacking)
    return f"{reasons[0].upper()}{reasons[1:]}."


def _print_errors(run: Path, step: int, classes: tuple[str, ...], counts: ErrorCounts) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from leocod.cli.terminal import say
    from leocod.evaluation.error_breakdown import LOWEST_SCORE
    from leocod.text import one_line

    say(f"{run}: detections with a score of at least {LOWEST_SCORE} after step {step + 1}")
    table = Table("class", box=SIMPLE_HEAD, padding=(0, 0, 0, 1))
    for kind in counts.total:
        table.add_column(kind.replace("_", "\n"), justify="right")
    for number, name in enumerate(classes):
        table.add_row(Text(one_line(name)), *map(str, counts.of_class(number).values()))
    table.add_section()
    table.add_row("all", *map(str, counts.total.values()))
    console.print(table)
