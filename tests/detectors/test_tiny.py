"""The tiny detector: small, with shipped weights, and frozen where it should be."""

from __future__ import annotations

import numpy as np
import torch

from leocod.detectors.tiny import START, Tiny, TinyOptions
from leocod.weights import read_weights


def test_it_has_about_a_million_parameters_and_a_file_under_five_megabytes():
    count = sum(parameter.numel() for parameter in Tiny(("mug",)).model.parameters())

    assert 0.7e6 < count < 1.2e6
    assert START.stat().st_size < 5e6


def test_the_shipped_start_knows_eight_classes():
    assert len(read_weights(START)[1]) == 8


def test_stem_and_first_stage_stay_as_they_start(a_detector):
    trained = {id(parameter) for parameter in a_detector().parameters()}
    backbone = a_detector().model.backbone

    assert all(not p.requires_grad for part in (backbone.stem, backbone.stage1) for p in part.parameters())
    assert len(trained) == len(list(a_detector(frozen=False).parameters())) - 8


def test_equal_seeds_make_equal_detectors_and_leave_torchs_own_randomness_alone():
    before = torch.random.get_rng_state()

    one, two = (Tiny(("a", "b"), TinyOptions(weights=None), seed=5) for _ in range(2))

    assert torch.equal(before, torch.random.get_rng_state())
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))


def test_anchors_are_exact_in_half_precision():
    options = TinyOptions(weights=None, short_side=384)
    image = np.zeros((384, 512, 3), np.uint8)
    anchors = {}
    for precision in ("float32", "bfloat16"):
        detector = Tiny(("mug",), options).to("cpu", precision)
        batch, _, _ = detector.prepare([image])
        with torch.no_grad(), detector.autocast():
            anchors[precision] = detector.rpn_outputs(batch, detector.features(batch.tensors)).anchors

    assert torch.equal(anchors["float32"], anchors["bfloat16"])
