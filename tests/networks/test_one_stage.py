"""The batched path of a one-stage detector computes what torchvision computes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torchvision.ops import box_iou

from leocod.detectors.retinanet import RetinaNetDetector, RetinaNetOptions
from leocod.errors import InvalidData
from leocod.export.comparison import compare_detections
from leocod.types import Detections, Labels, LossWeights

CLASSES = ("mug", "book", "car")
LOSSES = {"anchor_class": "classification", "anchor_box": "bbox_regression"}
GROWING = {"head.classification_head.cls_logits.weight", "head.classification_head.cls_logits.bias"}


@pytest.fixture(scope="module")
def first():
    """Untrained, but not shy: its scores lie around a half, so that there is something to detect."""
    detector = RetinaNetDetector(CLASSES, RetinaNetOptions(backbone="resnet18-fpn", short_side=64))
    with torch.no_grad():
        detector.model.head.classification_head.cls_logits.bias.zero_()
        detector.model.head.classification_head.cls_logits.weight.mul_(20)
        detector.model.head.regression_head.bbox_reg.weight.mul_(5)
    return detector


@pytest.fixture
def detector(first):
    return first.clone()


@pytest.fixture
def another(first):
    """Of the same kind, with other weights."""
    other = first.clone()
    random = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=random) * 0.1 * parameter.abs().mean())
    return other


@pytest.fixture
def batch(a_frame):
    frames = [a_frame(0, (0, 1)), a_frame(1, ()), a_frame(2, (2,)), a_frame(3, (1, 1, 0))]
    return [frame.image() for frame, _ in frames], [labels for _, labels in frames]


@pytest.fixture
def mixed(a_frame):
    """Portrait beside landscape, and sizes that the stride does not divide."""
    sizes = {0: (48, 64), 1: (64, 48), 2: (50, 91), 3: (40, 64)}
    frames = [a_frame(number, (number % 3,), size=size) for number, size in sizes.items()]
    return [frame.image() for frame, _ in frames], [labels for _, labels in frames]


def as_targets(labels):
    return [{"boxes": torch.tensor(one.boxes), "labels": torch.tensor(one.classes)} for one in labels]


def as_tensors(images):
    return [torch.tensor(image).permute(2, 0, 1).float() / 255 for image in images]


def weighted(labels, weights):
    return [replace(one, weights=weights) for one in labels]


def gradients(detector, total):
    detector.model.zero_grad()
    total.backward()
    return {name: value.grad.clone() for name, value in detector.named_parameters()}


# -- what torchvision computes


@pytest.mark.parametrize("frames", ["batch", "mixed"])
def test_losses_with_all_weights_one_are_torchvisions(detector, frames, request):
    images, labels = request.getfixturevalue(frames)

    ours = detector.loss(images, labels)
    theirs = detector.model(as_tensors(images), as_targets(labels))

    assert ours.keys() == LOSSES.keys()
    for name, their_name in LOSSES.items():
        assert ours[name].shape == (4,)
        assert ours[name].mean().item() == pytest.approx(theirs[their_name].item(), rel=1e-5), name


@pytest.mark.parametrize("frames", ["batch", "mixed"])
def test_gradients_with_all_weights_one_are_torchvisions(detector, frames, request):
    images, labels = request.getfixturevalue(frames)

    ours = gradients(detector, sum(value.mean() for value in detector.loss(images, labels).values()))
    theirs = gradients(detector, sum(detector.model(as_tensors(images), as_targets(labels)).values()))

    assert any(value.abs().max() > 0.01 for value in theirs.values())
    for name, value in ours.items():
        torch.testing.assert_close(value, theirs[name], rtol=1e-3, atol=1e-5 * theirs[name].abs().max().item() + 1e-7)


def test_frames_without_objects_have_torchvisions_losses_too(detector, a_frame):
    images = [a_frame(number, ())[0].image() for number in range(2)]
    labels = [Labels.none(), Labels.none()]

    ours = detector.loss(images, labels)
    theirs = detector.model(as_tensors(images), as_targets(labels))

    assert ours["anchor_class"].mean().item() == pytest.approx(theirs["classification"].item(), rel=1e-5)
    assert ours["anchor_box"].tolist() == [0, 0]


def test_a_frames_losses_are_the_same_whichever_frames_come_with_it(detector, batch):
    images, labels = batch

    together = detector.loss(images, labels)

    for number, (image, own) in enumerate(zip(images, labels, strict=True)):
        alone = detector.loss([image], [own], seeds=[number + 7])
        for name in LOSSES:
            torch.testing.assert_close(together[name][number], alone[name][0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("frames", ["batch", "mixed"])
def test_detections_are_torchvisions(detector, frames, request):
    images, _ = request.getfixturevalue(frames)

    ours = detector.predict(images)
    theirs = detector.model.eval()(as_tensors(images))

    compared = compare_detections([with_area(one) for one in theirs], ours, detector.reporting_limits())
    assert all(len(found) > 10 for found in ours)
    assert not compared.unmatched
    assert compared.box_difference < 1e-2
    assert compared.score_difference < 1e-5


def with_area(output):
    """What torchvision detects, without boxes that clipping has left without area."""
    whole = (output["boxes"][:, 2:] - output["boxes"][:, :2] > 0.01).all(dim=1)
    return Detections(*(output[part][whole].detach().numpy() for part in ("boxes", "labels", "scores")))


def test_what_clipping_leaves_without_area_is_not_detected(detector, batch):
    """Boxes moved out of the frame: torchvision would report them, and they could not be labels."""
    images, _ = batch
    with torch.no_grad():
        detector.model.head.regression_head.bbox_reg.weight.zero_()
        detector.model.head.regression_head.bbox_reg.bias.view(-1, 4)[:] = torch.tensor([9.0, 0.0, 0.0, 0.0])

    found = detector.predict(images)

    assert detector.model.eval()(as_tensors(images))[0]["boxes"].shape[0] > 0
    assert all(len(Labels(one.boxes, one.classes)) == 0 for one in found)


def test_the_best_score_comes_first_and_predicting_changes_nothing(detector, batch):
    before = {name: value.clone() for name, value in detector.model.state_dict().items()}

    found = detector.predict(batch[0])

    assert all((np.diff(one.scores) <= 0).all() for one in found)
    assert detector.model.training
    assert all(torch.equal(before[name], value) for name, value in detector.model.state_dict().items())


# -- what the labels say


def test_weights_scale_each_part_of_a_frames_loss_and_proposals_are_of_no_interest(detector, batch):
    images, labels = batch

    plain = detector.loss(images, labels)
    scaled = detector.loss(images, weighted(labels, LossWeights(proposals=0.0, boxes=0.5, classes=2.0)))

    torch.testing.assert_close(scaled["anchor_class"], 2 * plain["anchor_class"])
    torch.testing.assert_close(scaled["anchor_box"], 0.5 * plain["anchor_box"])


def test_where_nothing_counts_there_is_no_gradient_at_all(detector, batch):
    images, labels = batch

    no_boxes = detector.loss(images, weighted(labels, LossWeights(boxes=0.0)))
    nothing = detector.loss(images, weighted(labels, LossWeights.all(0.0)))

    assert no_boxes["anchor_class"].requires_grad
    assert not no_boxes["anchor_box"].requires_grad
    assert not any(value.requires_grad for value in nothing.values())


def test_background_counts_as_much_as_the_labels_say(detector, batch):
    """Linear in its weight: a half is half way between none and all. A frame without objects has nothing else."""
    images, labels = batch

    none, half, full = (
        detector.loss(images, weighted(labels, LossWeights(background=background)))["anchor_class"]
        for background in (0.0, 0.5, 1.0)
    )

    assert none[1] == 0
    assert (none[[0, 2, 3]] > 0).all()
    assert (none < full).all()
    torch.testing.assert_close(half, (none + full) / 2)


def test_anchors_over_something_unsure_teach_no_background(detector, a_frame):
    """Of a frame with one unsure box, the loss without the anchors that overlap it by half or more."""
    frame, _ = a_frame(0, (0,))
    unsure = np.array([[10, 10, 34, 34]], np.float32)
    labels = Labels(np.zeros((0, 4)), np.zeros(0), unsure=unsure)
    batch, _, scales = detector.prepare([frame.image()])
    anchors = detector.anchor_outputs(batch, detector.features(batch.tensors)).anchors
    over = box_iou(torch.tensor(unsure) * scales.repeat(1, 2), anchors)[0] >= 0.5

    with torch.no_grad():
        whole = detector.loss([frame.image()], [Labels.none()])["anchor_class"]
        careful = detector.loss([frame.image()], [labels])["anchor_class"]
        chances = detector.anchor_outputs(batch, detector.features(batch.tensors)).logits[0].sigmoid()

    left_out = (-0.75 * chances[over] ** 2 * (1 - chances[over]).log()).sum()
    assert over.any()
    torch.testing.assert_close(whole - careful, left_out[None], rtol=1e-3, atol=1e-3)


def test_an_object_keeps_its_anchors_when_it_is_unsure_too(detector, a_frame):
    frame, labels = a_frame(0, (0,))

    sure = detector.loss([frame.image()], [labels])
    both = detector.loss([frame.image()], [replace(labels, unsure=labels.boxes)])

    torch.testing.assert_close(sure["anchor_box"], both["anchor_box"])


# -- class logits and distances


def test_class_logits_are_those_of_the_anchor_that_overlaps_the_box_most(detector, batch):
    images, labels = batch
    prepared, _, scales = detector.prepare(images)
    judged = detector.anchor_outputs(prepared, detector.features(prepared.tensors))

    found = detector.class_logits(images, [one.boxes for one in labels])

    assert [one.shape for one in found] == [(len(own), len(CLASSES) + 1) for own in labels]
    for frame, own in enumerate(labels):
        for box, logits in zip(torch.tensor(own.boxes), found[frame], strict=True):
            overlap = box_iou(box[None] * scales[frame].repeat(2), judged.anchors)[0]
            first_best = int((overlap == overlap.max()).nonzero()[0])
            assert logits[0] == 0
            torch.testing.assert_close(logits[1:], judged.logits[frame, first_best], rtol=1e-4, atol=1e-5)


def test_class_logits_carry_a_gradient_and_of_no_boxes_there_are_none(detector, batch):
    images, labels = batch

    detector.class_logits(images, [one.boxes for one in labels])[0].square().sum().backward()

    assert detector.model.head.classification_head.cls_logits.weight.grad.abs().sum() > 0
    assert [one.shape for one in detector.class_logits(images[:2], [labels[1].boxes] * 2)] == [(0, 4), (0, 4)]
    assert detector.class_logits([], []) == []


def test_a_detector_is_no_way_from_itself(detector, batch):
    apart = detector.distillation(batch[0], detector.clone(), classes=[0, 1, 2], temperature=2.0)

    assert apart.keys() == {"distil_features", "distil_classes", "distil_boxes"}
    for value in apart.values():
        torch.testing.assert_close(value, torch.zeros(4), atol=1e-6, rtol=0)


def test_two_detectors_are_apart_in_each_frame_and_only_the_student_gets_a_gradient(detector, another, batch):
    images, _ = batch

    together = detector.distillation(images, another, classes=[0, 1, 2], temperature=2.0)
    alone = detector.distillation(images[2:3], another, classes=[0, 1, 2], temperature=2.0)
    sum(value.sum() for value in together.values()).backward()

    for name, value in together.items():
        assert (value > 0).all()
        torch.testing.assert_close(value[2], alone[name][0], rtol=1e-3, atol=1e-6)
    assert all(one.grad is not None for one in detector.parameters())
    assert all(one.grad is None for one in another.parameters())


def test_classes_that_the_teacher_does_not_know_do_not_count(detector, batch):
    student = detector.clone()
    with torch.no_grad():
        student.model.head.classification_head.cls_logits.bias.view(-1, 3)[:, 2] += 3

    def apart(classes):
        return student.distillation(batch[0], detector, classes=classes, temperature=2.0)["distil_classes"]

    torch.testing.assert_close(apart([0, 1]), torch.zeros(4), atol=1e-6, rtol=0)
    assert (apart([0, 1, 2]) > 0.1).all()
    assert apart([]).tolist() == [0, 0, 0, 0]


def test_the_class_distance_is_the_divergence_of_softened_chances_added_up_over_classes(detector, batch):
    """By hand: heads that say the same of every anchor, so that one stands for all."""
    student, teacher = detector, detector.clone()
    for one, logits in ((student, [0.0, 2.0, 0.0]), (teacher, [0.0, 0.0, 1.0])):
        with torch.no_grad():
            one.model.head.classification_head.cls_logits.weight.zero_()
            one.model.head.classification_head.cls_logits.bias.view(-1, 3)[:] = torch.tensor(logits)

    apart = student.distillation(batch[0], teacher, classes=[0, 1, 2], temperature=2.0)["distil_classes"]

    def divergence(theirs, own):
        p, q = 1 / (1 + math.exp(-theirs)), 1 / (1 + math.exp(-own))
        return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))

    expected = 4 * (divergence(0.0, 1.0) + divergence(0.5, 0.0))
    torch.testing.assert_close(apart, torch.full((4,), expected), rtol=1e-4, atol=1e-6)


# -- classes that appear later


def test_growing_by_two_classes_leaves_every_old_logit_and_box_as_it_was(detector, batch):
    prepared, _, _ = detector.prepare(batch[0])
    with torch.no_grad():
        before = detector.anchor_outputs(prepared, detector.features(prepared.tensors))

        moved = detector.extend_classes(["lamp", "dog"])
        after = detector.anchor_outputs(prepared, detector.features(prepared.tensors))

    assert detector.classes == (*CLASSES, "lamp", "dog")
    assert moved.keys() == GROWING
    assert after.logits.shape[-1] == 5
    assert torch.equal(after.logits[..., :3], before.logits)
    assert torch.equal(after.deltas, before.deltas)


def test_a_new_class_starts_as_unlikely_as_in_torchvision_and_keeps_to_torchvisions_model(detector, batch):
    images, labels = batch
    detector.extend_classes(["lamp"])
    labels = [Labels(one.boxes, np.full(len(one), 3)) for one in labels]

    bias = detector.model.head.classification_head.cls_logits.bias.detach().view(9, 4)
    theirs = detector.model(as_tensors(images), as_targets(labels))
    ours = detector.loss(images, labels)

    torch.testing.assert_close(bias[:, 3].sigmoid(), torch.full((9,), 0.01))
    assert (bias[:, :3] == 0).all()
    assert ours["anchor_class"].mean().item() == pytest.approx(theirs["classification"].item(), rel=1e-5)


def test_an_optimiser_with_state_keeps_hold_of_what_has_grown(detector, batch):
    """The parameters are the same objects after growing, and what was learnt just before is still there."""
    images, labels = batch
    optimizer = torch.optim.Adam(detector.parameters(), lr=1e-3)
    sum(value.mean() for value in detector.loss(images, labels).values()).backward()
    optimizer.step()
    held = [id(parameter) for parameter in detector.parameters()]
    boxes = [one.boxes for one in labels]

    with torch.no_grad():
        before = torch.cat(detector.class_logits(images, boxes))
        detector.extend_classes(["lamp", "dog"])
        after = torch.cat(detector.class_logits(images, boxes))

    assert [id(parameter) for group in optimizer.param_groups for parameter in group["params"]] == held
    assert [id(parameter) for parameter in detector.parameters()] == held
    assert torch.equal(after[:, :4], before)


def test_where_the_old_rows_went_is_told_by_anchor(detector):
    layer = detector.model.head.classification_head.cls_logits
    before = layer.bias.detach().clone().copy_(torch.arange(27.0))
    with torch.no_grad():
        layer.bias.copy_(before)

    where = detector.extend_classes(["lamp", "dog"])["head.classification_head.cls_logits.bias"]

    assert where.tolist()[:7] == [0, 1, 2, 5, 6, 7, 10]
    assert torch.equal(layer.bias.detach()[where], before)


def test_a_state_with_more_classes_is_taken_over_and_a_clone_grows_by_itself(detector, batch):
    grown = detector.clone()
    grown.extend_classes(["lamp"])

    untouched = detector.classes
    detector.load_state_dict(grown.state_dict())

    assert untouched == CLASSES
    assert detector.classes == (*CLASSES, "lamp")
    for mine, theirs in zip(detector.predict(batch[0]), grown.predict(batch[0]), strict=True):
        np.testing.assert_array_equal(mine.boxes, theirs.boxes)


def test_a_class_that_is_there_already_is_refused_and_nothing_changes(detector):
    with pytest.raises(InvalidData, match="'mug' is there already"):
        detector.extend_classes(["mug"])

    assert detector.model.head.classification_head.num_classes == 3


def test_without_any_class_it_finds_nothing_learns_nothing_and_grows(batch):
    images, _ = batch
    detector = RetinaNetDetector((), RetinaNetOptions(backbone="resnet18-fpn", short_side=64))

    found = detector.predict(images)
    loss = detector.loss(images, [Labels.none()] * 4)
    logits = detector.class_logits(images[:1], [np.array([[0, 0, 9, 9]], np.float32)])[0]
    detector.extend_classes(["mug", "book"])
    grown = detector.loss(images, [Labels(np.array([[0, 0, 20, 20]]), np.array([1]))] * 4)

    assert all(isinstance(one, Detections) and len(one) == 0 for one in found)
    assert all(value.tolist() == [0, 0, 0, 0] for value in loss.values())
    assert logits.tolist() == [[0]]
    assert all((value > 0).all() for value in grown.values())


# -- numbers of less precision


def test_in_bfloat16_losses_are_finite_and_near_and_everything_after_the_head_is_float32(detector, batch):
    images, labels = batch
    whole = detector.loss(images, labels)

    detector.to("cpu", "bfloat16")
    half = detector.loss(images, labels)
    prepared, _, _ = detector.prepare(images)
    with detector.autocast():
        features = detector.features(prepared.tensors)
        judged = detector.anchor_outputs(prepared, features)

    assert features["0"].dtype == torch.bfloat16
    assert [one.dtype for one in (judged.logits, judged.deltas, judged.anchors)] == [torch.float32] * 3
    for name in LOSSES:
        assert half[name].dtype == torch.float32
        torch.testing.assert_close(half[name], whole[name], rtol=0.1, atol=0.1)
    assert all(len(one) for one in detector.predict(images))


def test_anchors_are_the_same_in_every_precision_also_far_from_the_origin(detector):
    image = np.zeros((64, 1100, 3), np.uint8)
    detector.model.transform.max_size = 2000

    def anchors():
        prepared, _, _ = detector.prepare([image])
        with torch.no_grad(), detector.autocast():
            return detector.anchor_outputs(prepared, detector.features(prepared.tensors)).anchors

    whole = anchors()
    detector.to("cpu", "bfloat16")

    assert whole.max() > 1024
    assert torch.equal(anchors(), whole)


def test_frames_are_held_to_the_logits_in_their_labels_in_the_same_pass(detector, batch):
    images, labels = batch
    with torch.no_grad():
        now = detector.class_logits(images, [one.boxes for one in labels])
    then = [logits.numpy() - 0.5 * (number + 1) for number, logits in enumerate(now)]
    held = [replace(one, logits=own, weights=LossWeights(logits=2.0)) for one, own in zip(labels, then, strict=True)]

    losses = detector.loss(images, held)

    expected = [2 * (0.5 * (number + 1)) ** 2 if len(one) else 0.0 for number, one in enumerate(labels)]
    torch.testing.assert_close(losses["logits"].tolist(), expected, rtol=1e-4, atol=1e-5)
