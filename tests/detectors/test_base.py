"""The contract that a detector fulfils."""

from leocod.detectors.base import Detector


def test_the_tiny_detector_is_a_detector(a_detector):
    assert isinstance(a_detector(), Detector)
