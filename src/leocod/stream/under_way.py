"""Frames whose labels are under way: a person has been asked, and has not answered yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from leocod.memory.saving import pack_frame, pack_labels, unpack_frame, unpack_labels
from leocod.types import LabelledFrame


class UnderWay:
    """Holds the frames that were asked for until their labels come, a number of steps later.

    They are held as a checkpoint has them, so that a state costs nothing: what has passed is not asked for again.
    """

    def __init__(self, delay: int) -> None:
        self.delay = delay
        self._asked: deque[dict[str, Any]] = deque()
        """Oldest first."""

    def exchange(self, step: int, asked: Sequence[LabelledFrame]) -> list[LabelledFrame]:
        """Take the frames that are asked for at a step, and give back those whose labels come with it."""
        for frame, labels in asked:
            one = {"due": step + self.delay, "bytes": frame.bytes + labels.bytes}
            self._asked.append({**one, "frame": pack_frame(frame), "labels": pack_labels(frame, labels)})
        arrived = []
        while self._asked and self._asked[0]["due"] <= step:
            come = self._asked.popleft()
            arrived.append((unpack_frame(come["frame"]), unpack_labels(come["labels"])))
        return arrived

    @property
    def bytes(self) -> int:
        """Of pixels and labels held."""
        return sum(one["bytes"] for one in self._asked)

    def state_dict(self) -> list[dict[str, Any]]:
        """What is held, as tensors and plain values that never change."""
        return list(self._asked)

    def load_state_dict(self, state: Sequence[Mapping[str, Any]]) -> None:
        """Go on from a state."""
        self._asked = deque(dict(one) for one in state)
