"""Labelled frames that somebody chose before, such as a published selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leocod.types import LabelledFrame, Labels


class FixedLabeller:
    """The frames that somebody chose before, such as a published selection, and no others.

    A chosen frame that nobody has labelled is not revealed.
    """

    seed = None
    nested = False

    def __init__(self, chosen: frozenset[int], *, per_step: int) -> None:
        """`per_step` is the budget that the choice was made for. Nothing depends on it; it is kept for the record."""
        self.chosen = chosen
        self.per_step = per_step

    def reveal(self, step: int, pairs: Sequence[LabelledFrame]) -> Mapping[int, Labels]:
        return {frame.id: labels for frame, labels in pairs if frame.id in self.chosen and labels.known}
