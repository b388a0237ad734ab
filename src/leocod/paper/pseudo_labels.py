"""How right the pseudo labels of a run were by group: known and new classes, and thirds of the stream."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leocod.evaluation.results import Counts, Results
from leocod.events import Quality
from leocod.settings import Settings

THIRDS = ("third_1", "third_2", "third_3")
GROUPS = ("known", "new", *THIRDS)
"""In this order they are columns of NAME-runs.csv: pseudo_labels_known and so on."""

NUMBERS = ("labels", "right", "objects")
COLUMN = re.compile(rf"pseudo_({'|'.join(NUMBERS)})_({'|'.join(GROUPS)})")


class GroupCounts(Settings, Quality):
    """The pseudo labels of some classes or of some steps, against the hidden truth."""

    labels: int
    right: int
    objects: int


def count_groups(results: Results) -> dict[str, GroupCounts]:
    """Of the groups that the results of a run know; those of earlier versions know none."""
    found = {key: _add_up([counts]) for key, counts in results.pseudo_label_groups.items() if key in GROUPS}
    thirds: dict[str, list[Counts]] = {}
    for period in results.pseudo_label_periods:
        middle = (period.first_step + period.last_step + 1) / 2
        third = THIRDS[min(int(3 * middle / max(results.steps, 1)), 2)]
        thirds.setdefault(third, []).append(period.all)
    return found | {third: _add_up(counts) for third, counts in thirds.items()}


def flatten_groups(groups: Mapping[str, GroupCounts], wanted: Sequence[str]) -> dict[str, int | None]:
    """The groups as columns of a file of runs."""
    counts = [(group, number, groups.get(group)) for group in wanted for number in NUMBERS]
    return {f"pseudo_{number}_{group}": None if one is None else getattr(one, number) for group, number, one in counts}


def split_groups(line: Mapping[str, Any]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """The groups of a line of a file of runs, and its other columns."""
    groups: dict[str, dict[str, Any]] = {}
    rest: dict[str, Any] = {}
    for key, value in line.items():
        if found := COLUMN.fullmatch(key):
            groups.setdefault(found[2], {})[found[1]] = value
        else:
            rest[key] = value
    return groups, rest


def _add_up(counts: Iterable[Counts]) -> GroupCounts:
    every = list(counts)
    return GroupCounts(
        labels=sum(one.labels for one in every),
        right=sum(one.right for one in every),
        objects=sum(one.objects for one in every),
    )
