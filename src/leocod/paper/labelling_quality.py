"""The small table under a table: how right the pseudo labels of each row were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean
from typing import Literal, NamedTuple

from leocod.paper.pseudo_labels import THIRDS, GroupCounts
from leocod.paper.record import RunRecord
from leocod.paper.table import Row

HELP = (
    "By the hidden truth, on average over runs. Right: of the pseudo labels, how many are right (same class, IoU at "
    "least 0.5). Found: of the objects in these frames, how many got a right one. Known: classes that the start knows; "
    "new: the others. Thirds: the beginning, the middle and the end of the stream."
)
NONE = "–"
HEADINGS = ("", "labels", "pseudo labels", "right %: all / known / new", "found %: all / known / new")
THIRD_HEADINGS = ("right % by thirds", "found % by thirds")


class QualityLine(NamedTuple):
    """A row of the table of pseudo labels as text."""

    name: str
    cost: str
    labels: str
    """Pseudo labels of a run."""
    right: str
    """Percent of the labels: all / known / new classes."""
    found: str
    """Percent of the objects, in the same way."""
    right_by_third: str
    found_by_third: str


def build_quality_lines(rows: Iterable[tuple[Row, Sequence[RunRecord]]]) -> list[QualityLine]:
    """The rows whose runs had frames to pseudo-label, each on average over its runs."""
    lines = []
    for row, records in rows:
        runs = [groups for record in records if "all" in (groups := _list_groups(record))]
        if not any(groups["all"].objects for groups in runs):
            continue
        by_classes, by_thirds = ("all", "known", "new"), THIRDS
        lines.append(
            QualityLine(
                row.key,
                row.cost,
                f"{mean(groups['all'].labels for groups in runs):.0f}",
                _show_means(runs, by_classes, "precision"),
                _show_means(runs, by_classes, "recall"),
                _show_means(runs, by_thirds, "precision"),
                _show_means(runs, by_thirds, "recall"),
            )
        )
    return lines


def _list_groups(record: RunRecord) -> dict[str, GroupCounts]:
    if record.pseudo_labels is None or record.pseudo_right is None or record.pseudo_objects is None:
        return {}
    every = GroupCounts(labels=record.pseudo_labels, right=record.pseudo_right, objects=record.pseudo_objects)
    return {**record.pseudo_groups, "all": every}


def _show_means(
    runs: Sequence[Mapping[str, GroupCounts]], groups: Sequence[str], share: Literal["precision", "recall"]
) -> str:
    """The share of each group in percent, on average over the runs that have one."""
    texts = []
    for group in groups:
        values = [value for run in runs if group in run and (value := getattr(run[group], share)) is not None]
        texts.append(f"{100 * mean(values):.1f}" if values else NONE)
    return " / ".join(texts) if any(text != NONE for text in texts) else NONE
