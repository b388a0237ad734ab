"""The detector that a person sees at work is a copy."""

from __future__ import annotations

import numpy as np
import torch

from leocod.detectors.tiny import Tiny, TinyOptions
from leocod.live.deployed import Deployed

IMAGE = np.random.default_rng(0).integers(0, 255, (48, 64, 3), np.uint8)


def test_it_answers_as_the_detector_did_when_it_was_shown() -> None:
    detector = Tiny(("mug", "book"), TinyOptions(short_side=48))
    deployed = Deployed(detector)
    before = deployed.predict([IMAGE])[0].scores.tolist()

    with torch.no_grad():
        for value in detector.parameters():
            value.mul_(0.5)

    assert deployed.predict([IMAGE])[0].scores.tolist() == before
    deployed.update(detector)
    assert deployed.predict([IMAGE])[0].scores.tolist() == detector.predict([IMAGE])[0].scores.tolist() != before


def test_it_takes_over_new_classes_and_names() -> None:
    detector = Tiny(("mug",), TinyOptions(short_side=48))
    deployed = Deployed(detector)
    detector.extend_classes(["pen"])

    deployed.update(detector)

    assert deployed.predict([IMAGE])[0].scores.tolist() == detector.predict([IMAGE])[0].scores.tolist()
