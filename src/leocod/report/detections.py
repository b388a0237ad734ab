"""test.json and detections/, read back: what any metric can be computed from again, without the model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from leocod.errors import InvalidData
from leocod.evaluation.ap import Matches, Scorer, Style
from leocod.evaluation.coco_form import from_coco_results, from_coco_truth
from leocod.evaluation.error_breakdown import ErrorCounts, count_errors
from leocod.files.run_directory import format_step
from leocod.files.run_files import make_damage_error, read_json, read_lines
from leocod.report.event_log import validate
from leocod.report.schemas import LARGEST, LONGEST_LINE, StoredBox, TestedStep, TestFile
from leocod.text import pluralize
from leocod.types import Detections, Labels

PREQUENTIAL = "prequential.jsonl"
"""In detections/: what was found in the frames of each step before it was learnt, and the truth."""

LARGEST_PREQUENTIAL = 2**36
"""Bytes. It grows with the stream, but only a line of it is held at a time."""

TEST, DETECTIONS, TESTED = TypeAdapter(TestFile), TypeAdapter(list[StoredBox]), TypeAdapter(TestedStep)


def name_detections(step: int) -> str:
    """The file in detections/ of the evaluation after a step; -1: of the one before the first step.

    >>> name_detections(99), name_detections(-1)
    ('step_00099.json', 'start.json')
    """
    return "start.json" if step < 0 else f"{format_step(step)}.json"


@dataclass(frozen=True)
class StoredTest:
    """The test set of a run directory, and what was found in it at each evaluation."""

    path: Path
    classes: tuple[str, ...]
    truth: Mapping[int, Labels]

    @classmethod
    def read(cls, path: Path) -> StoredTest:
        """The test frames of a run directory and their true boxes."""
        file = path / "test.json"
        test = validate(read_json(file, path, largest=LARGEST), file, TEST)
        numbers, ids = [category.id for category in test.categories], [image.id for image in test.images]
        if numbers != list(range(1, len(numbers) + 1)):
            raise make_damage_error(file, "categories: their ids should be 1, 2, 3 and so on")
        if len(set(ids)) < len(ids):
            raise make_damage_error(file, "images: an id is there twice")
        with _name_file(file):
            truth = from_coco_truth(test.annotations, ids)
            _check(truth, ids, len(numbers))
        return cls(path, tuple(category.name for category in test.categories), truth)

    @cached_property
    def digest(self) -> str:
        """Equal where the test frames and their true boxes are."""
        held = hashlib.sha256()
        for frame, labels in sorted(self.truth.items()):
            held.update(f"{frame} {len(labels)} ".encode())
            held.update(labels.boxes.tobytes())
            held.update(labels.classes.tobytes())
        return held.hexdigest()

    def has_detections(self, step: int) -> bool:
        """Whether the detections after a step were kept; -1: those before the first one."""
        return self._file(step).is_file()

    def read_detections(self, step: int) -> dict[int, Detections]:
        """What was found after a step; -1: before the first one."""
        file = self._file(step)
        boxes = validate(read_json(file, self.path, largest=LARGEST), file, DETECTIONS)
        detections = from_coco_results(boxes, self.truth)
        with _name_file(file):
            _check(detections, self.truth, len(self.classes))
        return detections

    def score(self, steps: Sequence[int], style: Style) -> NDArray[np.float64]:
        """AP after each of these steps, in points: steps x classes; NaN for a class without a test box."""
        scorer = Scorer(self.truth, len(self.classes), style=style)
        rows = [scorer.score(self.read_detections(step)) for step in steps]
        return 100 * np.array(rows, np.float64).reshape(len(rows), len(self.classes))

    def count_errors(self, step: int) -> ErrorCounts:
        """What is wrong with the detections after a step, by kind and class."""
        return count_errors(self.read_detections(step), self.truth, len(self.classes))

    def _file(self, step: int) -> Path:
        return self.path / "detections" / name_detections(step)


def read_prequential(path: Path, classes: int, style: Style) -> NDArray[np.float64] | None:
    """AP of each class in the training frames, each detected before it was learnt, in points; None if not recorded."""
    file = path / "detections" / PREQUENTIAL
    if not file.is_file() or not file.stat().st_size:
        return None
    parts = list(_match_steps(file, path, classes, style))
    return 100 * Matches.join(parts).average_precision(style) if parts else None


def _match_steps(file: Path, path: Path, classes: int, style: Style) -> Iterator[Matches]:
    for number, value in read_lines(file, path, largest=LARGEST_PREQUENTIAL, longest=LONGEST_LINE):
        place = f"line {number}: "
        frames = validate(value, file, TESTED, place).frames
        with _name_file(file, place):
            truth = {frame.id: Labels(*_split(frame.truth)) for frame in frames}
            detections = {
                frame.id: Detections(*_split(frame.boxes), np.array([box[5] for box in frame.boxes], np.float32))
                for frame in frames
            }
            matches = Scorer(truth, classes, style=style).match(detections)
        yield matches


def _split(rows: Sequence[Sequence[float]]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The corners and the class of each box."""
    boxes = np.array([row[:4] for row in rows], np.float32).reshape(-1, 4)
    return boxes, np.array([row[4] for row in rows], np.int64)


def _check(boxes: Mapping[int, Labels] | Mapping[int, Detections], frames: Iterable[int], classes: int) -> None:
    if strangers := sorted(set(boxes) - set(frames)):
        raise InvalidData(f"a box in frame {strangers[0]}, which is no test frame")
    highest = max((int(marked.classes.max()) for marked in boxes.values() if len(marked)), default=-1)
    if highest >= classes:
        raise InvalidData(f"a box of class {highest + 1}, but the run has {pluralize(classes, 'class')}")


@contextmanager
def _name_file(file: Path, place: str = "") -> Iterator[None]:
    """What is wrong with the content is wrong with the file."""
    try:
        yield
    except InvalidData as error:
        raise make_damage_error(file, f"{place}{error}") from error
