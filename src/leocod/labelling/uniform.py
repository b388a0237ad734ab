"""Labelled frames at even distances."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from leocod.labelling.base import Labeller, LabellerOptions, LabelRequest


class UniformOptions(LabellerOptions):
    """Options of even distances."""


class UniformLabeller(Labeller):
    """Takes frames at even distances, each from the middle of its part of the step: neighbours are often alike."""

    Options: ClassVar[type[LabellerOptions]] = UniformOptions

    def choose(self, request: LabelRequest) -> Iterable[int]:
        frames = request.candidates
        count = min(request.most, len(frames))
        return [frames[(2 * part + 1) * len(frames) // (2 * count)].id for part in range(count)]
