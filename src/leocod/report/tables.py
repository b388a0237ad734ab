"""The tables of the report: numbers class by class, and what the memory holds of each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leocod.evaluation.metrics.forgetting import compute_by_class
from leocod.report.reading import Run
from leocod.report.schemas import Held


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
