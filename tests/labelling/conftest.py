"""Frames of a step, and what a labeller is asked about them."""

from __future__ import annotations

import pytest

from leocod.labelling.base import LabelRequest
from leocod.types import Detections


@pytest.fixture
def pairs(a_frame):
    return [a_frame(number) for number in range(16)]


@pytest.fixture
def request_for():
    """What a labeller gets to know of labelled frames: which ones, and never what is in them."""

    def make(step, pairs, predict=None):
        available = frozenset(frame.id for frame, labels in pairs if labels.known)
        predict = predict or (lambda frames: [Detections.none() for _ in frames])
        return LabelRequest(step, [frame for frame, _ in pairs], available, predict)

    return make
