"""Detections become pseudo labels: those that the pseudo-labeller is sure of, each object once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import torch
from pydantic import Field, field_validator, model_validator
from torchvision.ops import batched_nms

from leocod.plugins.pseudo_labellers.base import PSEUDO_LABELLERS, PseudoLabelRequest
from leocod.settings import Settings
from leocod.types import Detections, Labels, list_classes


class ConfidentLabelSettings(Settings):
    """Who writes pseudo labels, and what becomes one."""

    labeller: str = "slow"
    """The pseudo-labeller, who writes the pseudo labels: the `slow` learner, as in the paper, or the `fast` one. Or
    module:Class."""
    score_threshold: float = Field(0.7, ge=0, le=1)
    """Pseudo labels are detections with a higher score."""
    unsure_above: float | None = Field(None, ge=0, le=1)
    """Detections with a lower score than the threshold but a higher one than this are neither labels nor background:
    regions over them are left out of the loss. Null, as in the paper: they are background."""
    nms_threshold: float = Field(0.5, gt=0, le=1)
    """Of two pseudo labels of one class that overlap more, the better one stays."""
    most_per_frame: int = Field(100, ge=1)
    """Pseudo labels in one frame, at most."""
    context: float = Field(1.0, gt=0, le=1)
    """What scores are multiplied by for classes that no labelled frame of the step shows: they are less likely to be
    around. Without labelled frames no class is discounted. 1, as in the paper: they count as they are."""

    @field_validator("labeller")
    @classmethod
    def _find_labeller(cls, name: str) -> str:
        PSEUDO_LABELLERS.find(name)
        return name

    @model_validator(mode="after")
    def _unsure_is_less_than_sure(self) -> Self:
        if self.unsure_above is not None and self.unsure_above >= self.score_threshold:
            raise ValueError(f"unsure_above is {self.unsure_above}: it should be less than score_threshold.")
        return self


class ConfidentLabels:
    """Asks the pseudo-labeller, and keeps what it is sure of."""

    def __init__(self, options: ConfidentLabelSettings) -> None:
        self.options = options
        self.pseudo_labeller = PSEUDO_LABELLERS.find(options.labeller)()

    def write(self, request: PseudoLabelRequest) -> list[Labels]:
        """The labels of each frame."""
        around = list_classes(labels for _, labels in request.labelled)
        # Without a labelled frame nothing is known, and no class counts as absent.
        factor = self.options.context if request.labelled else 1.0
        return [
            select_confident(
                discount(found, around, factor),
                above=self.options.score_threshold,
                unsure_above=self.options.unsure_above,
                nms_threshold=self.options.nms_threshold,
                most=self.options.most_per_frame,
            )
            for found in self.pseudo_labeller.detect(request)
        ]

    def try_out(self, request: PseudoLabelRequest) -> list[Labels]:
        """What it would write. The pseudo-labeller does not remember that it was asked."""
        state = self.pseudo_labeller.state_dict()
        try:
            return self.write(request)
        finally:
            self.pseudo_labeller.load_state_dict(state)


def discount(found: Detections, around: Sequence[int], factor: float) -> Detections:
    """With scores times the factor for classes other than those around."""
    if factor == 1:
        return found
    scores = found.scores * np.where(np.isin(found.classes, around), 1.0, factor).astype(np.float32)
    best = np.argsort(-scores, kind="stable")
    return Detections(found.boxes[best], found.classes[best], scores[best])


def select_confident(
    found: Detections, *, above: float, unsure_above: float | None, nms_threshold: float, most: int
) -> Labels:
    """Labels of what has a score above `above`; what lies between the two scores is neither label nor background."""
    sure = suppress(found.above(above), nms_threshold, most)
    if unsure_above is None:
        return Labels(sure.boxes, sure.classes)
    possible = found.above(unsure_above)
    return Labels(sure.boxes, sure.classes, unsure=possible.boxes[possible.scores <= above])


def suppress(found: Detections, threshold: float, most: int) -> Detections:
    """The best ones, at most so many: of two of a class that overlap more than the threshold, the better one stays."""
    if len(found) < 2:
        return found
    best = batched_nms(
        torch.from_numpy(found.boxes), torch.from_numpy(found.scores), torch.from_numpy(found.classes), threshold
    ).numpy()[:most]
    return Detections(found.boxes[best], found.classes[best], found.scores[best])
