"""Tells when pseudo labels have gone bad: there are none any more, far too many, or mostly wrong ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from leocod.events import PseudoLabelCheck
from leocod.text import pluralize
from leocod.types import LabelledFrame

Alarm = Literal["none", "flood"]

FEWEST_CHECKED = 20
"""Labels that must have been compared with a person's before they can be called mostly wrong, or mostly right."""


class PseudoLabelMonitor:
    """Compares pseudo labels with a person's labels over the last steps.

    A detector that teaches itself can talk itself into anything: that nothing is there, or everything. What people
    label in the same stretch of the stream says how much there is to find, and, where the pseudo-labeller is asked
    about such a frame, how much of what it would write is right.
    """

    def __init__(self, steps: int, flood: float) -> None:
        self.flood = flood
        self.alarm: Alarm | None = None
        self.mostly_wrong = False
        self._counts: deque[tuple[int, int, int, int]] = deque(maxlen=steps)
        """Of each step: labelled frames, objects in them; pseudo-labelled frames, labels in them."""
        self._checks: deque[tuple[int, int]] = deque(maxlen=steps)
        """Of each step: labels that were compared with a person's, right ones."""

    def add(
        self,
        labelled: Sequence[LabelledFrame],
        pseudo: Sequence[LabelledFrame],
        check: PseudoLabelCheck | None = None,
    ) -> list[str]:
        """Take note of a step. Says what has just gone wrong, or that it is well again."""
        if not pseudo:
            return []
        groups = (labelled, pseudo)
        counts = [(len(pairs), sum(len(labels) for _, labels in pairs)) for pairs in groups]
        self._counts.append((*counts[0], *counts[1]))
        self._checks.append((check.labels, check.right) if check else (0, 0))
        before, self.alarm = (self.alarm, self.mostly_wrong), self._look_for_collapse()
        self.mostly_wrong = self._look_for_errors()
        collapse = [self._describe_collapse()] if self.alarm != before[0] else []
        return collapse + ([self._describe_errors()] if self.mostly_wrong != before[1] else [])

    def _look_for_collapse(self) -> Alarm | None:
        frames, objects, pseudo_frames, found = map(sum, zip(*self._counts, strict=True))
        # Where people see nothing, there is nothing to compare with, and so no news.
        if len(self._counts) < (self._counts.maxlen or 0) or not objects:
            return self.alarm
        if not found:
            return "none"
        return "flood" if found / pseudo_frames > self.flood * objects / frames else None

    def _look_for_errors(self) -> bool:
        labels, right = map(sum, zip(*self._checks, strict=True))
        # Of a few labels, most may be wrong by chance.
        return 2 * right < labels if labels >= FEWEST_CHECKED else self.mostly_wrong

    def _describe_collapse(self) -> str:
        if self.alarm is None:
            return "Pseudo labels have recovered."
        frames, objects, pseudo_frames, found = map(sum, zip(*self._counts, strict=True))
        return (
            f"Pseudo labels have collapsed: {found / pseudo_frames:.2f} a frame in the last "
            f"{pluralize(len(self._counts), 'step')}, where labelled frames show {objects / frames:.2f} objects."
        )

    def _describe_errors(self) -> str:
        labels, right = map(sum, zip(*self._checks, strict=True))
        steps = pluralize(len(self._checks), "step")
        counted = (
            f"in the last {steps} {right} of {labels} that the pseudo-labeller would have written on labelled frames "
            "were right."
        )
        if not self.mostly_wrong:
            return f"Pseudo labels are mostly right again: {counted}"
        return (
            f"Pseudo labels are mostly wrong: {counted} Raise efficient_cls.score_threshold, so that only surer ones "
            "are written, or set efficient_cls.pseudo_labels to false."
        )

    def state_dict(self) -> dict[str, Any]:
        """Everything that the next step depends on."""
        return {
            "alarm": self.alarm,
            "counts": [list(one) for one in self._counts],
            "mostly_wrong": self.mostly_wrong,
            "checks": [list(one) for one in self._checks],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self.alarm = state["alarm"]
        self._counts.clear()
        self._counts.extend((one[0], one[1], one[2], one[3]) for one in state["counts"])
        # Earlier versions did not ask about labelled frames.
        self.mostly_wrong = state.get("mostly_wrong", False)
        self._checks.clear()
        self._checks.extend((one[0], one[1]) for one in state.get("checks", ()))
