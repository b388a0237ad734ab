"""Ends a run that learns nothing any more, because its numbers are not finite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leocod.errors import Diverged
from leocod.events import Event, StepLearned
from leocod.sinks.base import BaseSink
from leocod.text import pluralize


class Guard(BaseSink):
    """Counts the steps in a row that the learner refused. The driver checks it after each step."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._in_a_row = 0
        self._last = ""

    def __call__(self, event: Event) -> None:
        if isinstance(event, StepLearned):
            self._in_a_row = self._in_a_row + 1 if event.refused else 0
            if event.refused:
                self._last = f"step {event.step}: {event.refused}"

    def check(self) -> None:
        """Raise once there are too many."""
        if self._in_a_row >= self.most:
            raise Diverged(
                f"Nothing could be learnt in {pluralize(self._in_a_row, 'step')} in a row, the last being "
                f"{self._last}. The learner is as it was before them. "
                "A lower learning rate, or precision float32, may help."
            )

    def state_dict(self) -> dict[str, Any]:
        return {"in_a_row": self._in_a_row, "last": self._last}

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        self._in_a_row, self._last = state["in_a_row"], state["last"]
