"""labels.json: which frames were labelled. Drawn once, and the same for every strategy."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from leocod.events import Event, RunFinished, StepLearned
from leocod.files.atomic import write_json
from leocod.labelling.budget import BudgetLabeller
from leocod.labelling.fixed import FixedLabeller
from leocod.sinks.base import BaseSink
from leocod.types import LabelledFrame, Labels


class LabelRecord(BaseSink):
    """Stands between the stream and its labeller and takes note of what is revealed; writes it at the end.

    It listens to the labeller and not to the learner's steps, because offline training gets the frames reordered.
    """

    def __init__(self, labeller: BudgetLabeller | FixedLabeller) -> None:
        self.labeller = labeller
        self.path: Path | None = None
        """Where to write; None until there is a run directory."""
        # Two plain numbers a label: a stream of weeks has millions.
        self._steps, self._ids = array("q"), array("q")
        self._known_until = -1
        """The last step that was asked about."""

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

    def reveal(self, step: int, pairs: Sequence[LabelledFrame]) -> Mapping[int, Labels]:
        revealed = self.labeller.reveal(step, pairs)
        # A run that goes on is told about a step once more; the answer is the same.
        if step > self._known_until:
            self._steps.extend([step] * len(revealed))
            self._ids.extend(revealed)
            # Last: a run that waits for frames may be broken off right here, and a step half noted does not count.
            self._known_until = step
        return revealed

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A run that was broken off has been given labels too.
        self.write()

    def __call__(self, event: Event) -> None:
        if isinstance(event, StepLearned) and event.skipped:
            self.forget(event.skipped)
        elif isinstance(event, RunFinished):
            self.write()

    def forget(self, skipped: Mapping[int, str]) -> None:
        """A label for a frame that cannot be read was asked for and never given."""
        kept = ~np.isin(_numbers(self._ids), list(skipped))
        if not kept.all():
            self._steps, self._ids = (array("q", _numbers(held)[kept].tolist()) for held in (self._steps, self._ids))

    def state_dict(self) -> dict[str, Any]:
        known = {"steps": self._steps[: self.count], "ids": self._ids[: self.count]}
        return {"until": self._known_until} | {name: torch.tensor(_numbers(held)) for name, held in known.items()}

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        self._known_until = state["until"]
        self._steps, self._ids = (array("q", state[name].tolist()) for name in ("steps", "ids"))

    def write(self) -> None:
        """What was revealed so far."""
        if self.path is not None:
            labeller = self.labeller
            drawn = {"per_step": labeller.per_step, "seed": labeller.seed, "nested": labeller.nested}
            write_json(self.path, {**drawn, "frames": {str(step): ids for step, ids in self.frames.items()}})


def _numbers(held: array[int]) -> NDArray[np.int64]:
    """All at once: one by one, a million of them would take longer than a step. A copy, so that more can be added."""
    return np.frombuffer(held, np.int64).copy()
