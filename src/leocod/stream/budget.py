"""How many frames a person may be asked for by now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leocod.errors import InvalidConfig
from leocod.labelling.base import LabellerOptions


class Budget:
    """So many frames at every step; or what a whole stream or an hour allows, in which unspent frames carry over.

    >>> budget = Budget(LabellerOptions(per_step=None, total=3), length=6)
    >>> [budget.allow(step, frames=16) for step in range(4)]
    [0, 1, 1, 2]
    >>> budget.spend(2)
    >>> [budget.allow(step, frames=16) for step in (4, 5)]
    [0, 1]
    """

    def __init__(self, options: LabellerOptions, length: int | None, *, has_clock: bool = False) -> None:
        """`length`: steps of the stream; None where nobody knows. `has_clock`: somebody says how long each step is."""
        if options.total is not None and not length:
            raise InvalidConfig("labels.total: nobody knows how long the stream is. Use labels.per_hour or per_step.")
        if options.per_hour is not None and options.frames_per_second is None and not has_clock:
            raise InvalidConfig("labels.per_hour: the stream has no clock. Set labels.frames_per_second.")
        self.options = options
        self.length = length
        self.spent = 0
        self.seconds = 0.0
        """Of video, so far."""

    def allow(self, step: int, frames: int, seconds: float | None = None) -> int:
        """Frames that may be asked for now. Asked once for each step, of so many frames and so many seconds."""
        if self.options.per_step is not None:
            return self.options.per_step
        if self.options.total is not None:
            assert self.length
            earned = self.options.total * min(step + 1, self.length) // self.length
        else:
            assert self.options.per_hour is not None
            self.seconds += frames / (self.options.frames_per_second or 1.0) if seconds is None else seconds
            earned = int(self.options.per_hour * self.seconds / 3600)
        return min(max(earned - self.spent, 0), frames)

    def spend(self, frames: int) -> None:
        """So many frames were asked for."""
        self.spent += frames

    def state_dict(self) -> dict[str, Any]:
        """What the next answer depends on."""
        return {"spent": self.spent, "seconds": self.seconds}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self.spent, self.seconds = state["spent"], state["seconds"]
