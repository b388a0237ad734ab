"""How much better one kind of run is than another, over the seeds that both have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from leocod.evaluation.intervals import Difference, measure_paired, subtract_by_class
from leocod.evaluation.results import MetricWords
from leocod.report.kinds import Kind
from leocod.report.page import format_points
from leocod.text import pluralize

ALL_PAIRS = 4
"""Kinds up to which each is compared with each; more of them are compared with the first."""


def judge(difference: Difference) -> str:
    """Say in words how much better one kind is; a positive difference is better.

    >>> from leocod.evaluation.intervals import Interval
    >>> judge(Difference((2.0, 2.2), Interval(0.4, 3.8)))
    'better by 2.1 (0.4 to 3.8), 2 seeds'
    """
    mean, interval = difference.mean, difference.interval
    if interval is None:
        return f"{_say(mean)}, one seed: no interval"
    is_decided = interval.is_above or interval.is_below
    low, high = interval if mean >= 0 else interval.flip()
    reach = f"({format_points(low)} to {format_points(high)})"
    return f"{'' if is_decided else 'undecided: '}{_say(mean)} {reach}, {pluralize(len(difference.by_run), 'seed')}"


def _say(mean: float) -> str:
    size = format_points(abs(mean))
    return "no difference" if size == "0.0" else f"{'better' if mean > 0 else 'worse'} by {size}"


def pair_kinds(kinds: Sequence[Kind]) -> list[tuple[Kind, Kind]]:
    """Which kinds are compared: the later one with the earlier one."""
    if len(kinds) <= ALL_PAIRS:
        return [(second, first) for first, second in combinations(kinds, 2)]
    return [(other, kinds[0]) for other in kinds[1:]]


def compare(first: Kind, second: Kind, metric: str, words: MetricWords) -> Difference | None:
    """How much better the first kind is: positive is better, also where lower is better. A single seed has no interval.

    None where no seed has the metric in both.
    """
    scores = first.list_scores(metric), second.list_scores(metric)
    seeds = [seed for seed in scores[0] if seed in scores[1]]
    if not seeds:
        return None
    difference = Difference(tuple(scores[0][seed] - scores[1][seed] for seed in seeds), None)
    if len(seeds) > 1:
        rows = [[kind.by_seed[seed].by_class.get(metric, {}) for seed in seeds] for kind in (first, second)]
        error = measure_paired(difference.by_run, subtract_by_class(rows))
        difference = replace(difference, interval=error.surround(difference.mean))
    return difference.flip() if words.direction == "lower" else difference


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
    if first.evaluated_steps != second.evaluated_steps:
        return "evaluated after other steps"
    return "other test frames" if _have_other_tests(first, second) else None


def _have_other_tests(first: Kind, second: Kind) -> bool:
    """Whether a seed that both have was tested on other frames, as far as both have kept them."""
    tests = ((run.test, second.by_seed[seed].test) for seed, run in first.by_seed.items() if seed in second.by_seed)
    return any(one is not None and other is not None and one.digest != other.digest for one, other in tests)
