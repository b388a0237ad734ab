"""The rows, differences and verdicts of a table as people read them, on paper, on a page and on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from leocod.evaluation.metrics.base import PAPER_METRICS
from leocod.paper.columns import find_column
from leocod.paper.outcome import Comparison, Outcome, RowRuns, Verdict, Word
from leocod.paper.table import DATASETS, Dataset, Row, Table
from leocod.report.page import format_points

NO_FIGURES = (None, None, None)

DIFFERENCES = (
    "How much better the first row is, on average and run by run. Positive is better throughout: F +0.6 is 0.6 points "
    "less forgetting."
)
VERDICTS = (
    "A mean is within the spread unless it is larger than both the standard deviation of its runs and "
    "1 point divided by the root of their number: by 1 point the paper's own runs differ by chance. Where a claim "
    "says that something is no better or alike, a difference within the spread holds."
)
PAPER_TOO = "By the same rule, the paper's own figures are judged too."


@dataclass(frozen=True)
class Figure:
    """A figure of a table as text, with the difference to the row that it is compared with."""

    text: str
    change: str = ""
    """The difference, in brackets."""
    verdict: Literal["", "better", "worse"] = ""

    def __str__(self) -> str:
        return f"{self.text} {self.change}".strip()


@dataclass(frozen=True)
class Line:
    """A row of a table as text."""

    row: Row
    ours: list[Figure]
    paper: dict[Dataset, list[Figure]]
    runs: str


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its verdict and what the verdict rests on."""

    verdict: Verdict
    source: str
    """Where the paper says so, and what its own figures say."""
    comparisons: list[tuple[str, list[tuple[str, Word]]]]
    """The compared rows; for each metric the difference and its word."""


def build_lines(outcome: Outcome) -> list[Line]:
    """The rows of a table, with the paper's figures where there are some."""
    table = outcome.table
    return [
        Line(
            row,
            [_show_ours(outcome, row, metric) for metric in table.metrics],
            {
                dataset: [_show_paper(table, row, dataset, place) for place in range(3)]
                for dataset in list_datasets(table)
            },
            _count_runs(outcome.rows[row.key]),
        )
        for row in table.rows
    ]


def list_datasets(table: Table) -> list[Dataset]:
    """The data sets that the table has figures of the paper for."""
    return [dataset for dataset in DATASETS if any(dataset in row.paper for row in table.rows)]


def list_differences(outcome: Outcome) -> list[tuple[str, str, list[str]]]:
    """The comparisons that the table asks for: both rows, and the difference in each metric."""
    return [
        (first, second, [_show_difference(outcome.compare(metric, first, second)) for metric in outcome.table.metrics])
        for first, second in outcome.table.comparisons
    ]


def explain_claims(outcome: Outcome) -> list[JudgedClaim]:
    """Each claim of the table with its verdict."""
    sources = _describe_sources(outcome.table)
    return [
        JudgedClaim(verdict, source, _list_comparisons(verdict))
        for verdict, source in zip(outcome.judge_claims(), sources, strict=True)
    ]


def explain_verdicts(table: Table) -> str:
    """How to read the comparisons under a claim."""
    return " ".join([DIFFERENCES, VERDICTS, *([PAPER_TOO] if list_datasets(table) else [])])


def _show_ours(outcome: Outcome, row: Row, metric: str) -> Figure:
    runs = outcome.rows[row.key]
    mean, spread = runs.mean(metric), runs.spread(metric)
    if mean is None:
        return Figure("–")
    text = format_points(mean) + ("" if spread is None else f" ± {spread:.1f}")
    return _show_change(text, outcome.mean_difference(row, metric), metric)


def _show_paper(table: Table, row: Row, dataset: Dataset, place: int) -> Figure:
    value = row.paper.get(dataset, NO_FIGURES)[place]
    if value is None:
        return Figure("–")
    spread = row.paper_spread.get(dataset, NO_FIGURES)[place]
    base = table.row(row.over).paper.get(dataset, NO_FIGURES)[place] if row.over else None
    text = _typeset_minus(f"{value:.2f}") + ("" if spread is None else f" ± {spread:.2f}")
    return _show_change(text, None if base is None else value - base, PAPER_METRICS[place], digits=2)


def _show_change(text: str, difference: float | None, metric: str, digits: int = 1) -> Figure:
    if difference is None:
        return Figure(text)
    rounded = round(difference, digits) + 0
    better = rounded < 0 if find_column(metric).lower_is_better else rounded > 0
    verdict: Literal["", "better", "worse"] = "" if not rounded else "better" if better else "worse"
    return Figure(text, _typeset_minus(f"({rounded:+.{digits}f})"), verdict)


def _count_runs(row: RowRuns) -> str:
    return f"{len(row.runs)} of {row.expected}" if len(row.runs) < row.expected else str(row.expected)


def _describe_sources(table: Table) -> list[str]:
    """Where the paper makes each claim, and the verdict on its own figures by the same rule."""
    verdicts = {name: Outcome.from_paper(table, dataset).judge_claims() for dataset, name in DATASETS.items()}
    sources = []
    for place, claim in enumerate(table.claims):
        words = {name: of_all[place].word for name, of_all in verdicts.items()}
        known = ", ".join(f"{name} {word}" for name, word in words.items() if word != "not run")
        figures = f" Its own figures: {known}." if known else ""
        sources.append(f"{claim.source}.{figures}" if claim.source else "")
    return sources


def _list_comparisons(verdict: Verdict) -> list[tuple[str, list[tuple[str, Word]]]]:
    by_rows: dict[str, list[tuple[str, Word]]] = {}
    for comparison in verdict.comparisons:
        text = f"{find_column(comparison.metric).label} {_show_difference(comparison)}"
        by_rows.setdefault(_name_rows(comparison.rows), []).append((text, comparison.word))
    return list(by_rows.items())


def _name_rows(rows: Sequence[str]) -> str:
    if len(rows) == 4:
        return f"{rows[0]} over {rows[1]}, more than {rows[2]} over {rows[3]}"
    return " over ".join(rows)


def _show_difference(comparison: Comparison) -> str:
    """On average and run by run; of a steady row its spread."""
    values = comparison.differences
    if len(comparison.rows) == 1:
        return "–" if comparison.spread is None else f"± {comparison.spread:.1f}"
    if not values:
        return "–"
    return f"{_sign(comparison.mean)} ({', '.join(map(_sign, values))})" if len(values) > 1 else _sign(values[0])


def _sign(value: float) -> str:
    # Adding zero turns -0.0 into 0.0.
    return _typeset_minus(f"{round(value, 1) + 0:+.1f}")


def _typeset_minus(text: str) -> str:
    return text.replace("-", "−")
