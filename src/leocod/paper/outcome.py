"""What the cells of a table gave: mean and spread over runs, differences run by run, and a verdict on each claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from leocod.paper.cells import Cell
from leocod.paper.plan import Plan
from leocod.paper.table import LOWER_IS_BETTER, METRICS, Claim, Dataset, Metric, Row, Table

Word = Literal["holds", "does not hold", "within the spread", "not run"]

Place = tuple[int, int | None]
"""Which run of a row: its seed, and its choice of labelled frames."""

CHANCE = 1.0
"""Points by which a single run is off by chance: about what the paper's own runs spread by (its Table S8)."""


@dataclass(frozen=True)
class Found:
    """What the finished runs of one row gave."""

    row: Row
    runs: Mapping[Place, Mapping[Metric, float]]
    asked: int
    """How many runs it takes."""

    def values(self, metric: Metric) -> dict[Place, float]:
        """Run by run; without those that have no such figure."""
        return {place: figures[metric] for place, figures in self.runs.items() if metric in figures}

    def spread(self, metric: Metric) -> float | None:
        """Over the runs; of choices of labelled frames only over these, as another seed is another world."""
        values = self.values(metric)
        if not self.row.selections:
            return spread(list(values.values()))
        seeds = {seed for seed, _ in values}
        means = {seed: np.mean([value for place, value in values.items() if place[0] == seed]) for seed in seeds}
        free = len(values) - len(seeds)
        squares = sum((value - means[seed]) ** 2 for (seed, _), value in values.items())
        return float(np.sqrt(squares / free)) if free else None


@dataclass(frozen=True)
class Comparison:
    """One metric of some rows, run by run: how much better the first is."""

    metric: Metric
    rows: tuple[str, ...]
    differences: tuple[float, ...]
    """Better is positive, also where lower is better. Of a steady row there are none."""
    word: Word
    spread: float | None = None
    """Of a steady row."""

    @property
    def mean(self) -> float:
        return float(np.mean(self.differences))


@dataclass(frozen=True)
class Verdict:
    """Whether what the paper says is what came out here."""

    claim: Claim
    word: Word
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True)
class Outcome:
    """A table, as far as it has been run."""

    table: Table
    found: Mapping[str, Found]

    @classmethod
    def of(cls, plan: Plan, table: Table) -> Outcome:
        """Read from the cells."""
        return cls(table, {row.key: _found(row, plan.cells_of(table, row)) for row in table.rows})

    @classmethod
    def of_paper(cls, table: Table, dataset: Dataset) -> Outcome:
        """The paper's own figures, as if they were ours: one run a row."""
        found = {}
        for row in table.rows:
            figures = zip(METRICS, row.paper.get(dataset, ()), strict=False)
            known: dict[Metric, float] = {metric: value for metric, value in figures if value is not None}
            found[row.key] = Found(row, {(0, None): known} if known else {}, 1)
        return cls(table, found)

    @property
    def complete(self) -> bool:
        return all(len(one.runs) == one.asked for one in self.found.values())

    def differences(self, first: str, second: str, metric: Metric) -> dict[Place, float]:
        """How much more the first row has than the second, in the runs that both have."""
        ours, theirs = self.found[first].values(metric), self.found[second].values(metric)
        return {place: ours[place] - theirs[place] for place in ours if place in theirs}

    def gained(self, row: Row, metric: Metric) -> list[float]:
        """How much more a row has than the one that it is compared with, run by run; nothing where there is none."""
        return list(self.differences(row.key, row.over, metric).values()) if row.over else []

    def verdicts(self) -> list[Verdict]:
        """One for each claim."""
        return [self._verdict(claim) for claim in self.table.claims]

    def _verdict(self, claim: Claim) -> Verdict:
        comparisons = tuple(
            comparison
            for metric in claim.metrics
            for comparison in (
                *(self._better(metric, pair) for pair in claim.better),
                *(self._gains(metric, rows) for rows in claim.gains),
                *(self._no_better(metric, pair) for pair in claim.no_better),
                *(self._alike(metric, pair) for pair in claim.alike),
                *(self._steady(metric, row, claim.most or 0.0) for row in claim.steady),
            )
        )
        return Verdict(claim, _together([one.word for one in comparisons]), comparisons)

    def _by_run(self, metric: Metric, first: str, second: str) -> dict[Place, float]:
        """How much better the first row is."""
        sign = -1 if metric in LOWER_IS_BETTER else 1
        return {place: sign * value for place, value in self.differences(first, second, metric).items()}

    def _better(self, metric: Metric, pair: tuple[str, str]) -> Comparison:
        differences = tuple(self._by_run(metric, *pair).values())
        return Comparison(metric, pair, differences, _more(differences))

    def _gains(self, metric: Metric, rows: tuple[str, str, str, str]) -> Comparison:
        one, other = self._by_run(metric, *rows[:2]), self._by_run(metric, *rows[2:])
        differences = tuple(one[place] - other[place] for place in one if place in other)
        return Comparison(metric, rows, differences, _more(differences))

    def _no_better(self, metric: Metric, pair: tuple[str, str]) -> Comparison:
        better = self._better(metric, pair)
        words: Mapping[Word, Word] = {"holds": "does not hold", "not run": "not run"}
        return replace(better, word=words.get(better.word, "holds"))

    def _alike(self, metric: Metric, pair: tuple[str, str]) -> Comparison:
        differences = tuple(self._by_run(metric, *pair).values())
        word: Word = "not run" if not differences else "holds" if _by_chance(differences) else "does not hold"
        return Comparison(metric, pair, differences, word)

    def _steady(self, metric: Metric, row: tuple[str], most: float) -> Comparison:
        found = self.found[row[0]].spread(metric)
        word: Word = "not run" if found is None else "holds" if found <= most else "does not hold"
        return Comparison(metric, row, (), word, found)


def spread(values: Sequence[float]) -> float | None:
    """Standard deviation of a sample; a single run has none."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def _found(row: Row, cells: Sequence[Cell]) -> Found:
    ended = [(cell, results) for cell in cells if (results := cell.results) is not None]
    keys: Mapping[Metric, str] = {"fap": "fap", "cap": "cap", "f": "forgetting"}
    runs = {
        (cell.config.seed, cell.config.labels.seed): {
            metric: value for metric in METRICS if (value := results.scores.get(keys[metric])) is not None
        }
        for cell, results in ended
    }
    return Found(row, runs, len(cells))


def _by_chance(differences: Sequence[float]) -> bool:
    """Unless larger than both its spread and what chance leaves of the mean of so many runs, however alike they are."""
    least = CHANCE / np.sqrt(len(differences))
    return bool(abs(np.mean(differences)) <= max(spread(differences) or 0.0, least))


def _more(differences: Sequence[float]) -> Word:
    if not differences:
        return "not run"
    if _by_chance(differences):
        return "within the spread"
    return "holds" if np.mean(differences) > 0 else "does not hold"


def _together(words: Sequence[Word]) -> Word:
    """A claim is as good as the worst of its comparisons."""
    worst: tuple[Word, ...] = ("does not hold", "not run", "within the spread", "holds")
    return min(words, key=worst.index)
