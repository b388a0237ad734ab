"""What the cells of a table gave: mean and spread over runs, differences run by run, and a verdict on each claim.

The spread, written ±, is the same everywhere: the sample standard deviation over the runs of a row. A single run has
none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from leocod.evaluation.metrics.base import PAPER_METRICS
from leocod.paper.cells import Cell
from leocod.paper.columns import find_column
from leocod.paper.plan import Plan
from leocod.paper.table import Claim, Dataset, Row, Table

Word = Literal["holds", "does not hold", "within the spread", "not run"]

Place = tuple[int, int | None]
"""Which run of a row: its seed, and the number of its choice of labelled frames."""

CHANCE = 1.0
"""Points by which a single run differs by chance: about the spread of the paper's own runs (its Table S8)."""


def spread(groups: Iterable[Sequence[float]]) -> float | None:
    """Sample standard deviation, pooled over groups of runs; None where every group is a single run.

    >>> spread([[1.0, 3.0]]), spread([[1.0]])
    (1.4142135623730951, None)
    """
    several = [group for group in groups if len(group) > 1]
    if len(several) < 2:
        return float(np.std(several[0], ddof=1)) if several else None
    squares = sum(np.var(group, ddof=1) * (len(group) - 1) for group in several)
    return float(np.sqrt(squares / sum(len(group) - 1 for group in several)))


@dataclass(frozen=True)
class RowRuns:
    """The finished runs of one row."""

    row: Row
    runs: Mapping[Place, Mapping[str, float]]
    expected: int
    """Runs that the row takes."""

    def values(self, metric: str) -> dict[Place, float]:
        """The metric of each run; without runs for which it is undefined."""
        return {place: scores[metric] for place, scores in self.runs.items() if metric in scores}

    def mean(self, metric: str) -> float | None:
        """Over the runs."""
        return mean(list(self.values(metric).values()))

    def spread(self, metric: str) -> float | None:
        """Over seeds; for choices of labelled frames over the choices of each seed, since another seed is another
        world."""
        groups: dict[int | None, list[float]] = defaultdict(list)
        for (seed, _), value in self.values(metric).items():
            groups[seed if self.row.selections else None].append(value)
        return spread(groups.values())


@dataclass(frozen=True)
class Comparison:
    """One metric of some rows, run by run: how much better the first row is."""

    metric: str
    rows: tuple[str, ...]
    differences: tuple[float, ...]
    """Positive is better, also where lower is better. Empty for a steady row."""
    word: Word
    spread: float | None = None
    """The spread of a steady row."""

    @property
    def mean(self) -> float:
        return float(np.mean(self.differences))


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds."""

    claim: Claim
    word: Word
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True)
class Outcome:
    """A table with the runs that have finished."""

    table: Table
    rows: Mapping[str, RowRuns]
    """By the key of the row."""

    @classmethod
    def read(cls, plan: Plan, table: Table) -> Outcome:
        """From the cells."""
        return cls(table, {row.key: _read_row(row, plan.cells_of(table, row)) for row in table.rows})

    @classmethod
    def from_paper(cls, table: Table, dataset: Dataset) -> Outcome:
        """The paper's own figures as one run of each row."""
        rows = {}
        for row in table.rows:
            figures = zip(PAPER_METRICS, row.paper.get(dataset, ()), strict=False)
            scores: dict[str, float] = {metric: value for metric, value in figures if value is not None}
            rows[row.key] = RowRuns(row, {(0, None): scores} if scores else {}, 1)
        return cls(table, rows)

    @property
    def complete(self) -> bool:
        return all(len(row.runs) == row.expected for row in self.rows.values())

    def differences(self, first: str, second: str, metric: str) -> dict[Place, float]:
        """How much higher the first row is than the second, in the runs that both have."""
        high, low = self.rows[first].values(metric), self.rows[second].values(metric)
        return {place: high[place] - low[place] for place in high if place in low}

    def mean_difference(self, row: Row, metric: str) -> float | None:
        """How much higher a row is than the one that it is compared with."""
        return mean(list(self.differences(row.key, row.over, metric).values())) if row.over else None

    def compare(self, metric: str, first: str, second: str) -> Comparison:
        """How much better the first row is than the second."""
        differences = tuple(self._improvements(metric, first, second).values())
        return Comparison(metric, (first, second), differences, _judge(differences))

    def judge_claims(self) -> list[Verdict]:
        """A verdict on each claim."""
        return [self._judge_claim(claim) for claim in self.table.claims]

    def _judge_claim(self, claim: Claim) -> Verdict:
        comparisons = tuple(
            comparison
            for metric in claim.metrics
            for comparison in (
                *(self.compare(metric, *pair) for pair in claim.better),
                *(self._compare_gains(metric, rows) for rows in claim.gains),
                *(self._expect_no_better(metric, pair) for pair in claim.no_better),
                *(self._expect_alike(metric, pair) for pair in claim.alike),
                *(self._expect_steady(metric, row, claim.at_most or 0.0) for row in claim.steady),
            )
        )
        return Verdict(claim, _find_worst([comparison.word for comparison in comparisons]), comparisons)

    def _improvements(self, metric: str, first: str, second: str) -> dict[Place, float]:
        sign = -1 if find_column(metric).lower_is_better else 1
        return {place: sign * value for place, value in self.differences(first, second, metric).items()}

    def _compare_gains(self, metric: str, rows: tuple[str, str, str, str]) -> Comparison:
        gain, reference = self._improvements(metric, *rows[:2]), self._improvements(metric, *rows[2:])
        differences = tuple(gain[place] - reference[place] for place in gain if place in reference)
        return Comparison(metric, rows, differences, _judge(differences))

    def _expect_no_better(self, metric: str, pair: tuple[str, str]) -> Comparison:
        better = self.compare(metric, *pair)
        words: Mapping[Word, Word] = {"holds": "does not hold", "not run": "not run"}
        return replace(better, word=words.get(better.word, "holds"))

    def _expect_alike(self, metric: str, pair: tuple[str, str]) -> Comparison:
        compared = self.compare(metric, *pair)
        words: Mapping[Word, Word] = {"within the spread": "holds", "not run": "not run"}
        return replace(compared, word=words.get(compared.word, "does not hold"))

    def _expect_steady(self, metric: str, row: tuple[str], at_most: float) -> Comparison:
        value = self.rows[row[0]].spread(metric)
        word: Word = "not run" if value is None else "holds" if value <= at_most else "does not hold"
        return Comparison(metric, row, (), word, value)


def mean(values: Sequence[float]) -> float | None:
    """None where there are no values."""
    return float(np.mean(values)) if values else None


def _read_row(row: Row, cells: Sequence[Cell]) -> RowRuns:
    runs: dict[Place, Mapping[str, float]] = {}
    for number, cell in enumerate(cells):
        if (scores := cell.scores) is not None:
            runs[cell.config.seed, number % row.selections if row.selections else None] = scores
    return RowRuns(row, runs, len(cells))


def _judge(differences: Sequence[float]) -> Word:
    """Within the spread, unless the mean is larger than both the spread and what chance does to it."""
    if not differences:
        return "not run"
    least = CHANCE / np.sqrt(len(differences))
    if abs(np.mean(differences)) <= max(spread([differences]) or 0.0, least):
        return "within the spread"
    return "holds" if np.mean(differences) > 0 else "does not hold"


def _find_worst(words: Sequence[Word]) -> Word:
    """A claim is as good as the worst of its comparisons."""
    order: tuple[Word, ...] = ("does not hold", "not run", "within the spread", "holds")
    return min(words, key=order.index)
