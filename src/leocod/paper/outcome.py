"""What the cells of a table gave: mean and spread over runs, differences with their intervals, a verdict on each claim.

The spread, written ±, is the same everywhere: the sample standard deviation over the runs of a row. A single run has
none. The interval of a difference, in square brackets, is what the verdicts rest on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from leocod.evaluation.intervals import (
    SIGNS,
    UNKNOWN,
    Difference,
    SeedVariance,
    measure_paired,
    measure_runs,
    measure_single,
    pool_pairs,
    subtract_by_class,
)
from leocod.evaluation.metrics.base import PAPER_METRICS
from leocod.paper.cells import Cell
from leocod.paper.claim import Claim
from leocod.paper.columns import find_column
from leocod.paper.plan import Plan
from leocod.paper.record import RunRecord
from leocod.paper.table import Dataset, Row, Table
from leocod.paper.verdicts import Judge, Word, find_worst, judge_alike, judge_better, judge_figure, judge_no_better

Place = tuple[int, int | None]
"""Which run of a row: its seed, and the number of its choice of labelled frames."""


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
    records: Mapping[Place, RunRecord] = field(default_factory=dict)
    """All that is known about the runs. The paper's own figures have none."""

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
    """One metric of some rows: how much better the first row is."""

    metric: str
    rows: tuple[str, ...]
    difference: Difference | None
    """Positive is better, also where lower is better. None for a steady row, and where no run is there."""
    word: Word
    spread: float | None = None
    """The spread of a steady row."""
    is_average: bool = False
    """Whether the rows are pairs, and this is the mean over them."""


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
    is_paper: bool = False
    """Whether these are the paper's own figures: single numbers, which no interval can be taken from."""

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
        return cls(table, rows, is_paper=True)

    @property
    def complete(self) -> bool:
        return all(len(row.runs) == row.expected for row in self.rows.values())

    def subtract(self, metric: str, *rows: str, signs: Sequence[float] = SIGNS) -> Difference | None:
        """How much higher the first row is than the second, and how much more so than the third than the fourth.

        Other signs make other sums of the rows. None where no run is in all the rows. The paper's own figures have no
        interval.
        """
        signs = signs[: len(rows)]
        values = [self.rows[key].values(metric) for key in rows]
        places = [place for place in values[0] if all(place in other for other in values)]
        if not places:
            return None
        by_run = tuple(sum(sign * value[place] for sign, value in zip(signs, values, strict=True)) for place in places)
        if self.is_paper:
            return Difference(by_run, None)
        by_class = self._subtract_by_class(metric, rows, places, signs)
        weights = _weigh_rows(rows, signs)
        seeds = {seed for seed, _ in places}
        values_by_seed, expected = by_run, UNKNOWN
        if len(places) == 1:
            # What a seed does to all pairs of a mean does not average out: never less than for one pair.
            by_chance = self.table.chance**2 * max(2.0, sum(weight**2 for weight in weights))
            error = measure_single(None if by_class is None else by_class[0], by_chance=by_chance)
        elif 1 < len(seeds) < len(places):
            # Choices of labelled frames in one world are not runs of other worlds: each seed counts once.
            of_classes = None if by_class is None else _average_by_seed(by_class, places)
            values_by_seed = tuple(_average_by_seed(np.asarray(by_run), places).tolist())
            error = measure_paired(values_by_seed, of_classes)
        else:
            expected = self._expect(metric, places, weights)
            error = measure_paired(by_run, by_class, expected)
        mean_difference = float(np.mean(by_run))
        # Two seeds hardly tell. Where nothing is known by class, the interval is over seeds as it is.
        tells = by_class is not None and len(seeds) > 2
        over_seeds = measure_runs(values_by_seed, expected).surround(mean_difference) if tells else None
        return Difference(by_run, error.surround(mean_difference), over_seeds)

    def _expect(self, metric: str, places: Sequence[Place], weights: Sequence[float]) -> SeedVariance:
        """What all comparisons of the table that have these runs tell about how much one varies from seed to seed."""
        # In a mean over pairs, what a seed does to all pairs does not average out: its own runs must tell.
        if any(abs(weight) < 1 for weight in weights):
            return UNKNOWN
        values = {key: row.values(metric) for key, row in self.rows.items()}
        there = {key for key, of_row in values.items() if all(place in of_row for place in places)}
        pairs = [pair for pair in list_pairs(self.table) if there.issuperset(pair)]
        if not pairs:
            return UNKNOWN
        pooled = pool_pairs(
            np.array([[values[first][place] - values[second][place] for place in places] for first, second in pairs]),
            rows=len({key for pair in pairs for key in pair}),
        )
        # A gain over another gain varies as two differences do.
        return SeedVariance(pooled.variance * sum(weight**2 for weight in weights) / 2, pooled.degrees)

    def _subtract_by_class(
        self, metric: str, rows: Sequence[str], places: Sequence[Place], signs: Sequence[float]
    ) -> NDArray[np.float64] | None:
        records = [[self.rows[key].records.get(place) for place in places] for key in rows]
        return subtract_by_class(
            [[{} if one is None else one.by_class.get(metric, {}) for one in of_row] for of_row in records], signs
        )

    def difference(self, row: Row, metric: str) -> Difference | None:
        """How much higher a row is than the one that it is compared with."""
        return self.subtract(metric, row.key, row.over) if row.over else None

    def compare(
        self, metric: str, *rows: str, judge: Judge = judge_better, signs: Sequence[float] = SIGNS
    ) -> Comparison:
        """How much better the first row is than the second, or one gain than another."""
        difference = self.subtract(metric, *rows, signs=signs)
        if difference is None:
            return Comparison(metric, rows, None, self._explain_absence(rows))
        if find_column(metric).lower_is_better:
            difference = difference.flip()
        interval = difference.interval
        word = judge_figure(difference.mean, judge) if interval is None else judge(interval)
        return Comparison(metric, rows, difference, word)

    def _explain_absence(self, rows: Sequence[str]) -> Word:
        """Where all rows have runs, none is in all of them, or the metric is not defined there."""
        return "cannot be compared" if all(self.rows[key].runs for key in rows) else "not run"

    def judge_claims(self) -> list[Verdict]:
        """A verdict on each claim."""
        return list(self._verdicts)

    @cached_property
    def _verdicts(self) -> tuple[Verdict, ...]:
        """Judged once: text, page and terminal ask for them."""
        return tuple(self._judge_claim(claim) for claim in self.table.claims)

    def _judge_claim(self, claim: Claim) -> Verdict:
        no_better = partial(judge_no_better, margin=claim.margin)
        alike = partial(judge_alike, margin=claim.margin)
        comparisons = tuple(
            comparison
            for metric in claim.metrics
            for comparison in (
                *(self.compare(metric, *rows) for rows in (*claim.better, *claim.gains)),
                *self._compare_on_average(metric, claim.on_average),
                *(self.compare(metric, *pair, judge=no_better) for pair in claim.no_better),
                *(self.compare(metric, *pair, judge=alike) for pair in claim.alike),
                *(self._expect_steady(metric, row, claim.at_most or 0.0) for row in claim.steady),
            )
        )
        return Verdict(claim, find_worst([comparison.word for comparison in comparisons]), comparisons)

    def _compare_on_average(self, metric: str, pairs: Sequence[tuple[str, str]]) -> list[Comparison]:
        """How much better the first rows are than the second ones, in the mean over the pairs; nothing for none."""
        if not pairs:
            return []
        signs = [sign / len(pairs) for _ in pairs for sign in (1, -1)]
        average = self.compare(metric, *(key for pair in pairs for key in pair), signs=signs)
        return [replace(average, is_average=True)]

    def _expect_steady(self, metric: str, row: tuple[str], at_most: float) -> Comparison:
        value = self.rows[row[0]].spread(metric)
        word: Word = "not run" if value is None else "holds" if value <= at_most else "does not hold"
        return Comparison(metric, row, None, word, value)


def _average_by_seed(values: NDArray[np.float64], places: Sequence[Place]) -> NDArray[np.float64]:
    """Runs first -> seeds first: the mean over the runs of each seed."""
    seeds = np.array([seed for seed, _ in places])
    return np.array([values[seeds == seed].mean(axis=0) for seed in dict.fromkeys(seeds.tolist())])


def _weigh_rows(rows: Sequence[str], signs: Sequence[float]) -> list[float]:
    """How much each row counts in a sum of rows, in which a row may stand several times."""
    weights: dict[str, float] = defaultdict(float)
    for key, sign in zip(rows, signs, strict=True):
        weights[key] += sign
    return [weight for weight in weights.values() if weight]


def mean(values: Sequence[float]) -> float | None:
    """None where there are no values."""
    return float(np.mean(values)) if values else None


def list_pairs(table: Table) -> list[tuple[str, str]]:
    """Every two rows that a table compares, each pair once."""
    pairs = [*((row.key, row.over) for row in table.rows if row.over), *table.comparisons]
    for claim in table.claims:
        pairs += [*claim.better, *claim.on_average, *claim.no_better, *claim.alike]
        pairs += [pair for a, b, c, d in claim.gains for pair in ((a, b), (c, d))]
    return list({frozenset(pair): pair for pair in pairs}.values())


def _read_row(row: Row, cells: Sequence[Cell]) -> RowRuns:
    records: dict[Place, RunRecord] = {}
    for number, cell in enumerate(cells):
        if (record := cell.record) is not None:
            records[cell.config.seed, number % row.selections if row.selections else None] = record
    return RowRuns(row, {place: record.scores for place, record in records.items()}, len(cells), records)
