"""labels.json: which frames were labelled. Drawn once, and the same for every strategy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from leocod.events import Evaluated, Event, RunFinished, StepLearned
from leocod.labelling import BudgetLabeller, FixedLabeller
from leocod.rundir import write_json
from leocod.types import LabelledFrame, Labels


class LabelRecord:
    """Stands between the stream and its labeller and takes note of what is revealed; writes it now and then.

    It listens to the labeller and not to the learner's steps, because offline training gets the frames reordered.
    """

    def __init__(self, labeller: BudgetLabeller | FixedLabeller) -> None:
        self.labeller = labeller
        self.path: Path | None = None
        """Where to write; None until there is a run directory."""
        self.frames: dict[int, list[int]] = {}
        """Step -> ids of the labelled frames."""

    @property
    def count(self) -> int:
        """Frames labelled so far."""
        return sum(len(ids) for ids in self.frames.values())

    def reveal(self, step: int, pairs: Sequence[LabelledFrame]) -> Mapping[int, Labels]:
        revealed = self.labeller.reveal(step, pairs)
        self.frames[step] = list(revealed)
        return revealed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A run that was broken off has been given labels too.
        self.write()

    def __call__(self, event: Event) -> None:
        if isinstance(event, StepLearned) and event.skipped:
            # A label for a frame that cannot be read was asked for and never given.
            self.frames = {
                step: [number for number in ids if number not in event.skipped] for step, ids in self.frames.items()
            }
        elif isinstance(event, Evaluated | RunFinished):
            self.write()

    def write(self) -> None:
        """What was revealed so far."""
        if self.path is not None:
            labeller = self.labeller
            drawn = {"per_step": labeller.per_step, "seed": labeller.seed, "nested": labeller.nested}
            write_json(self.path, {**drawn, "frames": {str(step): ids for step, ids in self.frames.items()}})
