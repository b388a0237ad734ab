"""Labelled frames that look unlike anything in the memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from leocod.labelling.base import LabellerOptions, LearnerView, ScoringLabeller
from leocod.types import Frame


class NoveltyOptions(LabellerOptions):
    """Options of asking for what is new."""

    compare_with: int = Field(128, ge=1)
    """Remembered frames that a step is compared with, evenly from the oldest to the newest. Their features are worked
    out at every step, because the detector has changed."""


class NoveltyLabeller(ScoringLabeller):
    """Asks for the frames whose features are farthest from those of the remembered frames, and from each other's.

    The frame that is farthest from all remembered ones comes first. The next one is farthest from these and from the
    first; and so on. Its distance is its score. While nothing is remembered, the step's mean stands for it.

    Greedy k-center: Sener and Savarese, Active Learning for Convolutional Neural Networks: A Core-Set Approach, 2018.
    """

    Options: ClassVar[type[LabellerOptions]] = NoveltyOptions
    options: NoveltyOptions

    def score(self, frames: Sequence[Frame], learner: LearnerView) -> NDArray[np.floating[Any]]:
        features = learner.describe(frames)
        readable = np.isfinite(features).all(axis=1)
        known = learner.describe_memory(self.options.compare_with)
        scores = np.zeros(len(frames))
        if readable.any():
            known = known if len(known) else features[readable].mean(axis=0, keepdims=True)
            scores[readable] = rank_by_distance(features[readable], known)
        return scores


def rank_by_distance(features: NDArray[np.float32], known: NDArray[np.float32]) -> NDArray[np.float64]:
    """For each vector its distance to the nearest one that is known, or that was taken before it; the farthest first.

    >>> rank_by_distance(np.array([[3.0], [9.0], [8.0]]), np.array([[0.0]])).tolist()
    [3.0, 9.0, 1.0]
    """
    nearest = np.min([np.linalg.norm(features - one, axis=1) for one in known.astype(np.float64)], axis=0)
    scores, waiting = np.zeros(len(features)), np.ones(len(features), np.bool_)
    for _ in features:
        farthest = int(np.where(waiting, nearest, -1.0).argmax())
        scores[farthest], waiting[farthest] = nearest[farthest], False
        nearest = np.minimum(nearest, np.linalg.norm(features - features[farthest].astype(np.float64), axis=1))
    return scores
