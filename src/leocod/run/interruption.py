"""Ctrl-C and SIGTERM: the first one stops a run where it can be saved, the second one stops it at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

from leocod.errors import Interrupted
from leocod.training import distributed

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """Remembers a signal until the learner is at rest, then raises Interrupted."""

    def __init__(self) -> None:
        self.asked: signal.Signals | None = None
        self.at_rest = False
        """Whether the learner is at rest: then waiting for frames, or an evaluation, can be interrupted at once."""
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        # Python allows signal handlers in the main thread only.
        if threading.current_thread() is threading.main_thread():
            self._before = {one: signal.signal(one, self._note) for one in SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one, handler in self._before.items():
            signal.signal(one, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked is not None:
            raise KeyboardInterrupt(number)
        self.asked = signal.Signals(number)
        if self.at_rest:
            self._leave(self.asked)

    def rest(self, *, between_steps: bool) -> None:
        """The learner is at rest from now on: raise if a signal has come, and as soon as one comes.

        Several processes must all stop after the same step, so they ask each other between steps.
        """
        # Set first, so that a signal between these two lines is noticed by one of them.
        self.at_rest = alone = distributed.size() == 1
        if alone or between_steps:
            self._leave(distributed.any_of(self.asked))

    def _leave(self, asked: signal.Signals | None) -> None:
        if asked is not None:
            self.at_rest = False
            raise Interrupted(f"Asked to stop by {asked.name}.", asked)
