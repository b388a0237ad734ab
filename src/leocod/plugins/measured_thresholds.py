"""Thresholds by class, from what a person's labels say about the labeller as they arrive.

The labeller predicts labelled frames before anybody learns from them: an estimate of its precision that costs no label.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leocod.evaluation.audit import match_labels
from leocod.types import Detections, Labels

LATEST = 200
"""Detections of a class that are remembered: the labeller changes, and so does the stream."""
FEWEST = 20
"""Detections of a class before it has a threshold of its own. Until then it has that of all classes together."""
FLOOR = 0.2
"""No threshold is below this score: there would be a label on everything."""

Key = tuple[int, bool]
"""A class, and whether the labelled frames around show it."""


class MeasuredThresholds:
    """For each class the lowest score above which enough detections were right.

    Classes that the other labelled frames of a step show are measured apart from those that they don't: what is around
    is likely to be in the picture.
    """

    def __init__(self, precision: float, default: float) -> None:
        """`default` is the threshold while too little has been measured."""
        self.precision = precision
        self.default = default
        self._seen: defaultdict[Key, deque[tuple[float, bool]]] = defaultdict(lambda: deque(maxlen=LATEST))
        self._known: dict[Key, float] = {}

    def add(self, found: Detections, given: Labels, around: Collection[int]) -> None:
        """Take note of what was found in a labelled frame; `around` are the classes that other labelled frames show."""
        likely = found.above(FLOOR)
        right = match_labels(Labels(likely.boxes, likely.classes), given)
        for number, score, one in zip(likely.classes.tolist(), likely.scores.tolist(), right.tolist(), strict=True):
            self._seen[number, number in around].append((score, one))
        self._known.clear()

    def select(self, found: Detections, around: Collection[int]) -> NDArray[np.bool_]:
        """Which detections are sure."""
        limits = [self.find(number, number in around) for number in found.classes.tolist()]
        return found.scores > np.array(limits, np.float32)

    def find(self, number: int, shown: bool) -> float:
        """The threshold of a class, by whether the labelled frames around show it."""
        key = (number, shown)
        if key not in self._known:
            own = self._seen.get(key, ())
            pooled = (one for (_, same), all_ in self._seen.items() if same == shown for one in all_)
            seen = own if len(own) >= FEWEST else list(pooled)
            self._known[key] = self._measure(seen)
        return self._known[key]

    def _measure(self, seen: Collection[tuple[float, bool]]) -> float:
        if len(seen) < FEWEST:
            return self.default
        scores, right = (np.array(column) for column in zip(*sorted(seen, reverse=True), strict=True))
        enough = np.cumsum(right) >= self.precision * np.arange(1, len(right) + 1)
        # None is good enough: only what is surer than anything that was measured.
        last = int(np.flatnonzero(enough)[-1]) if enough.any() else -1
        return float(scores[last + 1]) if last + 1 < len(scores) else FLOOR

    def state_dict(self) -> dict[str, Any]:
        """Everything that the next step depends on."""
        return {"seen": [[number, shown, [list(one) for one in all_]] for (number, shown), all_ in self._seen.items()]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._seen.clear()
        self._known.clear()
        for number, shown, all_ in state["seen"]:
            self._seen[number, shown].extend((score, right) for score, right in all_)
