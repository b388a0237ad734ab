"""The batched path computes what torchvision computes."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torchvision.models.detection.faster_rcnn import MultiScaleRoIAlign

from leocod.detectors.faster_rcnn import FasterRCNNDetector, FasterRCNNOptions
from leocod.export.comparison import compare_detections
from leocod.networks.two_stage import TwoStage
from leocod.types import Detections, Labels, LossWeights


def as_targets(labels):
    return [{"boxes": torch.tensor(one.boxes), "labels": torch.tensor(one.classes) + 1} for one in labels]


def as_tensors(images):
    return [torch.tensor(image).permute(2, 0, 1).float() / 255 for image in images]


def as_detections(outputs):
    return [
        Detections(one["boxes"].detach().numpy(), one["labels"].numpy() - 1, one["scores"].detach().numpy())
        for one in outputs
    ]


@pytest.fixture
def batch(a_frame):
    frames = [a_frame(0, (0, 1)), a_frame(1, ()), a_frame(2, (2,)), a_frame(3, (1, 1, 0))]
    return [frame.image() for frame, _ in frames], [labels for _, labels in frames]


def without_chance(detector):
    """Sampling that takes everything there is draws no lots, so two implementations can be compared."""
    for sampler in (detector.model.rpn.fg_bg_sampler, detector.model.roi_heads.fg_bg_sampler):
        sampler.batch_size_per_image = 10_000
        sampler.positive_fraction = 0.5
    detector.model.roi_heads.box_roi_pool = MultiScaleRoIAlign(["0"], output_size=5, sampling_ratio=2)
    return detector


def test_losses_of_a_frame_with_all_weights_one_are_torchvisions(a_detector, batch):
    images, labels = batch
    detector = without_chance(a_detector())

    ours = detector.loss(images, labels)
    theirs = [detector.model(as_tensors([image]), as_targets([own])) for image, own in zip(images, labels, strict=True)]

    for name, their_name in {
        "proposal_class": "loss_objectness",
        "proposal_box": "loss_rpn_box_reg",
        "region_class": "loss_classifier",
        "region_box": "loss_box_reg",
    }.items():
        assert ours[name].tolist() == pytest.approx([one[their_name].item() for one in theirs], rel=1e-4), name


def test_gradients_with_all_weights_one_are_torchvisions(a_detector, batch):
    images, labels = batch
    detector = without_chance(a_detector())

    torch.stack([value.mean() for value in detector.loss(images, labels).values()]).sum().backward()
    ours = [parameter.grad.clone() for parameter in detector.parameters()]
    detector.model.zero_grad()
    for image, own in zip(images, labels, strict=True):
        parts = detector.model(as_tensors([image]), as_targets([own])).values()
        (torch.stack(list(parts)).sum() / len(images)).backward()

    for mine, parameter in zip(ours, detector.parameters(), strict=True):
        torch.testing.assert_close(mine, parameter.grad, rtol=1e-3, atol=1e-6)


def test_detections_are_torchvisions(a_detector, batch):
    images, _ = batch
    detector = without_chance(a_detector())

    ours = detector.predict(images)
    theirs = detector.model.eval()(as_tensors(images))

    compared = compare_detections(as_detections(theirs), ours, detector.reporting_limits())
    assert compared.detections > 10
    assert not compared.unmatched
    assert compared.box_difference < 1e-3
    assert compared.score_difference < 1e-5


def test_frames_of_several_sizes_have_torchvisions_losses(a_detector, a_frame):
    detector = without_chance(a_detector())
    frames = [a_frame(0, (0,)), a_frame(1, (1,), size=(64, 48)), a_frame(2, (2,)), a_frame(3, (0,), size=(40, 64))]
    images, labels = [frame.image() for frame, _ in frames], [labels for _, labels in frames]

    ours = detector.loss(images, labels)
    theirs = detector.model(as_tensors(images), as_targets(labels))

    assert len(ours["region_class"]) == 4
    assert ours["region_class"].mean().item() == pytest.approx(theirs["loss_classifier"].item(), rel=1e-4)
    assert ours["proposal_class"].mean().item() == pytest.approx(theirs["loss_objectness"].item(), rel=1e-4)


@pytest.mark.parametrize("size", [(48, 85), (50, 91)])
def test_frames_that_the_stride_does_not_divide_are_treated_as_torchvision_does(a_detector, a_frame, size):
    detector = without_chance(a_detector())
    frames = [a_frame(number, (number % 3,), size=size) for number in range(3)]
    images, labels = [frame.image() for frame, _ in frames], [labels for _, labels in frames]

    ours, found = detector.loss(images, labels), detector.predict(images)
    theirs = detector.model(as_tensors(images), as_targets(labels))
    their_found = detector.model.eval()(as_tensors(images))

    assert ours["proposal_class"].mean().item() == pytest.approx(theirs["loss_objectness"].item(), rel=1e-4)
    assert ours["region_class"].mean().item() == pytest.approx(theirs["loss_classifier"].item(), rel=1e-4)
    compared = compare_detections(as_detections(their_found), found, detector.reporting_limits())
    assert compared.detections
    assert not compared.unmatched
    assert compared.box_difference < 1e-2


def test_weights_scale_each_part_of_a_frames_loss(a_detector, batch):
    images, labels = batch
    weighted = [Labels(one.boxes, one.classes, "pseudo", LossWeights(0.0, 0.5, 2.0)) for one in labels]

    plain = a_detector(seed=1).loss(images, labels)
    scaled = a_detector(seed=1).loss(images, weighted)

    torch.testing.assert_close(scaled["proposal_class"], 0 * plain["proposal_class"])
    torch.testing.assert_close(scaled["proposal_box"], 0 * plain["proposal_box"])
    torch.testing.assert_close(scaled["region_box"], 0.5 * plain["region_box"])
    torch.testing.assert_close(scaled["region_class"], 2 * plain["region_class"])


def test_class_logits_at_given_boxes_are_those_of_the_heads(a_detector, batch):
    images, labels = batch
    detector = a_detector()
    boxes = [one.boxes for one in labels]

    together = detector.class_logits(images, boxes)

    assert [one.shape for one in together] == [(len(own), len(detector.classes) + 1) for own in boxes]
    for image, own, found in zip(images, boxes, together, strict=True):
        if len(own):
            torch.testing.assert_close(found, detector.class_logits([image], [own])[0], rtol=1e-3, atol=1e-4)
    assert detector.class_logits(images[:1], [boxes[0][:0]])[0].shape == (0, len(detector.classes) + 1)


def test_predicting_changes_nothing(a_detector, batch):
    detector = a_detector()
    before = {name: value.clone() for name, value in detector.model.state_dict().items()}

    detector.predict(batch[0])

    assert detector.model.training
    assert all(torch.equal(before[name], value) for name, value in detector.model.state_dict().items())


def test_following_moves_floats_and_copies_integers(a_detector):
    slow, fast = a_detector(seed=0), a_detector(seed=1)
    for detector, count in ((slow, 0), (fast, 7)):
        detector.model.register_buffer("count", torch.tensor(count))
    name = "backbone.output.weight"
    expected = 0.9 * slow.model.state_dict()[name] + 0.1 * fast.model.state_dict()[name]

    slow.follow(fast, keep=0.9)

    torch.testing.assert_close(slow.model.state_dict()[name], expected)
    assert slow.model.state_dict()["count"] == 7


def test_a_clone_goes_its_own_way(a_detector):
    one = a_detector()
    two = one.clone()

    with torch.no_grad():
        next(one.parameters()).add_(1)

    assert not torch.equal(next(one.parameters()), next(two.parameters()))
    assert isinstance(two, TwoStage)


@pytest.mark.parametrize("backbone", [None, "mobilenet_v2-fpn"])
def test_frames_that_proposals_are_not_learnt_from_leave_losses_and_gradients_as_they_were(a_detector, batch, backbone):
    """Weights too small to count take the way of all frames, zeros are left out of it."""
    images, labels = batch
    options = FasterRCNNOptions(backbone="mobilenet_v2-fpn", short_side=64, weights=None)
    detector = FasterRCNNDetector(("red", "green", "blue"), options) if backbone else a_detector()
    seeds = [3, 1, 4, 1]

    def learn(proposals):
        weights = [LossWeights(proposals=weight) for weight in (1.0, proposals, 1.0, proposals)]
        losses = detector.loss(
            images, [replace(own, weights=weight) for own, weight in zip(labels, weights, strict=True)], seeds
        )
        for parameter in detector.parameters():
            parameter.grad = None
        sum(value.sum() for value in losses.values()).backward()
        return losses, {name: value.grad for name, value in detector.named_parameters()}

    (left_out, gradient), (tiny, expected) = learn(0.0), learn(1e-20)

    assert left_out["proposal_class"][1] == left_out["proposal_box"][3] == 0
    for name, value in tiny.items():
        torch.testing.assert_close(left_out[name], value)
    for name, value in expected.items():
        torch.testing.assert_close(gradient[name], value, rtol=1e-3, atol=1e-5 * value.abs().max().item())
