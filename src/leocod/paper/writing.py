"""A table as files: Markdown and CSV to read and to compute with, and a page that stands alone."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from leocod.paper.cells import Cell
from leocod.paper.outcome import Comparison, Outcome, Verdict, Word, spread
from leocod.paper.plan import Plan
from leocod.paper.table import DATASETS, LOWER_IS_BETTER, METRICS, Dataset, Metric, Row, Table
from leocod.report.page import rendered
from leocod.rundir import write_text

NAMES: dict[Metric, str] = {"fap": "FAP", "cap": "CAP", "f": "F"}
ARROWS: dict[Metric, str] = {metric: "↓" if metric in LOWER_IS_BETTER else "↑" for metric in METRICS}


READING = (
    "How much better the first row is, on average and run by run; where lower is better, lower is more. A difference "
    "within its own standard deviation over the runs (of a single run: 1 point) is within the spread."
)
"""What the numbers under a claim are."""


@dataclass(frozen=True)
class Figure:
    """A number of a table as it is shown, with the difference to the row that it is compared with."""

    text: str
    difference: float | None = None
    good: bool = False
    """Whether the difference is one for the better."""

    @property
    def change(self) -> str:
        """The difference in words."""
        return "" if self.difference is None else f"({_signed(self.difference)})"

    def __str__(self) -> str:
        return f"{self.text} {self.change}".strip()


@dataclass(frozen=True)
class Line:
    """A row of a table as it is shown."""

    row: Row
    ours: list[Figure]
    paper: dict[Dataset, list[Figure]]
    runs: str


def write_table(plan: Plan, table: Table) -> list[Path]:
    """Everything about a table that can be told from the cells there are. Returns the files."""
    outcome, cells = Outcome.of(plan, table), finished_cells(plan, table)
    return write_files(plan, {**numbers(plan, outcome, cells), f"{table.name}.html": page(plan, outcome, cells)})


def finished_cells(plan: Plan, table: Table) -> list[Cell]:
    """Those that have something to tell, row by row."""
    return [cell for row in table.rows for cell in plan.cells_of(table, row) if cell.results is not None]


def numbers(plan: Plan, outcome: Outcome, cells: Sequence[Cell]) -> dict[str, str]:
    """What is not for the eye alone, by the name of its file."""
    name = outcome.table.name
    return {
        f"{name}.md": markdown(plan, outcome, cells),
        f"{name}.csv": comma_separated(outcome),
        f"{name}-runs.csv": runs(cells),
    }


def write_files(plan: Plan, content: Mapping[str, str]) -> list[Path]:
    """Each whole or not at all."""
    for name, text in content.items():
        write_text(plan.out / name, text)
    return [plan.out / name for name in content]


def lines(outcome: Outcome) -> list[Line]:
    """Row by row, ours and the paper's."""
    return [
        Line(
            row,
            [_ours(outcome, row, metric) for metric in METRICS],
            {
                dataset: [_theirs(outcome.table, row, dataset, place) for place in range(3)]
                for dataset in datasets(outcome.table)
            },
            f"{len(found.runs)} of {found.asked}" if len(found.runs) < found.asked else str(found.asked),
        )
        for row, found in ((row, outcome.found[row.key]) for row in outcome.table.rows)
    ]


def datasets(table: Table) -> list[Dataset]:
    """Those that the paper has figures of."""
    return [dataset for dataset in DATASETS if any(dataset in row.paper for row in table.rows)]


def markdown(plan: Plan, outcome: Outcome, cells: Sequence[Cell]) -> str:
    """For people, and for where no page can be shown."""
    table = outcome.table
    shown = datasets(table)
    head = ["", "labels", *(f"{NAMES[metric]} {ARROWS[metric]}" for metric in METRICS)]
    head += [f"{DATASETS[dataset]} {NAMES[metric]}" for dataset in shown for metric in METRICS] + ["runs"]
    text = [f"# {table.title}", "", about(plan, outcome), "", _row(head), _row(["---"] * len(head))]
    for line in lines(outcome):
        theirs = [str(figure) for dataset in shown for figure in line.paper[dataset]]
        name = f"&nbsp;&nbsp;{line.row.name}" if line.row.over else line.row.name
        text.append(_row([name, line.row.cost, *map(str, line.ours), *theirs, line.runs]))
    if table.note:
        text += ["", table.note]
    text += ["", "## What the paper says, and what came out here", "", READING, ""]
    for verdict in outcome.verdicts():
        text.append(f"- **{verdict.word}**: {verdict.claim.says}. (Paper: {verdict.claim.stands}.)")
        for rows, parts in _said(verdict):
            text.append(f"  - {rows}: {'; '.join(f'{amount} {word}' for amount, word in parts)}")
    return "\n".join([*text, "", made_with(plan, table, cells), ""])


def about(plan: Plan, outcome: Outcome) -> str:
    """What stands above the figures."""
    spread_over = "choices of the labelled frames" if any(row.selections for row in outcome.table.rows) else "seeds"
    return (
        f"{outcome.table.in_paper} of the paper on {plan.benchmark}. Ours: mean ± standard deviation over "
        f"{spread_over}, "
        "in points; in brackets the difference to the row that it stands under. Beside it the paper's own figures, "
        "from other data and another detector: compare differences, not heights."
        + ("" if outcome.complete else " Not all of it has been run yet.")
    )


def made_with(plan: Plan, table: Table, cells: Sequence[Cell]) -> str:
    """By what the figures were made."""
    commits = dict.fromkeys(commit for cell in cells if (commit := _commit(_environment(cell))))
    told = f", code of commit {', '.join(commits)}" if commits else ""
    return f"Made by `{shlex.join(plan.command(table))}`{told}. Run by run: {table.name}-runs.csv."


def comma_separated(outcome: Outcome) -> str:
    """One line for each row: all figures, as exact as they are."""
    rows: list[dict[str, Any]] = []
    for row in outcome.table.rows:
        found = outcome.found[row.key]
        line: dict[str, Any] = {"row": row.key, "strategy": row.strategy, "plug_in": row.plug_in, "labels": row.labels}
        line |= {"diagnosis": "true_boxes" if row.diagnosis else "", "runs": len(found.runs)}
        for metric in METRICS:
            values = list(found.values(metric).values())
            gained = list(outcome.differences(row.key, row.over, metric).values()) if row.over else []
            line |= {metric: _mean(values), f"{metric}_spread": spread(values), f"{metric}_difference": _mean(gained)}
        for dataset in DATASETS:
            figures = row.paper.get(dataset, (None,) * 3)
            line |= {f"{dataset}_{metric}": value for metric, value in zip(METRICS, figures, strict=True)}
        rows.append(line)
    return _csv(rows)


def runs(cells: Sequence[Cell]) -> str:
    """One line for each run, with what it was made by."""
    rows = []
    for cell in dict.fromkeys(cells):
        results, made = cell.results or {}, _environment(cell)
        figures = {
            key: results.get(key)
            for key in ("fap", "cap", "forgetfulness", "labelled_frames", "memory_bytes", "seconds")
        }
        rows.append(
            {"run": cell.name, "seed": cell.config.seed, **figures}
            | {"commit": _commit(made), "threads": made.get("threads"), "resumed": len(made.get("resumed", ()))}
            | {"command": shlex.join(map(str, made.get("command", ())))}
        )
    return _csv(rows)


def page(plan: Plan, outcome: Outcome, cells: Sequence[Cell]) -> str:
    """One file that needs nothing else."""
    table = outcome.table
    return rendered(
        Path(__file__).parent / "table.html.j2",
        table=table,
        about=about(plan, outcome),
        made_with=made_with(plan, table, cells),
        metrics=[f"{NAMES[metric]} {ARROWS[metric]}" for metric in METRICS],
        datasets=[(dataset, DATASETS[dataset]) for dataset in datasets(table)],
        lines=lines(outcome),
        reading=READING,
        verdicts=[(one, _said(one)) for one in outcome.verdicts()],
    )


def _ours(outcome: Outcome, row: Row, metric: Metric) -> Figure:
    values = list(outcome.found[row.key].values(metric).values())
    if not values:
        return Figure("–")
    noise = spread(values)
    text = _points(float(np.mean(values))) + ("" if noise is None else f" ± {noise:.1f}")
    gained = list(outcome.differences(row.key, row.over, metric).values()) if row.over else []
    return _figure(text, _mean(gained), metric)


def _theirs(table: Table, row: Row, dataset: Dataset, place: int) -> Figure:
    value = row.paper.get(dataset, (None,) * 3)[place]
    if value is None:
        return Figure("–")
    noise = row.paper_spread.get(dataset, (None,) * 3)[place]
    text = f"{value:.2f}" + ("" if noise is None else f" ± {noise:.2f}")
    base = table.row(row.over).paper.get(dataset, (None,) * 3)[place] if row.over else None
    return _figure(text, None if base is None else value - base, METRICS[place])


def _figure(text: str, difference: float | None, metric: Metric) -> Figure:
    better = difference is not None and (difference < 0 if metric in LOWER_IS_BETTER else difference > 0)
    return Figure(text, difference, better)


def _said(verdict: Verdict) -> list[tuple[str, list[tuple[str, Word]]]]:
    """The comparisons under a claim, rows by rows: what each metric shows, on average and run by run, and its word."""
    by_rows: dict[str, list[tuple[str, Word]]] = {}
    for one in verdict.comparisons:
        by_rows.setdefault(_between(one.rows), []).append((f"{NAMES[one.metric]} {_amount(one)}", one.word))
    return list(by_rows.items())


def _between(rows: tuple[str, ...]) -> str:
    if len(rows) == 4:
        return f"{rows[0]} over {rows[1]}, more than {rows[2]} over {rows[3]}"
    return " over ".join(rows)


def _amount(comparison: Comparison) -> str:
    values = comparison.differences
    if len(comparison.rows) == 1:
        return f"± {spread(values) or 0:.1f}"
    if not values:
        return "–"
    return f"{_signed(comparison.mean)} ({', '.join(map(_signed, values))})" if len(values) > 1 else _signed(values[0])


def _environment(cell: Cell) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(cell.directory.environment.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content


def _commit(made: dict[str, Any]) -> str:
    source = made.get("source") or {}
    return f"{str(source.get('commit'))[:10]}{' with changes' if source.get('changed') else ''}" if source else ""


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _points(value: float) -> str:
    # Adding zero turns -0.0 into 0.0.
    return f"{round(value, 1) + 0:.1f}"


def _signed(value: float) -> str:
    return f"{round(value, 1) + 0:+.1f}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    target = io.StringIO()
    writer = csv.DictWriter(target, list(rows[0]) if rows else ["run"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue()
