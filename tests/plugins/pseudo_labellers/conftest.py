"""What a pseudo-labeller is asked."""

from __future__ import annotations

import numpy as np
import pytest

from leocod.plugins.pseudo_labellers.base import PseudoLabelRequest
from leocod.types import Detections


def sees(score):
    """A learner that sees one thing in each image, with this score."""
    found = Detections(np.array([[0, 0, 9, 9]], np.float32), np.array([0]), np.array([score], np.float32))
    return lambda images: [found] * len(images)


@pytest.fixture
def request_of_two(a_frame):
    """About two frames: the slow learner has a score of 0.25 in each, the fast one 0.75."""
    return PseudoLabelRequest([a_frame(0)[0], a_frame(1)[0]], [], slow=sees(0.25), fast=sees(0.75))
