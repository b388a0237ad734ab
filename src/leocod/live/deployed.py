"""The detector that a person sees at work: a copy of the slow learner, so that looking never waits for learning."""

from __future__ import annotations

from threading import Lock

from leocod.detectors.base import Detector
from leocod.types import Detections, Images


class Deployed:
    """Answers from the last finished step while the next one is learnt."""

    def __init__(self, detector: Detector) -> None:
        self._lock = Lock()
        self._detector = detector.clone()

    def update(self, detector: Detector) -> None:
        """Take over what was learnt. The detector must be at rest."""
        if detector.classes == self._detector.classes:
            with self._lock:
                self._detector.follow(detector, keep=0.0)
        else:
            copied = detector.clone()
            with self._lock:
                self._detector = copied

    def predict(self, images: Images) -> list[Detections]:
        """What is in the images."""
        with self._lock:
            return self._detector.predict(images)
