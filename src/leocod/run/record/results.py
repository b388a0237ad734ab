"""results.json: what came out of a run, added up from its events."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from leocod.evaluation.continual import Table, mean_of_known
from leocod.evaluation.definitions import Definitions
from leocod.evaluation.metrics.base import Metric, compute_metrics, or_none
from leocod.evaluation.results import ClassScores, Evaluation, MetricWords, Results, Retested
from leocod.events import Evaluated, Event, RunFinished, Scored, StepFinished, StepLearned, Warned
from leocod.files.atomic import write_json
from leocod.report.detections import read_prequential
from leocod.run.peak_ram import measure_peak_ram
from leocod.run.record.history import HistoryRecorder
from leocod.run.record.pseudo_labels import PseudoLabelTally
from leocod.sinks.base import BaseSink


class LabelCount(Protocol):
    """Knows how many frames a person has labelled, and what that took."""

    @property
    def count(self) -> int: ...

    @property
    def boxes(self) -> int | None: ...

    @property
    def seconds(self) -> float | None: ...


class ResultsFile(BaseSink):
    """Adds up what the events say and writes it when the run has ended."""

    def __init__(
        self,
        path: Path,
        about: Mapping[str, Any],
        labels: LabelCount,
        definitions: Definitions,
        metrics: Sequence[Metric],
        *,
        single_pass: bool,
        lost_test_frames: int = 0,
        measure_ram: Callable[[], int | None] = measure_peak_ram,
    ) -> None:
        """`about`: the entries that are known beforehand. `metrics`: what is computed at the end.

        `measure_ram`: bytes that the process has held at most.
        """
        self.path = path
        self.about = about
        self.labels = labels
        self.metrics = metrics
        self.lost_test_frames = lost_test_frames
        self.measure_ram = measure_ram
        self.content: Results | None = None
        """What was written, once it was."""
        self._record = HistoryRecorder(definitions, single_pass=single_pass)
        self._seconds: dict[str, float] = defaultdict(float)
        self._seconds_before = self._seconds_now = 0.0
        """Before the checkpoint that this run was resumed from, and since."""
        self._ram_before: int | None = 0
        """Held at most before the checkpoint that this run was resumed from; None where nobody measured."""
        self._memory_bytes = 0
        self._trained: tuple[int, int] | None = (0, 0)
        """Updates, frames in them; None after a checkpoint that does not say."""
        self._skipped: set[int] = set()
        self._refused = 0
        self._warnings = 0
        self._pseudo_labels = PseudoLabelTally()
        self._also: dict[int, Mapping[str, Mapping[str, float | None]]] = {}
        """Step -> earlier run -> AP by class name on its test frames."""
        self._scores: Mapping[str, float | None] | None = None

    def __call__(self, event: Event) -> None:
        self._record(event)
        self._pseudo_labels(event)
        if isinstance(event, StepLearned):
            self._memory_bytes = event.memory_bytes
            if self._trained is not None:
                self._trained = self._trained[0] + len(event.trained_on), self._trained[1] + sum(event.trained_on)
            self._refused += event.refused is not None
            self._skipped |= set(event.skipped)
            for name, seconds in event.seconds.items():
                self._seconds[name] += seconds
        elif isinstance(event, Evaluated):
            self._seconds["evaluate"] += event.seconds
            if event.also:
                self._also[event.step] = event.also
        elif isinstance(event, Warned):
            self._warnings += 1
        elif isinstance(event, StepFinished):
            self._seconds_now = event.seconds
        elif isinstance(event, Scored):
            self._scores = event.scores
        elif isinstance(event, RunFinished):
            self.content = self._sum_up(event)
            write_json(self.path, self.content.model_dump(mode="json"), indent=2)

    def compute_scores(self) -> dict[str, float | None]:
        """The metrics of what has been measured so far."""
        record, prequential = self._record, None
        if any("prequential" in metric.needs for metric in self.metrics):
            prequential = read_prequential(self.path.parent, len(record.classes), record.definitions.ap)
        return compute_metrics(self.metrics, record.history(prequential))

    def _sum_up(self, event: RunFinished) -> Results:
        history = self._record.history()
        scores = self.compute_scores() if self._scores is None else dict(self._scores)
        return Results(
            **self.about,
            steps=event.steps,
            labelled_frames=self.labels.count,
            labelled_boxes=self.labels.boxes,
            labelling_seconds=self.labels.seconds,
            skipped_frames=len(self._skipped),
            skipped_test_frames=self.lost_test_frames,
            refused_steps=self._refused,
            warnings=self._warnings,
            scores=scores,
            metrics={
                metric.name: MetricWords.of(metric, history.definitions)
                for metric in self.metrics
                if metric.name in scores
            },
            definitions=history.definitions,
            start=None if history.start is None else ClassScores(**_name_classes(history.start, history.classes)),
            evaluations=[
                Evaluation(step=step, **_name_classes(row, history.classes))
                for step, row in zip(history.evaluated_steps, history.table, strict=True)
            ],
            also={name: self._list_retests(name) for name in self._also.get(-1, ())},
            **self._pseudo_labels.sum_up(),
            seconds=round(self._seconds_before + event.seconds, 3),
            seconds_by_part={name: round(seconds, 3) for name, seconds in self._seconds.items()},
            updates=None if self._trained is None else self._trained[0],
            frames_trained_on=None if self._trained is None else self._trained[1],
            memory_bytes=self._memory_bytes,
            peak_ram_bytes=self._find_peak_ram(),
        )

    def _find_peak_ram(self) -> int | None:
        """The largest of all parts of the run."""
        now = self.measure_ram()
        return None if now is None or self._ram_before is None else max(now, self._ram_before)

    def _list_retests(self, name: str) -> Retested:
        scores = {step: _score_classes(also[name]) for step, also in sorted(self._also.items())}
        return Retested(
            start=ClassScores(**scores.pop(-1)),
            evaluations=[Evaluation(step=step, **one) for step, one in scores.items()],
        )

    def state_dict(self) -> dict[str, Any]:
        return self._record.state_dict() | {
            "seconds_by_part": dict(self._seconds),
            "seconds": self._seconds_before + self._seconds_now,
            "memory_bytes": self._memory_bytes,
            "trained": self._trained,
            "peak_ram_bytes": self._find_peak_ram(),
            "skipped": sorted(self._skipped),
            "refused": self._refused,
            "warnings": self._warnings,
            "also": self._also,
            **self._pseudo_labels.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        self._record.load_state_dict(state)
        self._seconds = defaultdict(float, state["seconds_by_part"])
        self._seconds_before = state["seconds"]
        self._memory_bytes, self._skipped = state["memory_bytes"], set(state["skipped"])
        self._refused, self._warnings = state["refused"], state["warnings"]
        # Earlier versions did not measure RAM, did not count updates, and tried no test frames again.
        self._ram_before = state.get("peak_ram_bytes")
        trained = state.get("trained")
        self._trained = None if trained is None else (trained[0], trained[1])
        self._also = dict(state.get("also", {}))
        self._pseudo_labels.load_state_dict(state)


def add_scores(events: Iterable[Event], results: ResultsFile) -> Iterator[Event]:
    """The same events, with the metrics of the run before the last one. `results` is told all of them."""
    for event in events:
        if isinstance(event, RunFinished):
            yield Scored(event.steps - 1, results.compute_scores())
        yield event


def _name_classes(row: Table, classes: Sequence[str]) -> dict[str, Any]:
    by_class = {name: or_none(value) for name, value in zip(classes, row.tolist(), strict=True)}
    return {"ap": or_none(mean_of_known(row)), "ap_by_class": by_class}


def _score_classes(ap_by_class: Mapping[str, float | None]) -> dict[str, Any]:
    """AP from 0 to 1 in points, and its mean."""
    row = 100 * np.array([math.nan if ap is None else ap for ap in ap_by_class.values()], np.float64)
    return _name_classes(row, tuple(ap_by_class))
