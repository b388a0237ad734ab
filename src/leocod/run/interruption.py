"""Ctrl-C and SIGTERM: asked to stop, a run ends where it can be saved. Asked again, it ends at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

from leocod.errors import Interrupted
from leocod.training import distributed

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """Notes that somebody wants the run to stop, until the learner is at rest."""

    def __init__(self) -> None:
        self.asked: signal.Signals | None = None
        self.at_rest = False
        """Whether the learner is, and so whoever is waiting for frames or evaluating can be broken off at once."""
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        # Python allows it there only; elsewhere, nobody would have asked us.
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
        """The learner is at rest from now on: raise if somebody has asked, and as soon as somebody does.

        Of several processes, all have to stop after the same step; they ask each other between steps.
        """
        # First: whoever asks in between is heard by one of the two.
        self.at_rest = alone = distributed.size() == 1
        if alone or between_steps:
            self._leave(distributed.any_of(self.asked))

    def _leave(self, asked: signal.Signals | None) -> None:
        if asked is not None:
            self.at_rest = False
            raise Interrupted(f"Asked to stop by {asked.name}.", asked)
