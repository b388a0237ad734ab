"""labels.json: which frames were labelled; and what that took a person."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from leocod.events import Event, RunFinished, StepArrived, StepLearned
from leocod.files.atomic import write_json
from leocod.sinks.base import BaseSink
from leocod.types import Effort

UNKNOWN = (float("nan"), float("nan"))
"""The effort of a person where nobody says it."""

COLUMNS = {"steps": "q", "ids": "q", "boxes": "d", "seconds": "d"}
"""What is noted of each label, and as which kind of number: boxes can be unknown, so they are no integers."""


class LabelRecord(BaseSink):
    """Notes which frames a person labelled for each step, and writes them at the end of the run."""

    def __init__(self, path: Path, choice: Mapping[str, Any]) -> None:
        """`choice`: how the frames were chosen, for the file."""
        self.path = path
        self.choice = dict(choice)
        # Plain numbers: a stream of weeks has millions of labels.
        self._columns: dict[str, array[Any]] = {name: array(kind) for name, kind in COLUMNS.items()}
        self._known_until = -1
        """The last step whose labels are all noted."""

    @property
    def frames(self) -> dict[int, list[int]]:
        """Step -> ids of the labelled frames, of the steps that have any."""
        found: dict[int, list[int]] = {}
        for step, frame in zip(self._known("steps"), self._known("ids"), strict=True):
            found.setdefault(step, []).append(frame)
        return found

    @property
    def count(self) -> int:
        """Frames labelled so far."""
        return bisect_right(self._columns["steps"], self._known_until)

    @property
    def boxes(self) -> int | None:
        """Boxes drawn so far; None where nobody says it."""
        total = sum(self._known("boxes"))
        return None if np.isnan(total) else int(total)

    @property
    def seconds(self) -> float | None:
        """Seconds of a person so far; None where nobody says it."""
        total = sum(self._known("seconds"))
        return None if np.isnan(total) else round(total, 3)

    def add(self, step: int, given: Collection[int] | Mapping[int, Effort]) -> None:
        """Note the labelled frames of a step. A resumed run tells some steps again; the first answer stays."""
        if step > self._known_until:
            efforts = given if isinstance(given, Mapping) else dict.fromkeys(given, UNKNOWN)
            for frame, effort in efforts.items():
                for column, value in zip(self._columns.values(), (step, frame, *effort), strict=True):
                    column.append(value)
            self._known_until = step

    def __call__(self, event: Event) -> None:
        if isinstance(event, StepArrived):
            for step, given in event.revealed.items():
                self.add(step, given)
        elif isinstance(event, StepLearned) and event.skipped:
            self.forget(event.skipped)
        elif isinstance(event, RunFinished):
            self.write()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # An interrupted run has been given labels too.
        self.write()

    def forget(self, skipped: Iterable[int]) -> None:
        """Drop labels of frames that cannot be read: they were asked for and never given."""
        kept = ~np.isin(_to_numpy(self._columns["ids"]), list(skipped))
        if not kept.all():
            self._columns = {
                name: array(column.typecode, _to_numpy(column)[kept].tolist()) for name, column in self._columns.items()
            }

    def state_dict(self) -> dict[str, Any]:
        known = {name: torch.tensor(_to_numpy(self._known(name))) for name in COLUMNS}
        return {"until": self._known_until} | known

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        self._known_until = state["until"]
        # Earlier versions did not note what a label took.
        unknown = torch.full((len(state["ids"]),), float("nan"), dtype=torch.float64)
        self._columns = {name: array(kind, state.get(name, unknown).tolist()) for name, kind in COLUMNS.items()}

    def write(self) -> None:
        """What was labelled so far."""
        write_json(self.path, {**self.choice, "frames": {str(step): ids for step, ids in self.frames.items()}})

    def _known(self, name: str) -> array[Any]:
        return self._columns[name][: self.count]


def _to_numpy(numbers: array[Any]) -> NDArray[Any]:
    """All at once: one by one, a million of them would take longer than a step. A copy, so that more can be added."""
    return np.frombuffer(numbers, np.int64 if numbers.typecode == "q" else np.float64).copy()
