"""Which kind of run is better, in words: the first section of a page about several."""

from __future__ import annotations

from collections.abc import Sequence

from leocod.evaluation.results import MetricWords
from leocod.report.comparison import ALL_PAIRS, compare, explain_obstacle, judge, pair_kinds
from leocod.report.contrast import contrast
from leocod.report.kinds import Kind
from leocod.report.page import Grid, Section
from leocod.text import list_some

TITLE = "Which is better"
MOST_NAMED = 8
"""Reasons why nothing can be compared."""


def show_differences(kinds: Sequence[Kind], metrics: Sequence[tuple[str, MetricWords]]) -> list[Section]:
    """How much better one kind is than another, in words; nothing where there is only one."""
    if len(kinds) < 2:
        return []
    note = (
        "Paired: each seed is compared with the same seed. In brackets: the 95 % interval of the mean difference over "
        "seeds and, where the metric is a mean over classes, over classes. Undecided: the interval contains 0. A "
        "single seed has no interval and decides nothing. Of 20 comparisons without a true difference, about one looks "
        "decided."
    )
    if len(kinds) > ALL_PAIRS:
        note += f" All are compared with the first, {kinds[0].name}: name another run first to compare with that one."
    pairs = [(first, second, _find_obstacle(first, second)) for first, second in pair_kinds(kinds)]
    if all(why for _, _, why in pairs):
        reasons = [f"{_name_pair(first, second)}: {why}" for first, second, why in pairs]
        none = f"No two of these can be compared: {list_some(reasons, MOST_NAMED)}."
        return [Section(TITLE, "", missing=none)]
    columns = [
        (words.label, [_judge(first, second, name, words, why) for first, second, why in pairs])
        for name, words in metrics
        if any(not why and compare(first, second, name, words) for first, second, why in pairs)
    ]
    if not columns:
        return [Section(TITLE, "", missing="No metric is defined at a seed that two of these have.")]
    names = [_name_pair(first, second) for first, second, _ in pairs]
    rows = tuple(zip(names, *(cells for _, cells in columns), strict=True))
    head = ("Compared", *(label for label, _ in columns))
    return [Section(TITLE, note, tables=(Grid(head, rows, is_text=True),))]


def _name_pair(first: Kind, second: Kind) -> str:
    """Which two are compared, and what tells them apart."""
    return " against ".join(contrast(first, second))


def _judge(first: Kind, second: Kind, metric: str, words: MetricWords, obstacle: str | None) -> str:
    if obstacle:
        return f"not comparable: {obstacle}"
    difference = compare(first, second, metric, words)
    return "–" if difference is None else judge(difference)


def _find_obstacle(first: Kind, second: Kind) -> str | None:
    is_paired = first.by_seed.keys() & second.by_seed.keys()
    return explain_obstacle(first, second) or (None if is_paired else "no seed in common")
