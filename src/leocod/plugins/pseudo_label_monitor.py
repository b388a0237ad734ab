"""Tells when pseudo labels have collapsed: there are none any more, or far more than there can be objects."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from leocod.types import LabelledFrame

Alarm = Literal["none", "flood"]


class PseudoLabelMonitor:
    """Compares pseudo labels with a person's labels over the last steps.

    A detector that teaches itself can talk itself into anything: that nothing is there, or everything. What people
    label in the same stretch of the stream says how much there is to find.
    """

    def __init__(self, steps: int, flood: float) -> None:
        self.flood = flood
        self.alarm: Alarm | None = None
        self._counts: deque[tuple[int, int, int, int]] = deque(maxlen=steps)
        """Of each step: labelled frames, objects in them; pseudo-labelled frames, labels in them."""

    def add(self, labelled: Sequence[LabelledFrame], pseudo: Sequence[LabelledFrame]) -> str | None:
        """Take note of a step. Says what has just gone wrong, or that it is well again."""
        if not pseudo:
            return None
        groups = (labelled, pseudo)
        counts = [(len(pairs), sum(len(labels) for _, labels in pairs)) for pairs in groups]
        self._counts.append((*counts[0], *counts[1]))
        before, self.alarm = self.alarm, self._check()
        return self._describe() if self.alarm != before else None

    def _check(self) -> Alarm | None:
        frames, objects, pseudo_frames, found = map(sum, zip(*self._counts, strict=True))
        # Where people see nothing, there is nothing to compare with, and so no news.
        if len(self._counts) < (self._counts.maxlen or 0) or not objects:
            return self.alarm
        if not found:
            return "none"
        return "flood" if found / pseudo_frames > self.flood * objects / frames else None

    def _describe(self) -> str:
        if self.alarm is None:
            return "Pseudo labels have recovered."
        frames, objects, pseudo_frames, found = map(sum, zip(*self._counts, strict=True))
        return (
            f"Pseudo labels have collapsed: {found / pseudo_frames:.2f} a frame in the last {len(self._counts)} steps, "
            f"where labelled frames show {objects / frames:.2f} objects."
        )

    def state_dict(self) -> dict[str, Any]:
        """Everything that the next step depends on."""
        return {"alarm": self.alarm, "counts": [list(one) for one in self._counts]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self.alarm = state["alarm"]
        self._counts.clear()
        self._counts.extend((one[0], one[1], one[2], one[3]) for one in state["counts"])
