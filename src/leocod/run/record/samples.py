"""samples/: a few frames worth looking at, with true boxes and the boxes that were given or found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image as PillowImage

from leocod.evaluation.evaluator import spread_evenly
from leocod.events import Evaluated, Event, RunFinished, RunStarted, StepLearned
from leocod.files.atomic import atomic_write, write_json
from leocod.learner import Learner
from leocod.sinks.base import BaseSink
from leocod.types import Detections, Frame, LabelledFrame, Labels

PSEUDO_STEPS = 4
PSEUDO_FRAMES = 2
"""Of each of these steps."""
TEST_FRAMES = 8
MEMORY_FRAMES = 12
LOWEST_SCORE = 0.3
"""Of detections that are shown."""


class Samples(BaseSink):
    """Picks frames evenly spread over the run, the test set and the memory. Belongs to the benchmark's side."""

    def __init__(self, folder: Path, learner: Learner, test: Sequence[LabelledFrame]) -> None:
        """`test`: the frames that evaluations look at."""
        self.folder = folder
        self.learner = learner
        self.test = test
        self.entries: list[dict[str, Any]] = []
        """Of pseudo labels so far; at the end, of all."""
        self._steps: set[int] | None = set()
        """Steps whose pseudo labels are shown; None: the stream's length is not known."""
        self._found: list[tuple[int, int, list[list[float]]]] = []
        """Of the last evaluation, for each test frame that is shown: its step, place in the test, and boxes found."""

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            # Not the very first one, in which nothing has been learnt.
            self._steps = None if event.steps is None else set(spread_evenly(event.steps, PSEUDO_STEPS + 1)[1:])
        elif isinstance(event, StepLearned) and self._is_shown(event.step):
            self.entries += self._keep_pseudo(event)
        elif isinstance(event, Evaluated) and event.step >= 0:
            chosen = spread_evenly(len(self.test), TEST_FRAMES)
            self._found = [(event.step, place, self._list_boxes(event, place)) for place in chosen]
        elif isinstance(event, RunFinished):
            # A run that went on may find some of its earlier pictures gone: it can do without them.
            left = [entry for entry in self.entries if (self.folder / entry["file"]).exists()]
            self.entries = [*left, *self._keep_test(), *self._keep_memory(event.steps - 1)]
            write_json(self.folder / "samples.json", self.entries, indent=2)

    def _is_shown(self, step: int) -> bool:
        """Of a stream of unknown length: steps 1, 2, 4, 8, and so on."""
        return step in self._steps if self._steps is not None else step > 0 and step & (step - 1) == 0

    def _keep_pseudo(self, event: StepLearned) -> list[dict[str, Any]]:
        frames = [frame for frame in event.frames if frame.id in event.pseudo]
        chosen = [frames[number] for number in spread_evenly(len(frames), PSEUDO_FRAMES)]
        return [
            self._keep("pseudo", event.step, frame, event.truth.get(frame.id, Labels.unknown()), boxes)
            for frame, boxes in ((frame, _to_scored_rows(event.pseudo[frame.id])) for frame in chosen)
        ]

    def _list_boxes(self, event: Evaluated, place: int) -> list[list[float]]:
        return _to_scored_rows(event.detections[self.test[place][0].id].above(LOWEST_SCORE))

    def _keep_test(self) -> list[dict[str, Any]]:
        return [self._keep("test", step, *self.test[place], boxes) for step, place, boxes in self._found]

    def _keep_memory(self, step: int) -> list[dict[str, Any]]:
        held = self.learner.remembered_frames()
        chosen = [held[number] for number in spread_evenly(len(held), MEMORY_FRAMES)]
        return [self._keep("memory", step, frame, labels, _to_scored_rows(labels)) for frame, labels in chosen]

    def _keep(self, kind: str, step: int, frame: Frame, truth: Labels, boxes: list[list[float]]) -> dict[str, Any]:
        name = f"{kind}_{step:05d}_{frame.id}.png"
        with atomic_write(self.folder / name, durable=False) as temporary:
            PillowImage.fromarray(frame.image()).save(temporary, "png")
        rows = _to_rows(truth) if truth.known else None
        place = {"frame": frame.id, "name": f"{frame.video}/{frame.index}"}
        return {"kind": kind, "step": step, **place, "file": name, "truth": rows, "boxes": boxes}

    def state_dict(self) -> dict[str, Any]:
        return {"entries": self.entries, "found": [list(one) for one in self._found]}

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        self.entries = list(state["entries"])
        self._found = [(step, place, boxes) for step, place, boxes in state["found"]]


def _to_scored_rows(marked: Labels | Detections) -> list[list[float]]:
    """Rows with a score; what is given is sure."""
    scores: Iterable[float] = marked.scores.tolist() if isinstance(marked, Detections) else [1.0] * len(marked)
    return [[*row, round(score, 4)] for row, score in zip(_to_rows(marked), scores, strict=True)]


def _to_rows(marked: Labels | Detections) -> list[list[float]]:
    corners = marked.boxes.astype(float).round(2).tolist()
    return [[*box, category] for box, category in zip(corners, marked.classes.tolist(), strict=True)]
