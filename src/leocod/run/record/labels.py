"""labels.json: which frames were labelled."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from leocod.events import Event, RunFinished, StepArrived, StepLearned
from leocod.files.atomic import write_json
from leocod.sinks.base import BaseSink


class LabelRecord(BaseSink):
    """Notes which frames a person labelled for each step, and writes them at the end of the run."""

    def __init__(self, path: Path, choice: Mapping[str, Any]) -> None:
        """`choice`: how the frames were chosen, for the file."""
        self.path = path
        self.choice = dict(choice)
        # Two plain numbers a label: a stream of weeks has millions.
        self._steps, self._ids = array("q"), array("q")
        self._known_until = -1
        """The last step whose labels are all noted."""

    @property
    def frames(self) -> dict[int, list[int]]:
        """Step -> ids of the labelled frames, of the steps that have any."""
        found: dict[int, list[int]] = {}
        for step, frame in zip(self._steps[: self.count], self._ids[: self.count], strict=True):
            found.setdefault(step, []).append(frame)
        return found

    @property
    def count(self) -> int:
        """Frames labelled so far."""
        return bisect_right(self._steps, self._known_until)

    def add(self, step: int, ids: Iterable[int]) -> None:
        """Note the labelled frames of a step. A resumed run tells some steps again; the first answer stays."""
        if step > self._known_until:
            ids = list(ids)
            self._steps.extend([step] * len(ids))
            self._ids.extend(ids)
            self._known_until = step

    def __call__(self, event: Event) -> None:
        if isinstance(event, StepArrived):
            for step, ids in event.revealed.items():
                self.add(step, ids)
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
        kept = ~np.isin(_to_numpy(self._ids), list(skipped))
        if not kept.all():
            self._steps, self._ids = (array("q", _to_numpy(held)[kept].tolist()) for held in (self._steps, self._ids))

    def state_dict(self) -> dict[str, Any]:
        known = {"steps": self._steps[: self.count], "ids": self._ids[: self.count]}
        return {"until": self._known_until} | {name: torch.tensor(_to_numpy(held)) for name, held in known.items()}

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        self._known_until = state["until"]
        self._steps, self._ids = (array("q", state[name].tolist()) for name in ("steps", "ids"))

    def write(self) -> None:
        """What was labelled so far."""
        write_json(self.path, {**self.choice, "frames": {str(step): ids for step, ids in self.frames.items()}})


def _to_numpy(numbers: array[int]) -> NDArray[np.int64]:
    """All at once: one by one, a million of them would take longer than a step. A copy, so that more can be added."""
    return np.frombuffer(numbers, np.int64).copy()
