"""Puts a labeller's questions about frames to the learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leocod.detectors.base import ImageDescriber
from leocod.errors import InvalidConfig
from leocod.learner import Learner
from leocod.types import Detections, Frame, Predict

AT_ONCE = 32
"""Images that are described together, at most."""


@dataclass(frozen=True)
class Questions:
    """What a labeller may ask the learner; the labelling package says what each answer is."""

    labeller: str
    """Its name, for messages."""
    learner: Learner | None
    """None: labels are chosen before anything is learnt."""

    def predict(self, frames: Sequence[Frame]) -> list[Detections]:
        return self._detect(frames, self._find_learner().predict)

    def predict_fast(self, frames: Sequence[Frame]) -> list[Detections]:
        return self._detect(frames, self._find_learner().predict_fast)

    def describe(self, frames: Sequence[Frame]) -> NDArray[np.float32]:
        detector = self._find_learner().deployed_detector
        if not isinstance(detector, ImageDescriber):
            raise InvalidConfig(
                f"The labeller '{self.labeller}' compares frames, but the detector {type(detector).__name__} does not "
                "define `describe`. Choose another labels.name or detector."
            )
        readable = _keep_readable(frames)
        parts = [readable[first : first + AT_ONCE] for first in range(0, len(readable), AT_ONCE)]
        found = [row for part in parts for row in detector.describe([frame.image() for frame in part])]
        known = dict(zip((frame.id for frame in readable), found, strict=True))
        unknown = np.full(len(found[0]) if found else 1, np.nan, np.float32)
        return np.array([known.get(frame.id, unknown) for frame in frames], np.float32).reshape(-1, len(unknown))

    def describe_memory(self, most: int) -> NDArray[np.float32]:
        remembered = {frame.id: frame for frame, _ in self._find_learner().remembered_frames()}
        frames = list(remembered.values())
        places = np.linspace(0, len(frames) - 1, min(most, len(frames))).round().astype(int)
        return self.describe([frames[place] for place in places])

    def _find_learner(self) -> Learner:
        if self.learner is None:
            raise InvalidConfig(
                f"The labeller '{self.labeller}' asks the learner, but here labels are chosen before anything is "
                "learnt. Use labels.name=random, uniform or fixed."
            )
        return self.learner

    def _detect(self, frames: Sequence[Frame], predict: Predict) -> list[Detections]:
        readable = _keep_readable(frames)
        found = dict(zip((frame.id for frame in readable), predict([frame.image() for frame in readable]), strict=True))
        return [found.get(frame.id, Detections.none()) for frame in frames]


def _keep_readable(frames: Sequence[Frame]) -> list[Frame]:
    loaded = [frame.load_if_possible() for frame in frames]
    return [frame for frame in loaded if isinstance(frame.content, np.ndarray)]
