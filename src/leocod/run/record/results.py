"""results.json: the figures of a run, in points from 0 to 100."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from leocod.evaluation.continual import cap, cap_over_time, fap, mean_of_known
from leocod.evaluation.metrics import Metrics
from leocod.events import Evaluated, Event, RunFinished, RunStarted, StepFinished, StepLearned, Warned
from leocod.files.atomic import write_json
from leocod.run.record.labels import LabelRecord
from leocod.sinks.base import BaseSink


class ResultsFile(BaseSink):
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
        self._seen = bytearray()
        """A bit for each class and step, a row of bytes a step: a stream of weeks has millions."""
        self._evaluations: list[tuple[int, list[float]]] = []
        """Step, and AP of each class; NaN: a class without a test box."""
        self._seconds: dict[str, float] = defaultdict(float)
        self._seconds_before = self._seconds_now = 0.0
        """Before the checkpoint that this run was resumed from, and since."""
        self._memory_bytes = 0
        self._skipped: set[int] = set()
        self._refused = 0
        self._warnings = 0

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._classes = event.classes
        elif isinstance(event, StepLearned):
            row = np.zeros(len(self._classes), np.bool_)
            row[list(self.metrics.seen(event.present, event.labelled))] = True
            self._seen += np.packbits(row).tobytes()
            self._memory_bytes = event.memory_bytes
            self._refused += event.refused is not None
            self._skipped |= set(event.skipped)
            for name, seconds in event.seconds.items():
                self._seconds[name] += seconds
        elif isinstance(event, Evaluated):
            by_class = [event.ap_by_class[name] for name in self._classes]
            self._evaluations.append((event.step, [math.nan if ap is None else ap for ap in by_class]))
            self._seconds["evaluate"] += event.seconds
        elif isinstance(event, Warned):
            self._warnings += 1
        elif isinstance(event, StepFinished):
            self._seconds_now = event.seconds
        elif isinstance(event, RunFinished):
            self.content = self._figures(event)
            write_json(self.path, self.content, indent=2)

    def _figures(self, event: RunFinished) -> dict[str, Any]:
        rows = [row for _, row in self._evaluations]
        table = 100 * np.array(rows, np.float64).reshape(len(rows), len(self._classes))
        steps = [step for step, _ in self._evaluations]
        presence = self._presence(event.steps)
        forgetfulness = mean_of_known(self.metrics.forgetting_by_class(table, steps, presence))
        return {
            **self.about,
            "metrics": self.metrics.model_dump(mode="json"),
            "steps": event.steps,
            "labelled_frames": self.labels.count,
            "skipped_frames": len(self._skipped),
            "skipped_test_frames": self.lost_test_frames,
            "refused_steps": self._refused,
            "warnings": self._warnings,
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
            "seconds": round(self._seconds_before + event.seconds, 3),
            "seconds_by_part": {name: round(seconds, 3) for name, seconds in self._seconds.items()},
            "memory_bytes": self._memory_bytes,
        }

    def _presence(self, steps: int) -> NDArray[np.bool_]:
        rows = np.frombuffer(self._seen, np.uint8).reshape(steps, -(-len(self._classes) // 8))
        return np.unpackbits(rows, axis=1, count=len(self._classes)).astype(np.bool_)

    def state_dict(self) -> dict[str, Any]:
        return {
            "seen": torch.tensor(np.frombuffer(self._seen, np.uint8)),
            "evaluations": [[step, list(row)] for step, row in self._evaluations],
            "seconds_by_part": dict(self._seconds),
            "seconds": self._seconds_before + self._seconds_now,
            "memory_bytes": self._memory_bytes,
            "skipped": sorted(self._skipped),
            "refused": self._refused,
            "warnings": self._warnings,
        }

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        self._seen = bytearray(state["seen"].numpy().tobytes())
        self._evaluations = [(step, list(row)) for step, row in state["evaluations"]]
        self._seconds = defaultdict(float, state["seconds_by_part"])
        self._seconds_before = state["seconds"]
        self._memory_bytes, self._skipped = state["memory_bytes"], set(state["skipped"])
        self._refused, self._warnings = state["refused"], state["warnings"]


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
