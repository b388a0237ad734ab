"""checkpoints/: everything that the next step depends on, as it was after a step."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from leocod.events import Event, RunStarted, StepArrived, StepFinished, StepLearned, StreamEnded
from leocod.files.atomic import remove
from leocod.files.checkpoint import ENDING, write_checkpoint
from leocod.files.run_directory import format_step, list_by_step
from leocod.learner import Learner
from leocod.sinks.base import BaseSink, Sink


class Checkpoints(BaseSink):
    """Saves every so many steps or minutes and after the last step, and keeps the newest few.

    It comes after the sinks whose state it saves, so that they know every event that it knows.
    """

    def __init__(
        self,
        folder: Path,
        learner: Learner,
        sinks: Mapping[str, Sink],
        *,
        every: int,
        minutes: float | None = None,
        keep: int,
        config: Mapping[str, Any],
        stream_state: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`stream_state`: of the checkpoint that a run resumes from. `clock`: seconds since any moment."""
        self.folder = folder
        self.learner = learner
        self.sinks = sinks
        self.every = every
        self.minutes = minutes
        self.keep = keep
        self.config = dict(config)
        self._started: RunStarted | None = None
        self._stream_state = stream_state or {}
        self._at_rest: tuple[int, bool] | None = None
        """The step learnt last, and whether it is finished; None while one is being learnt."""
        self._saved: tuple[int, bool] | None = None
        self._clock = clock
        self._saved_at = clock()
        """When the last checkpoint was written, or the run began."""

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._started = event
            self._saved_at = self._clock()
        elif isinstance(event, StepArrived):
            self._at_rest = None
            self._stream_state = event.stream_state
        elif isinstance(event, StepLearned):
            self._at_rest = (event.step, False)
        elif isinstance(event, StepFinished):
            self._at_rest = (event.step, True)
            if (event.step + 1) % self.every == 0 or self._is_late():
                self.save()
        elif isinstance(event, StreamEnded):
            self.save()

    def save(self) -> None:
        """The learner as it is, whole or not at all; then forget the oldest. Not while it learns."""
        if self._at_rest is not None and self._at_rest != self._saved:
            step, finished = self._at_rest
            write_checkpoint(self.folder / f"{format_step(step)}{ENDING}", self._state(step, finished))
            self._saved, self._saved_at = self._at_rest, self._clock()
            for old in list_by_step(self.folder, ENDING)[: -self.keep]:
                remove(old)

    def _is_late(self) -> bool:
        return self.minutes is not None and self._clock() - self._saved_at >= 60 * self.minutes

    def _state(self, step: int, finished: bool) -> dict[str, Any]:
        learner = self.learner.state_dict()
        return {
            "step": step,
            "finished": finished,
            "classes": list(self._started.classes) if self._started else [],
            "steps": self._started.steps if self._started else 0,
            "known_classes": self._list_known_classes(),
            "config": self.config,
            "learner": learner,
            "deployed": _name_deployed(self.learner, learner),
            "stream": dict(self._stream_state),
            "sinks": {name: sink.state_dict() for name, sink in self.sinks.items()},
            "torch_random": torch.get_rng_state(),
            "cuda_random": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        }

    def _list_known_classes(self) -> list[str] | None:
        known = self._started.known_classes if self._started else None
        return None if known is None else list(known)


def _name_deployed(learner: Any, state: Mapping[str, Any]) -> str | None:
    """The entry of a learner's state that holds its deployed detector: that of the attribute with the same name.

    None: the learner keeps it elsewhere, and only the learner finds it again.
    """
    deployed = learner.deployed_detector
    while learner is not None:
        for name in state:
            if getattr(learner, name, None) is deployed:
                return name
        learner = getattr(learner, "learner", None)
    return None
