"""checkpoints/: the learner as it was after a step."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from leocod.events import Event, RunFinished, RunStarted, StepFinished
from leocod.learner import Learner
from leocod.rundir import by_step, replacing, step_name
from leocod.sinks.base import Resting


class Checkpoints(Resting):
    """Saves every so many steps and after the last one, and keeps the newest few.

    Only between steps: saved before its evaluation, a step that is gone on from would never be evaluated.
    """

    def __init__(self, folder: Path, learner: Learner, *, every: int, keep: int, config: Mapping[str, Any]) -> None:
        self.folder = folder
        self.learner = learner
        self.every = every
        self.keep = keep
        self.config = dict(config)
        self._classes: tuple[str, ...] = ()
        self._last_step: int | None = None
        self._saved_step: int | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._classes = event.classes
        elif isinstance(event, StepFinished):
            self._last_step = event.step
            if (event.step + 1) % self.every == 0:
                self.save(event.step)
        elif isinstance(event, RunFinished) and self._last_step is not None and self._last_step != self._saved_step:
            self.save(self._last_step)

    def save(self, step: int) -> None:
        """Whole or not at all; then forget the oldest."""
        with replacing(self._path(step)) as temporary:
            torch.save(
                {
                    "step": step,
                    "classes": list(self._classes),
                    "config": self.config,
                    "learner": self.learner.state_dict(),
                    "torch_random": torch.get_rng_state(),
                },
                temporary,
            )
        self._saved_step = step
        for old in by_step(self.folder)[: -self.keep]:
            old.unlink()

    def _path(self, step: int) -> Path:
        return self.folder / f"{step_name(step)}.pt"


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Tensors and plain values only: nothing in the file is run."""
    state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    return state
