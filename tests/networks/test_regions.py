"""Regions are drawn, classified and moved as torchvision does it, for all frames at once."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from leocod.networks import regions
from leocod.networks.regions import classify, detect_objects, draw_regions, move_boxes, region_losses
from leocod.networks.targets import TrainingTargets
from leocod.types import Labels


@pytest.fixture
def batch(a_frame):
    frames = [a_frame(0, (0, 1)), a_frame(1, ()), a_frame(2, (2,)), a_frame(3, (1, 1, 0))]
    return [frame.image() for frame, _ in frames], [labels for _, labels in frames]


def proposals_of(detector, images):
    batch, sizes, scales = detector.prepare(images)
    features = detector.features(batch.tensors)
    return features, sizes, scales, detector.propose(detector.rpn_outputs(batch, features), sizes)


def test_drawn_regions_are_proposals_and_true_boxes_with_the_class_that_they_overlap(a_detector, batch):
    detector = a_detector()
    images, labels = batch
    _, _, scales, (proposals, real) = proposals_of(detector, images)
    targets = TrainingTargets.of(labels, scales, range(4))

    samples = draw_regions(detector.model.roi_heads, proposals, real, targets)

    count = detector.model.roi_heads.fg_bg_sampler.batch_size_per_image
    assert (samples.drawn.sum(dim=1) <= count).all()
    assert samples.drawn.any(dim=1).all()
    for frame, own in enumerate(labels):
        objects = samples.drawn[frame] & (samples.classes[frame] > 0)
        assert set((samples.classes[frame][objects] - 1).tolist()) == set(own.classes.tolist())


def test_the_same_seed_draws_the_same_regions_and_another_one_others(a_detector, batch):
    detector = a_detector(regions=8)
    images, labels = batch
    _, _, scales, (proposals, real) = proposals_of(detector, images)

    one, two, other = (
        draw_regions(detector.model.roi_heads, proposals, real, TrainingTargets.of(labels, scales, seeds))
        for seeds in ([1, 2, 3, 4], [1, 2, 3, 4], [5, 6, 7, 8])
    )

    assert torch.equal(one.places, two.places)
    assert not torch.equal(one.places, other.places)


def test_without_objects_there_is_no_box_loss_and_background_counts_as_it_weighs(a_detector, a_frame):
    detector = a_detector()
    image = a_frame(0, ())[0].image()
    features, sizes, scales, (proposals, real) = proposals_of(detector, [image])
    heads = detector.model.roi_heads
    samples = draw_regions(heads, proposals, real, TrainingTargets.of([Labels.none()], scales, [0]))
    region_features = detector.region_features(features, [samples.places[0][samples.drawn[0]]], sizes)

    whole, half = (region_losses(heads, region_features, samples, torch.tensor([w]), beta=0.1) for w in (1.0, 0.5))

    assert whole["region_box"].item() == 0
    assert whole["region_class"].item() > 0
    torch.testing.assert_close(half["region_class"], whole["region_class"] / 2)


def test_a_frame_that_is_all_unsure_teaches_no_background(a_detector, a_frame):
    """With every proposal over something unsure, nothing is left to learn from a frame without labels."""
    image = a_frame(0, (0,))[0].image()
    detector = a_detector()
    _, _, _, (found, real) = proposals_of(detector, [image])
    unsure = Labels(np.zeros((0, 4)), np.zeros(0), unsure=found[0][real[0]].detach().numpy())

    assert detector.loss([image], [unsure])["region_class"].item() == 0
    assert detector.loss([image], [Labels.none()])["region_class"].item() > 0


def test_boxes_are_moved_for_one_class_as_for_all(a_detector):
    heads = a_detector().model.roi_heads
    features = torch.randn(6, 256)
    classes = torch.tensor([0, 1, 2, 3, 1, 0])

    logits, deltas = heads.box_predictor(features)

    torch.testing.assert_close(classify(heads, features), logits)
    expected = deltas.unflatten(1, (4, 4))[torch.arange(6), classes]
    torch.testing.assert_close(move_boxes(heads, features, classes), expected)


def test_few_detections_are_moved_one_by_one_many_together_and_both_ways_are_the_same(a_detector, batch, monkeypatch):
    images, _ = batch
    detector = a_detector()
    calls = []
    monkeypatch.setattr(regions, "move_boxes", lambda *given: calls.append(len(given[1])) or move_boxes(*given))

    together = detector.predict(images)
    detector.model.roi_heads.score_thresh = sorted(np.concatenate([one.scores for one in together]))[-2]
    few = detector.predict(images)
    detector.model.roi_heads.score_thresh = 0.05

    assert len(calls) == 1
    assert sum(map(len, few)) > 0
    for one, whole in zip(few, together, strict=True):
        for box, name in zip(one.boxes, one.classes, strict=True):
            distance = np.abs(whole.boxes[whole.classes == name] - box).max(axis=1)
            assert distance.min() < 1e-3


def test_detections_keep_to_the_threshold_the_number_and_the_picture(a_detector, batch):
    images, _ = batch
    detector = a_detector()
    heads = detector.model.roi_heads
    heads.detections_per_img, heads.score_thresh = 3, 0.1
    with torch.no_grad():
        features, sizes, _, (proposals, real) = proposals_of(detector, images)
        places = [own[mask] for own, mask in zip(proposals, real, strict=True)]
        region_features = detector.region_features(features, places, sizes)

        found = detect_objects(heads, region_features, places, sizes, smallest_box=1.0)

    assert [len(one.boxes) for one in found] == [3] * 4
    for one, (height, width) in zip(found, sizes, strict=True):
        assert (one.scores > 0.1).all()
        assert (one.scores.diff() <= 0).all()
        assert ((one.boxes >= 0) & (one.boxes <= torch.tensor([width, height] * 2))).all()
        assert (one.boxes[:, 2:] - one.boxes[:, :2] >= 1.0).all()


def test_of_no_region_at_all_nothing_is_detected(a_detector, batch):
    detector = a_detector()
    batch_tensors, sizes, _ = detector.prepare(batch[0][:2])
    with torch.no_grad():
        features = detector.features(batch_tensors.tensors)
        places = [torch.zeros(0, 4)] * 2
        region_features = detector.region_features(features, places, sizes)

        found = detect_objects(detector.model.roi_heads, region_features, places, sizes, smallest_box=0.01)

    assert [len(one.boxes) for one in found] == [0, 0]
