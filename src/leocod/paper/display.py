"""The rows, differences and verdicts of a table as people read them, on paper, on a page and on a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from leocod.evaluation.intervals import Difference, Interval
from leocod.evaluation.metrics.base import PAPER_METRICS
from leocod.paper.columns import find_column
from leocod.paper.outcome import Comparison, Outcome, RowRuns, Verdict
from leocod.paper.table import DATASETS, Dataset, Row, Table
from leocod.paper.verdicts import TIE, Word
from leocod.report.page import format_points
from leocod.text import pluralize

NO_FIGURES = (None, None, None)

DIFFERENCES = (
    "How much better the first row is on average, in square brackets its 95 % interval, in round ones run by run. "
    "Positive is better throughout: F +0.6 is 0.6 points less forgetting."
)
OVER_SEEDS = (
    "The interval over seeds alone says what other seeds would give with the same classes. The first interval also "
    "allows for other classes of the same kind, and the verdict rests on it. With few seeds the one over seeds can be "
    "wider: only the seeds tell how well it is known."
)
VERDICTS = (
    "That a row is better holds when the whole interval is above 0, does not hold when it is below 0, and is undecided "
    "otherwise."
)
PAPER_TOO = (
    "The paper's own figures are single numbers, without classes and intervals: they are judged by their sign, where "
    "less than {tie:g} point is undecided, or by the margin."
)


@dataclass(frozen=True)
class Figure:
    """A figure of a table as text, with the difference to the row that it is compared with."""

    text: str
    change: str = ""
    """The difference and its interval, in brackets."""
    verdict: Literal["", "better", "worse"] = ""
    """Empty where the interval does not tell."""

    def __str__(self) -> str:
        return f"{self.text} {self.change}".strip()


@dataclass(frozen=True)
class Line:
    """A row of a table as text."""

    row: Row
    ours: list[Figure]
    paper: dict[Dataset, list[Figure]]
    runs: str
    over: str
    """The row that it is compared with."""


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
            _name_other(table, row),
        )
        for row in table.rows
    ]


def stand_under_their_rows(table: Table) -> bool:
    """Whether each row that is compared stands, further in, under the row that it is compared with."""
    last = None
    for row in table.rows:
        if row.over is None:
            last = row.key
        elif row.over != last:
            return False
    return True


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


def explain_verdicts(outcome: Outcome) -> str:
    """How to read the comparisons under a claim."""
    table = outcome.table
    comparisons = [one for verdict in outcome.judge_claims() for one in verdict.comparisons]
    sentences = [DIFFERENCES, *([OVER_SEEDS] if any(map(_find_over_seeds, comparisons)) else []), VERDICTS]
    if margins := sorted({claim.margin for claim in table.claims if claim.no_better or claim.alike}):
        sentences.append(
            "That a row is no better, or that two are alike, holds when the whole interval is within the margin "
            f"({' or '.join(map(count_points, margins))}), does not hold when it is all beyond the margin, "
            "and is undecided otherwise."
        )
    if list_datasets(table):
        sentences.append(PAPER_TOO.format(tie=TIE))
    return " ".join(sentences)


def explain_intervals(outcome: Outcome) -> str:
    """What the intervals of a table rest on, and what chance alone does."""
    chance, rows = outcome.table.chance, outcome.rows.values()
    known = [bool(record.by_class) for row in rows for record in row.records.values()]
    has_classes = any(known)
    over = "seeds and classes" if has_classes else "seeds only, as these runs have no figures by class on record"
    if has_classes and not all(known):
        over += " where both rows have figures by class on record, else over seeds only"
    alone = " Where rows have one run in common, the interval is over classes and takes this for the seeds."
    if not has_classes:
        alone = " Where rows have one run in common, the interval is what chance does."
    several = any(len(row.runs) > 1 for row in rows)
    single = any(len(row.runs) == 1 for row in rows)
    return (
        (f"Intervals are 95 %, over {over}. " if several else "Intervals are 95 %. ")
        + f"Chance alone moves a single run by about {count_points(chance)}, and the difference of two by about "
        + f"{count_points(round(chance * 2**0.5, 1))}.{alone if single else ''}"
    )


def count_points(points: float) -> str:
    """As a person says it: 1 point, 1.4 points."""
    return f"{points:g} {'point' if points == 1 else 'points'}"


def _show_ours(outcome: Outcome, row: Row, metric: str) -> Figure:
    runs = outcome.rows[row.key]
    mean, spread = runs.mean(metric), runs.spread(metric)
    if mean is None:
        return Figure("–")
    text = format_points(mean) + ("" if spread is None else f" ± {spread:.1f}")
    if (count := len(runs.values(metric))) < len(runs.runs):
        text += f" ({pluralize(count, 'run')})"
    difference = outcome.difference(row, metric)
    return Figure(text) if difference is None else _show_change(text, difference, metric)


def _name_other(table: Table, row: Row) -> str:
    """The name of the row that a row is compared with, and its cost where other rows have the same name."""
    if row.over is None:
        return ""
    other = table.row(row.over)
    twins = [one for one in table.rows if one.title == other.title]
    return other.title if len(twins) == 1 else f"{other.title}, {other.cost}"


def _show_paper(table: Table, row: Row, dataset: Dataset, place: int) -> Figure:
    value = row.paper.get(dataset, NO_FIGURES)[place]
    if value is None:
        return Figure("–")
    spread = row.paper_spread.get(dataset, NO_FIGURES)[place]
    base = table.row(row.over).paper.get(dataset, NO_FIGURES)[place] if row.over else None
    text = _typeset_minus(f"{value:.2f}") + ("" if spread is None else f" ± {spread:.2f}")
    if base is None:
        return Figure(text)
    return _show_change(text, Difference((value - base,), None), PAPER_METRICS[place], digits=2)


def _show_change(text: str, difference: Difference, metric: str, digits: int = 1) -> Figure:
    """Coloured by the interval, where there is one; what can be 0 has no colour."""
    rounded = round(difference.mean, digits) + 0
    low, high = difference.interval or (rounded, rounded)
    lower_is_better = find_column(metric).lower_is_better
    verdict: Literal["", "better", "worse"] = ""
    if rounded and (low > 0 or high < 0):
        verdict = "better" if (high < 0) == lower_is_better else "worse"
    return Figure(text, f"({_sign(rounded, digits)}{_show_interval(difference.interval)})", verdict)


def _count_runs(row: RowRuns) -> str:
    return f"{len(row.runs)} of {row.expected}" if len(row.runs) < row.expected else str(row.expected)


def _describe_sources(table: Table) -> list[str]:
    """Where the paper makes each claim, and the verdict on its own figures."""
    verdicts = {name: Outcome.from_paper(table, dataset).judge_claims() for dataset, name in DATASETS.items()}
    sources = []
    for place, claim in enumerate(table.claims):
        words = {name: of_all[place].word for name, of_all in verdicts.items()}
        known = ", ".join(
            f"{name} {word}" for name, word in words.items() if word not in ("not run", "cannot be compared")
        )
        figures = f" Its own figures: {known}." if known else ""
        sources.append(f"{claim.source}.{figures}" if claim.source else "")
    return sources


def _list_comparisons(verdict: Verdict) -> list[tuple[str, list[tuple[str, Word]]]]:
    by_rows: dict[str, list[tuple[str, Word]]] = {}
    for comparison in verdict.comparisons:
        text = f"{find_column(comparison.metric).label} {_show_difference(comparison)}"
        by_rows.setdefault(_name_rows(comparison), []).append((text, comparison.word))
    return list(by_rows.items())


def _name_rows(comparison: Comparison) -> str:
    rows = comparison.rows
    if comparison.is_average:
        pairs = zip(rows[::2], rows[1::2], strict=True)
        return f"the mean of {'; '.join(' over '.join(pair) for pair in pairs)}"
    if len(rows) == 4:
        return f"{rows[0]} over {rows[1]}, more than {rows[2]} over {rows[3]}"
    return " over ".join(rows)


def _show_difference(comparison: Comparison) -> str:
    """On average, with its interval, and run by run; of a steady row its spread."""
    if len(comparison.rows) == 1:
        return "–" if comparison.spread is None else f"± {comparison.spread:.1f}"
    difference = comparison.difference
    if difference is None:
        return "–"
    by_run = f" ({', '.join(map(_sign, difference.by_run))})" if len(difference.by_run) > 1 else ""
    interval = _find_over_seeds(comparison)
    over_seeds = f", over seeds alone{_show_interval(interval)}" if interval else ""
    return f"{_sign(difference.mean)}{_show_interval(difference.interval)}{by_run}{over_seeds}"


def _find_over_seeds(comparison: Comparison) -> Interval | None:
    """A few classes may decide the interval of a mean over pairs, though every run of every pair says the same."""
    return comparison.difference.over_seeds if comparison.is_average and comparison.difference else None


def _show_interval(interval: Interval | None) -> str:
    if interval is None:
        return ""
    low, high = map(_show_bound, interval)
    return f" [{low}, {high}]"


def _show_bound(value: float) -> str:
    """Near 0 the side decides: it is seen, however near."""
    if not value or round(value, 1):
        return _sign(value)
    return _typeset_minus(f"{value:+.2f}")


def _sign(value: float, digits: int = 1) -> str:
    # Adding zero turns -0.0 into 0.0.
    return _typeset_minus(f"{round(value, digits) + 0:+.{digits}f}")


def _typeset_minus(text: str) -> str:
    return text.replace("-", "−")
