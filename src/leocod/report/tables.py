"""The tables of the report: numbers of each kind and class by class, and what the memory holds of each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leocod.evaluation.metrics.forgetting import compute_by_class
from leocod.report.drawing import pick_colour
from leocod.report.kinds import Kind, average
from leocod.report.page import format_duration, format_points, format_size
from leocod.report.reading import Run
from leocod.report.schemas import Held


@dataclass(frozen=True)
class KindRow:
    """A row of the first table: means over the seeds of a kind."""

    colour: str | None
    """Of its line in the figures, if it is drawn."""
    scores: list[tuple[str, str | None]]
    """Mean, and spread where there are several seeds."""
    costs: list[str]
    """Labelled frames, labelled boxes, a person's time, frames kept, RAM, time: means, but of RAM the most."""


def list_kind_rows(kinds: Sequence[Kind], metrics: Sequence[str], *, drawn: int) -> list[KindRow]:
    """A row for each kind; the first ones are drawn in figures."""
    return [
        KindRow(
            colour=pick_colour(number) if number < drawn else None,
            scores=[_show_score(kind, metric) for metric in metrics],
            costs=_list_costs(kind),
        )
        for number, kind in enumerate(kinds)
    ]


def _show_score(kind: Kind, metric: str) -> tuple[str, str | None]:
    spread = kind.spread(metric)
    mean = average(kind.list_scores(metric).values())
    return format_points(mean), None if spread is None else format_points(spread)


def _list_costs(kind: Kind) -> list[str]:
    results = [run.results for run in kind.runs]
    frames, boxes = average(one.labelled_frames for one in results), average(one.labelled_boxes for one in results)
    person, seconds = average(one.labelling_seconds for one in results), average(one.seconds for one in results)
    kept = average(one.memory_bytes for one in results)
    ram = max((one.peak_ram_bytes for one in results if one.peak_ram_bytes is not None), default=None)
    return [
        *("–" if count is None else f"{count:.0f}" for count in (frames, boxes)),
        "–" if person is None else format_duration(person),
        *(format_size(round(size) if size else None) for size in (kept, ram)),
        "–" if seconds is None else format_duration(seconds),
    ]


def list_memory_rows(runs: Sequence[Run]) -> list[tuple[str, list[Held | None]]]:
    """Class name, and what each run's memory held of it; None for a run that held nothing of it."""
    memories = [run.memory.by_class if run.memory else {} for run in runs]
    names = dict.fromkeys(name for memory in memories for name in memory)
    return [(name, [memory.get(name) for memory in memories]) for name in names]


def list_class_rows(run: Run) -> list[dict[str, Any]]:
    """The numbers behind the figures, class by class."""
    away = compute_by_class(run.history)
    return [
        {
            "name": name,
            "steps": int(run.presence[:, number].sum()),
            "last": float(run.table[-1, number]) if len(run.table) else np.nan,
            "best": float(run.table[:, number].max()) if len(run.table) else np.nan,
            "forgetting": float(away[number]) if run.can_forget else np.nan,
        }
        for number, name in enumerate(run.classes)
    ]
