"""The intake of a memory: which frames of a step may enter it."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from leocod.types import LabelledFrame, LossWeights, Step

IntakeName = Literal["released", "random", "all"]

FRAMES = 4
"""Labelled frames of a step that may enter a memory in the authors' code."""


def select_frames(step: Step, intake: IntakeName, random: np.random.Generator) -> list[LabelledFrame]:
    """The frames of a step that may enter a memory: labelled by a person, as many as the intake allows."""
    # How much a frame counts in the update of its own step says nothing about later ones.
    pairs = [(frame, replace(labels, weights=LossWeights())) for frame, labels in step.labelled("human")]
    if intake == "all":
        return pairs
    if intake == "released" and len(pairs) == len(step.frames):
        pairs = pairs[:FRAMES]
    chosen = random.permutation(len(pairs))[:FRAMES]
    return [pairs[number] for number in sorted(chosen)]
