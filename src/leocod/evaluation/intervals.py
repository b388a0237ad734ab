"""95 % intervals of a mean difference between runs: over seeds and classes, over seeds, or of a single run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SIGNS = (1, -1, -1, 1)
"""How rows count that are compared: the first over the second, more than the third over the fourth."""

CONFIDENCE = 0.95
"""How often an interval contains the true mean."""

LIKENESS = 4.0
"""Degrees of freedom that all comparisons of a table count for, at most, in how much one varies by seed."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(100)
MANY = 10_000
"""From so many degrees of freedom on, Student's t is the normal distribution to four digits."""


class Interval(NamedTuple):
    """From the lowest to the highest mean that the runs allow for, in points."""

    low: float
    high: float

    @property
    def is_above(self) -> bool:
        """Whether all of it is above 0."""
        return self.low > 0

    @property
    def is_below(self) -> bool:
        """Whether all of it is below 0."""
        return self.high < 0

    def flip(self) -> Interval:
        """The interval of the same difference with the other sign."""
        return Interval(-self.high, -self.low)


@dataclass(frozen=True)
class Difference:
    """How much higher something is than something else, in the runs that both have; never without a run."""

    by_run: tuple[float, ...]
    interval: Interval | None
    """Of the mean; None where nothing tells how well it is known."""
    over_seeds: Interval | None = None
    """Of the mean with these very classes: what other seeds would give. None with fewer than three seeds, which hardly
    tell, and where nothing is known by class: `interval` is the same then."""

    @property
    def mean(self) -> float:
        """Over the runs."""
        return float(np.mean(self.by_run))

    def flip(self) -> Difference:
        """With the other sign."""
        return Difference(
            tuple(-value for value in self.by_run),
            self.interval and self.interval.flip(),
            self.over_seeds and self.over_seeds.flip(),
        )


class Error(NamedTuple):
    """How well a mean is known."""

    variance: float
    """Of the mean."""
    degrees: float
    """Degrees of freedom that the variance is known with."""

    def surround(self, mean: float) -> Interval:
        """The interval around a mean with this error."""
        reach = find_t_quantile(self.degrees) * math.sqrt(self.variance)
        return Interval(mean - reach, mean + reach)


class SeedVariance(NamedTuple):
    """How much the difference of two rows varies from seed to seed."""

    variance: float
    degrees: float
    """Degrees of freedom that it is known with."""


UNKNOWN = SeedVariance(0.0, 0.0)
"""Where the rows that are compared are all that is known."""


def pool_pairs(differences: NDArray[np.float64], *, rows: int) -> SeedVariance:
    """What all pairs of rows that a table compares tell about each of them: pairs x runs, of so many rows.

    Two or three runs hardly tell how much a difference varies from seed to seed. The comparisons of a table vary much
    alike (decision 21), so the mean over all of them counts, with LIKENESS degrees of freedom at most. Pairs that share
    rows tell less than as many pairs of rows of their own. Two rows with the same runs tell nothing.
    """
    runs = differences.shape[1]
    variances = np.var(differences, axis=1, ddof=1)
    varying = variances[variances > 0]
    others = min(len(varying) - 1, rows - 2) * (runs - 1)
    if others < 1:
        return UNKNOWN
    return SeedVariance(float(varying.mean()), 1 / (1 / LIKENESS + 1 / others))


def subtract_by_class(
    rows: Sequence[Sequence[Mapping[str, float]]], signs: Sequence[float] = SIGNS
) -> NDArray[np.float64] | None:
    """Differences between rows: runs x classes that every run has; None where there are not two such classes.

    Each row has figures by class of the same runs, in the same order. `signs` says how rows count.
    """
    shared = [name for name in rows[0][0] if all(name in run for row in rows for run in row)]
    if len(shared) < 2:
        return None
    tables = np.array([[[run[name] for name in shared] for run in row] for row in rows])
    return np.asarray(np.tensordot(signs[: len(rows)], tables, axes=1))


def measure_paired(
    by_run: Sequence[float], by_class: NDArray[np.float64] | None, expected: SeedVariance = UNKNOWN
) -> Error:
    """Of the mean difference over several runs: over runs and classes where classes are known, else over runs.

    `expected` is what other comparisons of the same table tell.
    """
    return measure_runs(by_run, expected) if by_class is None else measure_crossed(by_class, expected)


def measure_crossed(differences: NDArray[np.float64], expected: SeedVariance = UNKNOWN) -> Error:
    """Of the mean over runs x classes, where both are random: other seeds, and other classes of the same kind.

    The analysis of variance of two crossed random factors, with one value in each place:

        total    = max(MS_run, MS_rest) + max(MS_class - MS_rest, 0)
        variance = total / (runs * classes)
        degrees  = total^2 / (MS_run^2 / (runs - 1))

    The degrees of freedom are those of Hillis (2007), who has readers and cases. They grow without limit where runs do
    not differ. There the classes alone make the variance, so the degrees end at classes - 1. Runs cannot differ less
    than the rest does but by luck, so the rest is the least that counts. MS_run is moderated: what is `expected` of
    the mean of a run counts with its degrees of freedom (decision 21).
    """
    runs, classes = differences.shape
    mean, by_run, by_class = differences.mean(), differences.mean(axis=1), differences.mean(axis=0)
    rest = differences - by_run[:, None] - by_class[None, :] + mean
    seen = _moderate(SeedVariance(float(np.var(by_run, ddof=1)), runs - 1), expected)
    of_runs = classes * seen.variance
    of_classes = runs * np.sum((by_class - mean) ** 2) / (classes - 1)
    of_rest = np.sum(rest**2) / ((runs - 1) * (classes - 1))
    total = float(max(of_runs, of_rest) + max(of_classes - of_rest, 0.0))
    most = float(classes - 1)
    degrees = min(seen.degrees * (total / of_runs) ** 2, most) if of_runs > 0 else most
    return Error(total / differences.size, degrees)


def measure_runs(differences: Sequence[float], expected: SeedVariance = UNKNOWN) -> Error:
    """Of the mean over runs, where nothing is known about classes."""
    seen = _moderate(SeedVariance(float(np.var(differences, ddof=1)), len(differences) - 1), expected)
    return Error(seen.variance / len(differences), seen.degrees)


def _moderate(seen: SeedVariance, expected: SeedVariance) -> SeedVariance:
    """The mean of two variances, each by its degrees of freedom."""
    degrees = seen.degrees + expected.degrees
    return SeedVariance((seen.degrees * seen.variance + expected.degrees * expected.variance) / degrees, degrees)


def measure_single(by_class: NDArray[np.float64] | None, *, by_chance: float) -> Error:
    """Of the difference between single runs, which has this variance from seed to seed.

    One run cannot tell what another seed would do. So the variance over classes is not enough.
    """
    if by_class is None:
        return Error(by_chance, math.inf)
    return Error(float(np.var(by_class, ddof=1)) / len(by_class) + by_chance, len(by_class) - 1)


def find_t_quantile(degrees: float, confidence: float = CONFIDENCE) -> float:
    """The t that Student's distribution stays within, to both sides, with this probability.

    With t = sqrt(degrees) tan(a), the distribution is a density over the angle a, proportional to cos(a)^(degrees - 1).

    >>> round(find_t_quantile(1), 3), round(find_t_quantile(4), 3)
    (12.706, 2.776)
    """
    if degrees > MANY:
        return NormalDist().inv_cdf((1 + confidence) / 2)
    half = math.exp(math.lgamma(degrees / 2) - math.lgamma((degrees + 1) / 2)) * math.sqrt(math.pi) / 2
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        inside = angle / 2 * float(np.sum(WEIGHTS * np.cos(angle / 2 * (NODES + 1)) ** (degrees - 1)))
        low, high = (angle, high) if inside < confidence * half else (low, angle)
    return math.sqrt(degrees) * math.tan((low + high) / 2)
