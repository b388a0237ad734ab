"""Frames of a step, and what a labeller is asked about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from leocod.labelling.base import LabelRequest
from leocod.types import Detections


@pytest.fixture
def pairs(a_frame):
    return [a_frame(number) for number in range(16)]


@dataclass
class Pupil:
    """A learner whose answers about each frame are known; what it is not told about, it answers with nothing."""

    slow: dict[int, Detections]
    fast: dict[int, Detections]
    features: dict[int, float]
    memory: tuple[float, ...]

    def predict(self, frames):
        return [self.slow.get(frame.id, Detections.none()) for frame in frames]

    def predict_fast(self, frames):
        return [self.fast.get(frame.id, Detections.none()) for frame in frames]

    def describe(self, frames):
        return np.array([[self.features.get(frame.id, 0.0), 1.0] for frame in frames], np.float32)

    def describe_memory(self, most):
        return np.array([[one, 1.0] for one in self.memory[:most]], np.float32).reshape(-1, 2)


@pytest.fixture
def a_pupil():
    return lambda slow=None, fast=None, features=None, memory=(): Pupil(slow or {}, fast or {}, features or {}, memory)


@pytest.fixture
def detected():
    """Detections with these scores, side by side; all of one class unless it is said."""

    def make(*scores, classes=None):
        corners = 30 * np.arange(len(scores), dtype=np.float32)
        boxes = np.stack([corners, np.zeros_like(corners), corners + 20, np.full_like(corners, 20)], axis=1)
        return Detections(boxes, np.array(classes or [0] * len(scores)), np.array(scores, np.float32))

    return make


@pytest.fixture
def request_for(a_pupil):
    """What a labeller gets to know of labelled frames: which ones, and never what is in them."""

    def make(step, pairs, most=4, learner=None):
        available = frozenset(frame.id for frame, labels in pairs if labels.known)
        return LabelRequest(step, [frame for frame, _ in pairs], available, most, learner or a_pupil())

    return make
