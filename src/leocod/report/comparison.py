"""How much better one kind of run is than another, over the seeds that both have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from leocod.evaluation.intervals import Interval, measure_paired, subtract_by_class
from leocod.evaluation.results import MetricWords
from leocod.report.kinds import Kind
from leocod.report.page import format_points
from leocod.text import pluralize

ALL_PAIRS = 4
"""Kinds up to which each is compared with each; more of them are compared with the first."""


@dataclass(frozen=True)
class Difference:
    """How much better the first of two kinds is in one metric."""

    by_seed: tuple[float, ...]
    """Positive is better, also where lower is better."""
    interval: Interval | None
    """Of the mean; a single seed has none."""

    @property
    def verdict(self) -> str:
        """In words.

        >>> Difference((2.0, 2.2), Interval(0.4, 3.8)).verdict
        'better by 2.1 (0.4 to 3.8), 2 seeds'
        """
        mean = fmean(self.by_seed)
        if self.interval is None:
            return f"{_say(mean)}, one seed: no interval"
        is_decided = self.interval.is_above or self.interval.is_below
        low, high = self.interval if mean >= 0 else self.interval.flip()
        reach = f"({format_points(low)} to {format_points(high)})"
        return f"{'' if is_decided else 'undecided: '}{_say(mean)} {reach}, {pluralize(len(self.by_seed), 'seed')}"


def _say(mean: float) -> str:
    size = format_points(abs(mean))
    return "no difference" if size == "0.0" else f"{'better' if mean > 0 else 'worse'} by {size}"


def pair_kinds(kinds: Sequence[Kind]) -> list[tuple[Kind, Kind]]:
    """Which kinds are compared: the later one with the earlier one."""
    if len(kinds) <= ALL_PAIRS:
        return [(second, first) for first, second in combinations(kinds, 2)]
    return [(other, kinds[0]) for other in kinds[1:]]


def compare(first: Kind, second: Kind, metric: str, words: MetricWords) -> Difference | None:
    """How much better the first kind is; None where no seed has the metric in both."""
    scores = first.list_scores(metric), second.list_scores(metric)
    seeds = [seed for seed in scores[0] if seed in scores[1]]
    if not seeds:
        return None
    by_seed = [scores[0][seed] - scores[1][seed] for seed in seeds]
    interval = None
    if len(seeds) > 1:
        rows = [[kind.by_seed[seed].by_class.get(metric, {}) for seed in seeds] for kind in (first, second)]
        interval = measure_paired(by_seed, subtract_by_class(rows)).surround(fmean(by_seed))
    if words.direction == "lower":
        by_seed, interval = [-value for value in by_seed], interval and interval.flip()
    return Difference(tuple(by_seed), interval)


def explain_obstacle(first: Kind, second: Kind) -> str | None:
    """Why the figures of two kinds do not compare, or None if they do."""
    one, other = first.first.results, second.first.results
    if one.benchmark != other.benchmark:
        return f"benchmark {one.benchmark}, not {other.benchmark}"
    if one.steps != other.steps:
        return f"{pluralize(one.steps, 'step')}, not {other.steps}"
    if one.definitions != other.definitions:
        return "other metrics"
    if set(first.classes) != set(second.classes):
        return "other classes"
    return "other test frames" if _have_other_tests(first, second) else None


def _have_other_tests(first: Kind, second: Kind) -> bool:
    """Whether a seed that both have was tested on other frames, as far as both have kept them."""
    tests = ((run.test, second.by_seed[seed].test) for seed, run in first.by_seed.items() if seed in second.by_seed)
    return any(one is not None and other is not None and one.digest != other.digest for one, other in tests)
