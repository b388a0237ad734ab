"""Who reveals labels, and for which frames of a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from leocod.types import LabelledFrame, Labels


class Labeller(Protocol):
    """Decides which frames of a step a person labels. Sees the truth; hands out only what it reveals."""

    def reveal(self, step: int, pairs: Sequence[LabelledFrame]) -> Mapping[int, Labels]:
        """Frame id -> labels of the frames that get labelled at this step."""
        ...
