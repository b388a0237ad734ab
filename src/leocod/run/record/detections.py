"""detections/: what was found, at each evaluation and before each step, so that any metric can be computed again."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from leocod.errors import InvalidRun
from leocod.evaluation.coco_form import to_coco_results
from leocod.events import Evaluated, Event, StepTested
from leocod.files.atomic import append, open_to_append, remove, write_json
from leocod.files.run_directory import list_by_step
from leocod.report.detections import PREQUENTIAL, name_detections
from leocod.sinks.base import BaseSink
from leocod.types import Detections, Labels


class DetectionFiles(BaseSink):
    """Writes one file in COCO results form at each evaluation, and keeps the newest few, or all."""

    def __init__(self, folder: Path, *, keep: int | None = None) -> None:
        self.folder = folder
        self.keep = keep

    def __call__(self, event: Event) -> None:
        if isinstance(event, Evaluated):
            write_json(self.folder / name_detections(event.step), to_coco_results(event.detections))
            if self.keep is not None:
                for old in list_by_step(self.folder, ".json")[: -self.keep]:
                    remove(old)


class PrequentialFile(BaseSink):
    """Appends what was found in the frames of a step before it was learnt, with the truth: a line a step.

    There is no file until there is something to write.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / PREQUENTIAL
        self._file: int | None = None
        self._bytes = 0
        """Written so far, whole lines."""

    def __enter__(self) -> Self:
        """Cut off what is later than the state, if there was one: those steps come again."""
        if self.path.exists():
            self._open()
        elif self._bytes:
            raise InvalidRun(f"{self.path} is gone, and the run cannot go on without it. Put it back.")
        return self

    def _open(self) -> int:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open_to_append(self.path)
        if os.fstat(self._file).st_size < self._bytes:
            raise InvalidRun(f"{self.path} is shorter than it was when the checkpoint was saved. Put it back.")
        os.ftruncate(self._file, self._bytes)
        return self._file

    def __call__(self, event: Event) -> None:
        if isinstance(event, StepTested):
            line = (json.dumps(_as_mapping(event), allow_nan=False) + "\n").encode()
            append(self._open() if self._file is None else self._file, line)
            self._bytes += len(line)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def state_dict(self) -> dict[str, Any]:
        if self._file is not None:
            # A checkpoint must not be younger than its log.
            os.fsync(self._file)
        return {"bytes": self._bytes}

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        self._bytes = state["bytes"]


def _as_mapping(event: StepTested) -> dict[str, Any]:
    """Frames whose truth nobody knows are left out: nobody can tell how right their detections are."""
    nothing = Detections(np.zeros((0, 4), np.float32), np.zeros(0, np.int64), np.zeros(0, np.float32))
    frames = [
        {"id": frame, "truth": _rows(labels), "boxes": _rows(event.detections.get(frame, nothing))}
        for frame, labels in event.truth.items()
        if labels.known
    ]
    return {"step": event.step, "frames": frames}


def _rows(marked: Labels | Detections) -> list[list[float]]:
    """Corners and class, and for a detection its score."""
    rows = [
        [*corners, category] for corners, category in zip(_plain(marked.boxes), marked.classes.tolist(), strict=True)
    ]
    if isinstance(marked, Detections):
        return [[*row, score] for row, score in zip(rows, _plain(marked.scores), strict=True)]
    return rows


def _plain(values: NDArray[np.float32]) -> Any:
    """Numbers of as few digits as say which 32-bit number is meant: half as long as those of 64 bits."""
    return [_plain(row) if row.ndim else float(str(row)) for row in values.astype(np.float32)]
