"""A table as files: Markdown and CSV to read and to compute with, and a page that stands alone."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from leocod.errors import InvalidRun
from leocod.files.atomic import write_text
from leocod.paper.cells import Cell
from leocod.paper.outcome import Comparison, Outcome, Verdict, Word
from leocod.paper.plan import Plan
from leocod.paper.table import DATASETS, LOWER_IS_BETTER, METRICS, Dataset, Metric, Row, Table
from leocod.report.page import format_points, render_template
from leocod.report.reading import Run

NAMES: dict[Metric, str] = {"fap": "FAP", "cap": "CAP", "f": "F"}
NO_FIGURES = (None, None, None)
ARROWS: dict[Metric, str] = {metric: "↓" if metric in LOWER_IS_BETTER else "↑" for metric in METRICS}


READING = (
    "How much better the first row is, on average and run by run. Positive is better throughout: F +0.6 is 0.6 points "
    "less forgetting. A mean is within the spread unless it is larger than both the standard deviation of its runs and "
    "1 point divided by the root of their number: by 1 point the paper's own runs differ by chance. Where a claim "
    "says that something is no better or alike, a difference within the spread holds. By the same rule, the paper's "
    "own figures are judged too."
)
"""What the numbers under a claim are."""


@dataclass(frozen=True)
class Figure:
    """A number of a table as it is shown, with the difference to the row that it is compared with."""

    text: str
    change: str = ""
    """The difference, in brackets."""
    verdict: Literal["", "better", "worse"] = ""

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
    for verdict, own in zip(outcome.verdicts(), _own(table), strict=True):
        text.append(f"- **{verdict.word}**: {verdict.claim.says}. (Paper: {verdict.claim.stands}.{own})")
        for rows, parts in _said(verdict):
            text.append(f"  - {rows}: {'; '.join(f'{amount} {word}' for amount, word in parts)}")
    return "\n".join([*text, "", made_with(plan, table, cells), ""])


def about(plan: Plan, outcome: Outcome) -> str:
    """What stands above the figures."""
    table = outcome.table
    spread_over = "choices of the labelled frames" if any(row.selections for row in table.rows) else "seeds"
    several = any(found.asked > 1 for found in outcome.found.values())
    ours = f"mean ± standard deviation over {spread_over}" if several else "single runs"
    told = [
        f"{table.in_paper} of the paper on {plan.benchmark}.",
        f"Ours: {ours}, in points; in brackets the difference to the row that it stands under.",
    ]
    if not several:
        told.append("Single runs differ by chance: more seeds tell what a difference of some points is worth.")
    if datasets(table):
        told.append("Beside it the paper's, from other data and another detector: compare differences, not heights.")
    if not outcome.complete:
        told.append("Not all of it has been run yet.")
    return " ".join(told)


def made_with(plan: Plan, table: Table, cells: Sequence[Cell]) -> str:
    """By what the figures were made."""
    commits = dict.fromkeys(commit for cell in cells for commit in _commits(cell))
    told = f", code of commit {', '.join(commits)}" if commits else ""
    return f"Made by `{shlex.join(plan.command(table))}`{told}. Run by run: {table.name}-runs.csv."


def comma_separated(outcome: Outcome) -> str:
    """One line for each row: all figures, as exact as they are."""
    rows: list[dict[str, Any]] = []
    for row in outcome.table.rows:
        found = outcome.found[row.key]
        line: dict[str, Any] = {"row": row.key, "strategy": row.strategy, "plug_in": row.plug_in, "labels": row.labels}
        line |= {"diagnosis": "true_boxes" if row.diagnosis else "", "over": row.over, "runs": len(found.runs)}
        for metric in METRICS:
            values = list(found.values(metric).values())
            line |= {metric: _mean(values), f"{metric}_spread": found.spread(metric)}
            line[f"{metric}_difference"] = _mean(outcome.gained(row, metric))
        for dataset in DATASETS:
            figures = row.paper.get(dataset, NO_FIGURES)
            line |= {f"{dataset}_{metric}": value for metric, value in zip(METRICS, figures, strict=True)}
        rows.append(line)
    return _csv(rows)


def runs(cells: Sequence[Cell]) -> str:
    """One line for each run, with what it was made by."""
    rows = []
    for cell in dict.fromkeys(cells):
        results, made = cell.results, cell.environment
        scores = results.scores if results else {}
        names = {"fap": "fap", "cap": "cap", "forgetfulness": "forgetting"}
        figures = {column: scores.get(name) for column, name in names.items()}
        figures |= {key: getattr(results, key, None) for key in ("labelled_frames", "memory_bytes", "seconds")}
        rows.append(
            {"run": cell.name, "seed": cell.config.seed, **figures, **_pseudo_labels(cell)}
            | {
                "commit": " ".join(_commits(cell)),
                "threads": made.get("threads"),
                "resumed": len(made.get("resumed", ())),
            }
            | {"command": shlex.join(map(str, made.get("command", ())))}
        )
    return _csv(rows)


def page(plan: Plan, outcome: Outcome, cells: Sequence[Cell]) -> str:
    """One file that needs nothing else."""
    table = outcome.table
    return render_template(
        Path(__file__).parent / "table.html.j2",
        table=table,
        about=about(plan, outcome),
        made_with=made_with(plan, table, cells),
        metrics=[f"{NAMES[metric]} {ARROWS[metric]}" for metric in METRICS],
        datasets=[(dataset, DATASETS[dataset]) for dataset in datasets(table)],
        lines=lines(outcome),
        reading=READING,
        verdicts=[(one, own, _said(one)) for one, own in zip(outcome.verdicts(), _own(table), strict=True)],
    )


def _ours(outcome: Outcome, row: Row, metric: Metric) -> Figure:
    found = outcome.found[row.key]
    mean, noise = _mean(list(found.values(metric).values())), found.spread(metric)
    if mean is None:
        return Figure("–")
    text = format_points(mean) + ("" if noise is None else f" ± {noise:.1f}")
    return _figure(text, _mean(outcome.gained(row, metric)), metric)


def _theirs(table: Table, row: Row, dataset: Dataset, place: int) -> Figure:
    value = row.paper.get(dataset, NO_FIGURES)[place]
    if value is None:
        return Figure("–")
    noise = row.paper_spread.get(dataset, NO_FIGURES)[place]
    base = table.row(row.over).paper.get(dataset, NO_FIGURES)[place] if row.over else None
    text = _minus(f"{value:.2f}") + ("" if noise is None else f" ± {noise:.2f}")
    return _figure(text, None if base is None else value - base, METRICS[place], digits=2)


def _figure(text: str, difference: float | None, metric: Metric, digits: int = 1) -> Figure:
    if difference is None:
        return Figure(text)
    shown = round(difference, digits) + 0
    better = shown < 0 if metric in LOWER_IS_BETTER else shown > 0
    return Figure(text, _minus(f"({shown:+.{digits}f})"), "" if not shown else "better" if better else "worse")


def _own(table: Table) -> list[str]:
    """What the paper's own figures say about each claim, by the same rule."""
    verdicts = {name: Outcome.of_paper(table, dataset).verdicts() for dataset, name in DATASETS.items()}
    told = [
        [f"{name} {of_all[place].word}" for name, of_all in verdicts.items() if of_all[place].word != "not run"]
        for place in range(len(table.claims))
    ]
    return [f" Its own figures: {', '.join(words)}." if words else "" for words in told]


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
        return "–" if comparison.spread is None else f"± {comparison.spread:.1f}"
    if not values:
        return "–"
    return f"{_signed(comparison.mean)} ({', '.join(map(_signed, values))})" if len(values) > 1 else _signed(values[0])


def _pseudo_labels(cell: Cell) -> dict[str, int | None]:
    """How many there were, how many of them were right, and how many objects they could have named."""
    try:
        run = Run.load(cell.path)
    except InvalidRun:
        counts: tuple[int | None, ...] = NO_FIGURES
    else:
        audit = run.audit
        counts = (audit.labels, audit.right, audit.objects) if run.audits else NO_FIGURES
    return dict(zip(("pseudo_labels", "pseudo_right", "pseudo_objects"), counts, strict=True))


def _commits(cell: Cell) -> list[str]:
    """Of the code that a run was begun with, and gone on with."""
    made = cell.environment
    sources = [one.get("source") or {} for one in (made, *made.get("resumed", ()))]
    told = [f"{str(one['commit'])[:10]}{' with changes' if one.get('changed') else ''}" for one in sources if one]
    return list(dict.fromkeys(told))


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _signed(value: float) -> str:
    # Adding zero turns -0.0 into 0.0.
    return _minus(f"{round(value, 1) + 0:+.1f}")


def _minus(text: str) -> str:
    return text.replace("-", "−")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    target = io.StringIO()
    writer = csv.DictWriter(target, list(rows[0]) if rows else ["run"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue()
