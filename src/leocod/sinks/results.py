"""results.json: the figures of a run, in points from 0 to 100."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from leocod.evaluation.continual import cap, cap_over_time, fap, mean_of_known, presence_table
from leocod.evaluation.metrics import Metrics
from leocod.events import Evaluated, Event, RunFinished, RunStarted, StepLearned
from leocod.rundir import write_json
from leocod.sinks.base import Resting
from leocod.sinks.labels import LabelRecord


class ResultsFile(Resting):
    """Adds up what the events say and writes it when the stream has ended."""

    def __init__(
        self,
        path: Path,
        about: Mapping[str, Any],
        labels: LabelRecord,
        metrics: Metrics,
        *,
        single_pass: bool,
        lost_test_frames: int = 0,
    ) -> None:
        """`about` are the entries that are known beforehand; without a single pass there is no forgetfulness."""
        self.path = path
        self.about = about
        self.labels = labels
        self.metrics = metrics
        self.single_pass = single_pass
        self.lost_test_frames = lost_test_frames
        self.content: dict[str, Any] = {}
        self._classes: tuple[str, ...] = ()
        self._seen: dict[int, tuple[int, ...]] = {}
        self._evaluations: list[Evaluated] = []
        self._seconds: dict[str, float] = defaultdict(float)
        self._memory_bytes = 0
        self._skipped: set[int] = set()

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._classes = event.classes
        elif isinstance(event, StepLearned):
            self._seen[event.step] = self.metrics.seen(event.present, event.labelled)
            self._memory_bytes = event.memory_bytes
            self._skipped |= set(event.skipped)
            for name, seconds in event.seconds.items():
                self._seconds[name] += seconds
        elif isinstance(event, Evaluated):
            self._evaluations.append(event)
            self._seconds["evaluate"] += event.seconds
        elif isinstance(event, RunFinished):
            self.content = self._figures(event)
            write_json(self.path, self.content, indent=2)

    def _figures(self, event: RunFinished) -> dict[str, Any]:
        rows = [[one.ap_by_class[name] for name in self._classes] for one in self._evaluations]
        # None becomes NaN: a class without a test box.
        table = 100 * np.array(rows, np.float64).reshape(len(rows), len(self._classes))
        steps = [one.step for one in self._evaluations]
        presence = presence_table(self._seen, steps=event.steps, classes=len(self._classes))
        forgetfulness = mean_of_known(self.metrics.forgetting_by_class(table, steps, presence))
        return {
            **self.about,
            "metrics": self.metrics.model_dump(mode="json"),
            "steps": event.steps,
            "labelled_frames": self.labels.count,
            "skipped_frames": len(self._skipped),
            "skipped_test_frames": self.lost_test_frames,
            "fap": _or_none(fap(table)),
            "cap": _or_none(cap(table)),
            "forgetfulness": _or_none(forgetfulness) if self.single_pass else None,
            "evaluations": [
                {
                    "step": step,
                    "ap50": _or_none(mean),
                    "ap50_by_class": {name: _or_none(value) for name, value in zip(self._classes, row, strict=True)},
                }
                for step, mean, row in zip(steps, cap_over_time(table), table, strict=True)
            ],
            "seconds": round(event.seconds, 3),
            "seconds_by_part": {name: round(seconds, 3) for name, seconds in self._seconds.items()},
            "memory_bytes": self._memory_bytes,
        }


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
