"""What every detector must hold to. A new file in detectors/ is found by itself."""

from __future__ import annotations

import io
import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy, interpolate
from torchvision.ops import batched_nms

from leocod.detectors.base import DETECTORS, Detector, ImageDescriber
from leocod.errors import InvalidConfig, InvalidData
from leocod.networks.base import BACKGROUND_ROW, BaseDetector, ClassLayer, fork_rng
from leocod.networks.targets import TrainingTargets, apply_weights, ignore_unsure, match, pick
from leocod.settings import Settings
from leocod.types import Detections, Labels, LossWeights
from leocod.weights import load_weights, save_weights

CLASSES = ("mug", "book", "car")
SMALLEST = {
    "weights": None,
    "backbone": "mobilenet_v2-fpn",
    "short_side": 64,
    "regions": 8,
    "proposals": 12,
    "proposals_at_test": 12,
}
"""Options that make a detector quick, for those that have them."""


class Cells(BaseDetector):
    """A detector of no known kind: every cell of a grid says what is there, and how far the sides are from its centre.

    Without class logits, without distillation, without a region head and with names that no other network has.
    """

    Options = Settings
    GRID = 8

    def __init__(self, classes, options=None, *, seed=0):
        with fork_rng(seed):
            layers = [nn.Conv2d(3, 16, 4, 4), nn.ReLU(), nn.Conv2d(16, 32, 2, 2), nn.ReLU()]
            names, sides = nn.Linear(32, len(classes) + 1), nn.Linear(32, 4)
            model = nn.ModuleDict({"layers": nn.Sequential(*layers), "names": names, "sides": sides})
        super().__init__(model, classes, learning_rate=1e-2, seed=seed)
        steps = (torch.arange(self.GRID) + 0.5) / self.GRID
        self.centres = torch.cartesian_prod(steps, steps).flip(1)

    def class_layers(self):
        return [ClassLayer("names", background=1)]

    def outputs(self, images):
        pixels = [torch.tensor(image, device=self.device).permute(2, 0, 1)[None] / 255 for image in images]
        inputs = torch.cat([interpolate(picture, 8 * self.GRID) for picture in pixels])
        features = self.model["layers"](inputs).flatten(2).mT
        sides = self.model["sides"](features).float().sigmoid()
        boxes = torch.cat([self.centres - sides[..., :2], self.centres + sides[..., 2:]], dim=2).clamp(0, 1)
        return self.model["names"](features).float(), boxes

    def loss(self, images, labels, seeds=None):
        self.model.train()
        with self.autocast():
            logits, boxes = self.outputs(images)
        scales = torch.tensor([[1 / image.shape[1], 1 / image.shape[0]] for image in images])
        targets = TrainingTargets.of(labels, scales, ())
        cells = torch.cat([self.centres - 0.2, self.centres + 0.2], dim=1)
        matched, verdict = match(targets.truth, cells, above=0.5, below=0.5, best_too=True)
        verdict = ignore_unsure(verdict, targets.unsure, cells)
        wanted = torch.where(verdict > 0, pick(targets.truth.classes, matched), 0)
        weight = torch.where(verdict > 0, 1.0, targets.background[:, None]) * (verdict >= 0)
        class_loss = (cross_entropy(logits.mT, wanted, reduction="none") * weight).mean(dim=1)
        distance = (boxes - pick(targets.truth.boxes, matched)).abs().sum(dim=2)
        return {
            "cell_class": apply_weights(class_loss, [own.weights.classes for own in labels]),
            "cell_box": apply_weights((distance * (verdict > 0)).mean(dim=1), [own.weights.boxes for own in labels]),
        }

    def detect(self, images):
        logits, boxes = self.outputs(images)
        found = []
        for scores, corners, image in zip(logits.softmax(dim=2)[..., 1:], boxes, images, strict=True):
            cell, name = torch.where(scores > 0.05)
            keep = batched_nms(corners[cell], scores[cell, name], name, 0.5)
            pixels = corners[cell][keep] * corners.new_tensor([image.shape[1], image.shape[0]] * 2)
            found.append(Detections(pixels.numpy(), name[keep].numpy(), scores[cell, name][keep].numpy()))
        return found


LARGE = ("faster_rcnn", "retinanet")
"""Detectors on whole backbones: their part of the suite is in `make test-all`."""

NAMES = [
    pytest.param(name, marks=pytest.mark.slow) if name in LARGE else name
    for name in (*DETECTORS.names(), "own_detector:MyDetector", "cells")
]
"""All there are, the one in examples/, and one of another kind."""


@cache
def build(name, seed, classes):
    kind = Cells if name == "cells" else DETECTORS.find(name)
    options = {key: value for key, value in SMALLEST.items() if key in kind.Options.model_fields}
    detector = kind(classes, kind.Options.model_validate(options), seed=seed)
    if isinstance(detector, BaseDetector):
        # Otherwise a network that starts by expecting nothing anywhere would find nothing.
        for layer in detector.class_layers():
            nn.init.zeros_(detector.model.get_submodule(layer.name).bias)
    return detector


@pytest.fixture(params=NAMES)
def make(request):
    """Gives a detector that starts by chance: a clone, because building one takes longer."""

    def clone(seed=0, classes=CLASSES):
        return build(request.param, seed, tuple(classes)).clone()

    return clone


@pytest.fixture
def frames(a_frame):
    """Frames with one object, with none, and with several: images and labels."""
    pairs = [a_frame(0, (0,)), a_frame(1, ()), a_frame(2, (1, 1, 2))]
    return [frame.image() for frame, _ in pairs], [labels for _, labels in pairs]


def total(losses):
    return torch.stack([value.mean() for value in losses.values()]).sum()


def learn(detector, images, labels, updates=6):
    optimizer = torch.optim.Adam(detector.parameters(), lr=detector.learning_rate)
    for update in range(updates):
        optimizer.zero_grad()
        total(detector.loss(images, labels, [update] * len(images))).backward()
        optimizer.step()


def tensors(detector):
    return detector.state_dict()["weights"]


def same(one, two):
    return one.keys() == two.keys() and all(torch.equal(value, two[name]) for name, value in one.items())


def same_detections(one, two):
    return len(one) == len(two) and all(
        np.array_equal(getattr(a, part), getattr(b, part))
        for a, b in zip(one, two, strict=True)
        for part in ("boxes", "classes", "scores")
    )


def randomness():
    """The state of every global generator, as text."""
    numpys = np.random.get_state()  # noqa: NPY002 - to see that nobody uses it
    return str((torch.random.get_rng_state().tolist(), numpys[1].tolist(), numpys[2:], random.getstate()))


# -- what it is


def test_it_is_a_detector(make):
    detector = make()

    assert isinstance(detector, Detector)
    assert detector.classes == CLASSES
    assert detector.learning_rate > 0
    assert detector.precision == "float32"
    assert detector.frames_at_once is None or detector.frames_at_once > 0


def test_it_says_which_classes_its_weights_know(make):
    kind = type(make())
    options = {key: None for key in ("weights",) if key in kind.Options.model_fields}

    assert kind.known_classes(kind.Options.model_validate(options)) == ()


def test_parameters_are_what_learns_and_have_the_names_of_the_state(make):
    detector = make()
    named = dict(detector.named_parameters())

    assert [id(value) for value in named.values()] == [id(value) for value in detector.parameters()]
    assert all(value.requires_grad for value in named.values())
    assert named.keys() <= tensors(detector).keys()


@pytest.mark.parametrize("name", NAMES)
def test_equal_seeds_make_equal_detectors_and_leave_global_randomness_alone(name):
    build.cache_clear()
    before = randomness()
    one = build(name, 5, CLASSES)
    between = randomness()
    build.cache_clear()
    two, other = build(name, 5, CLASSES), build(name, 6, CLASSES)

    assert before == between
    assert same(tensors(one), tensors(two))
    assert not same(tensors(one), tensors(other))


# -- losses


def test_losses_are_one_finite_number_a_frame_and_can_be_learnt_from(make, frames):
    detector = make()

    losses = detector.loss(*frames)
    total(losses).backward()

    assert losses
    assert all(value.shape == (3,) and value.dtype == torch.float32 for value in losses.values())
    assert all(value.isfinite().all() and (value >= 0).all() for value in losses.values())
    gradients = [value.grad for value in detector.parameters() if value.grad is not None]
    assert any(gradient.any() for gradient in gradients)
    assert all(gradient.isfinite().all() for gradient in gradients)


def test_a_frames_losses_do_not_depend_on_the_frames_beside_it(make, frames):
    detector, (images, labels), seeds = make(), frames, [11, 12, 13]

    together = detector.loss(images, labels, seeds)
    alone = [detector.loss([image], [own], [seed]) for image, own, seed in zip(images, labels, seeds, strict=True)]
    reverse = detector.loss(images[::-1], labels[::-1], seeds[::-1])

    for name, value in together.items():
        expected = value.tolist()
        assert [one[name].item() for one in alone] == pytest.approx(expected, rel=1e-3, abs=1e-5)
        assert reverse[name].tolist()[::-1] == pytest.approx(expected, rel=1e-3, abs=1e-5)


def test_gradients_of_the_parts_of_a_batch_add_up_to_those_of_the_batch(make, frames):
    whole, parts, (images, labels), seeds = make(), make(), frames, [11, 12, 13]

    sum(value.sum() for value in whole.loss(images, labels, seeds).values()).backward()
    for at in (slice(0, 2), slice(2, 3)):
        sum(value.sum() for value in parts.loss(images[at], labels[at], seeds[at]).values()).backward()

    for expected, value in zip(whole.parameters(), parts.parameters(), strict=True):
        scale = float(expected.grad.abs().max())
        torch.testing.assert_close(value.grad, expected.grad, rtol=1e-3, atol=1e-4 * scale + 1e-6)


def test_the_same_seeds_give_the_same_losses_and_nothing_is_drawn_from_global_randomness(make, frames):
    detector = make()
    before = randomness()

    one, two = detector.loss(*frames, [1, 2, 3]), detector.loss(*frames, [1, 2, 3])
    without, again = detector.loss(*frames), detector.loss(*frames)

    assert same(one, two)
    assert same(without, again)
    assert before == randomness()


def test_losses_are_those_of_training_whatever_the_mode_was(make, frames):
    detector = make()
    expected = detector.loss(*frames)

    detector.predict(frames[0])

    assert same(detector.loss(*frames), expected)


def test_labels_count_as_much_as_their_weight(make, frames):
    detector, (images, labels), weight = make(), frames, 0.5
    heavy = [replace(own, weights=LossWeights.all(weight if number < 2 else 1.0)) for number, own in enumerate(labels)]

    plain, weighted = detector.loss(images, labels), detector.loss(images, heavy)

    for name, value in plain.items():
        factor = torch.tensor([weight, weight, 1.0])
        torch.testing.assert_close(weighted[name], value * factor, rtol=1e-4, atol=1e-6)


def test_labels_without_weight_give_no_gradient(make, frames):
    detector, (images, labels) = make(), frames
    none = [replace(own, weights=LossWeights.all(0.0)) for own in labels]
    first = [none[0], *labels[1:]]

    losses, partly = detector.loss(images, none), detector.loss(images, first)

    assert all((value == 0).all() for value in losses.values())
    # Not even a gradient of zeros: Adam would move by its momentum.
    assert not any(value.requires_grad for value in losses.values())
    assert all(value[0] == 0 for value in partly.values())


def test_where_background_does_not_count_a_frame_without_objects_teaches_nothing(make, frames):
    detector, images = make(), frames[0][:1]
    careless = replace(Labels.none(), weights=LossWeights(background=0.0))

    losses = detector.loss(images, [careless])

    assert all(value.item() == 0 for value in losses.values())
    assert total(detector.loss(images, [Labels.none()])).item() > 0


def test_where_labels_are_not_complete_only_their_boxes_are_taught(make, frames):
    detector, (images, labels) = make(), frames
    objects_only = replace(labels[2], weights=LossWeights(background=0.0))

    partly = detector.loss(images[2:], [replace(labels[2], complete=False)])
    nothing = detector.loss(images[2:], [replace(Labels.none(), complete=False)])

    assert same(partly, detector.loss(images[2:], [objects_only]))
    assert not same(partly, detector.loss(images[2:], [labels[2]]))
    assert total(partly).item() > 0
    assert all(value.item() == 0 for value in nothing.values())


def test_what_is_unsure_leaves_the_losses_finite(make, frames):
    images, labels = frames
    whole = np.array([[0, 0, images[0].shape[1], images[0].shape[0]]], np.float32)

    losses = make().loss(images, [replace(own, unsure=whole) for own in labels])

    assert all(value.isfinite().all() for value in losses.values())


def test_frames_of_several_shapes_are_learnt_together(make, a_frame):
    pairs = [a_frame(0, (0,)), a_frame(1, (1,), size=(64, 48)), a_frame(2, (2,), size=(50, 91))]

    losses = make().loss([frame.image() for frame, _ in pairs], [labels for _, labels in pairs])

    assert all(value.shape == (3,) and value.isfinite().all() for value in losses.values())


def test_it_gets_better_at_what_it_is_shown(make, frames):
    detector = make()
    with torch.no_grad():
        before = total(detector.loss(*frames)).item()

    learn(detector, *frames, updates=6)

    with torch.no_grad():
        assert total(detector.loss(*frames)).item() < 0.9 * before


# -- predicting


def test_detections_are_inside_the_image_best_first_and_of_its_classes(make, a_frame):
    images = [a_frame(n, (n % 3,), size=size)[0].image() for n, size in enumerate([(48, 64), (90, 40), (48, 64)])]

    found = make().predict(images)

    assert len(found) == 3
    for image, detections in zip(images, found, strict=True):
        height, width = image.shape[:2]
        assert len(detections) > 0
        assert (detections.boxes.dtype, detections.scores.dtype) == (np.float32, np.float32)
        assert detections.classes.dtype == np.int64
        assert (detections.boxes >= 0).all()
        assert (detections.boxes <= np.array([width, height] * 2) + 1e-3).all()
        assert (detections.boxes[:, 2:] > detections.boxes[:, :2]).all()
        assert (np.diff(detections.scores) <= 0).all()
        assert ((detections.scores > 0) & (detections.scores <= 1)).all()
        assert set(detections.classes.tolist()) <= {0, 1, 2}


def test_of_no_images_nothing_is_detected(make):
    assert make().predict([]) == []


@pytest.mark.parametrize("training", [True, False])
def test_predicting_changes_neither_state_nor_mode_nor_global_randomness(make, frames, training):
    detector = make()
    module = getattr(detector, "model", nn.Module())
    module.train(training)
    before, drawn = tensors(detector), randomness()

    one, two = detector.predict(frames[0]), detector.predict(frames[0])

    assert same(tensors(detector), before)
    assert drawn == randomness()
    assert module.training is training
    assert all(value.grad is None for value in detector.parameters())
    assert same_detections(one, two)


def test_images_are_described_by_vectors_that_are_near_where_images_are_alike(make, frames):
    detector = make()
    if not isinstance(detector, ImageDescriber):
        return
    image, other = frames[0][0], frames[0][2]
    noisy = np.clip(image.astype(int) + np.random.default_rng(0).integers(-2, 3, image.shape), 0, 255).astype(np.uint8)
    before, mode = tensors(detector), detector.model.training

    first, second, third = detector.describe([image, noisy, other])
    detector.frames_at_once = 1
    one_by_one = detector.describe([image, noisy, other])

    assert np.linalg.norm(first - second) < np.linalg.norm(first - third)
    assert one_by_one == pytest.approx(np.stack([first, second, third]), rel=1e-3, abs=1e-4)
    assert one_by_one.dtype == np.float32
    assert len(detector.describe([])) == 0
    assert same(before, tensors(detector))
    assert detector.model.training == mode


def test_what_is_detected_does_not_depend_on_how_many_frames_go_at_once(make, frames):
    images = frames[0]
    whole = make().predict(images)

    detector = make()
    few = detector.to("cpu", frames_at_once=1).predict(images)

    assert detector.frames_at_once == 1
    for one, two in zip(whole, few, strict=True):
        assert len(one) == len(two)
        # By score alone: which of two equal ones comes first is left to chance.
        np.testing.assert_allclose(one.scores, two.scores, rtol=0, atol=1e-4)


# -- state


def test_a_state_is_a_snapshot_of_plain_values_that_another_detector_continues_from(make, frames):
    one, two = make(), make(seed=1)
    learn(one, *frames)
    state = one.state_dict()
    buffer = io.BytesIO()
    torch.save(state, buffer)
    expected, losses = one.predict(frames[0]), one.loss(*frames)

    two.load_state_dict(torch.load(io.BytesIO(buffer.getvalue()), weights_only=True))
    learn(one, *frames)

    assert not same(tensors(one), state["weights"])
    assert same(tensors(two), state["weights"])
    assert same_detections(two.predict(frames[0]), expected)
    assert same(two.loss(*frames), losses)


def test_a_clone_is_the_same_and_goes_its_own_way(make, frames):
    detector = make()
    before = tensors(detector)

    twin = detector.clone()
    learn(twin, *frames)

    assert type(twin) is type(detector)
    assert twin.classes == detector.classes
    assert same(tensors(detector), before)
    assert not same(tensors(twin), before)


def test_following_moves_every_number_by_a_part_of_the_way(make):
    slow, fast = make(seed=0), make(seed=1)
    before, goal = tensors(slow), tensors(fast)

    slow.follow(fast, keep=0.75)

    for name, value in tensors(slow).items():
        expected = 0.75 * before[name] + 0.25 * goal[name] if value.is_floating_point() else goal[name]
        torch.testing.assert_close(value, expected, rtol=1e-5, atol=1e-6)
    slow.follow(fast, keep=0.0)
    assert same(tensors(slow), goal)
    assert same(tensors(fast), goal)


def test_a_state_of_other_classes_is_refused(make):
    state = make().state_dict() | {"classes": ["cat", "book", "car"]}

    with pytest.raises(InvalidData):
        make().load_state_dict(state)


def test_saved_weights_start_a_detector_of_other_classes_with_the_rows_of_the_same_names(make, tmp_path):
    """By what the detector says of its class layers: nobody else knows how it is built."""
    trained, started = make(seed=1), make(seed=2, classes=("lamp", "Car"))
    save_weights(tmp_path / "trained.safetensors", trained.model, CLASSES, {})
    before, given = tensors(started), tensors(trained)

    load_weights(started, str(tmp_path / "trained.safetensors"))

    layers = {layer.name: layer for layer in started.class_layers()}
    for name, value in tensors(started).items():
        if (layer := layers.get(name.rpartition(".")[0])) is None:
            assert torch.equal(value, given[name]), name
            continue
        kept, car, background = (layer.find_rows([number], 2) for number in (0, 1, BACKGROUND_ROW))
        assert torch.equal(value[kept], before[name][kept])
        assert torch.equal(value[car], given[name][layer.find_rows([2], 3)])
        assert torch.equal(value[background], given[name][layer.find_rows([BACKGROUND_ROW], 3)])


# -- classes that are added later


def test_added_classes_leave_what_was_learnt_and_the_parameters_in_place(make, frames):
    detector, (images, labels) = make(), frames
    learn(detector, *frames)
    parameters = list(detector.parameters())
    before = {name: value.detach().clone() for name, value in detector.named_parameters()}

    moved = detector.extend_classes(["lamp", "bench"])

    assert detector.classes == (*CLASSES, "lamp", "bench")
    assert moved
    assert all(one is two for one, two in zip(parameters, detector.parameters(), strict=True))
    for name, value in detector.named_parameters():
        assert torch.equal(value[moved[name]] if name in moved else value, before[name]), name
        assert name in moved or value.shape == before[name].shape
    lamps = [Labels(own.boxes, np.full(len(own), 3)) for own in labels]
    learn(detector, images, lamps)
    assert all(set(one.classes.tolist()) <= set(range(5)) for one in detector.predict(images))


def test_two_that_grow_alike_get_the_same_weights(make):
    one, two = make(), make()

    one.extend_classes(["lamp", "bench"])
    two.extend_classes(["lamp", "bench"])

    assert same(tensors(one), tensors(two))


def test_a_state_with_more_classes_makes_it_grow_and_a_clone_grows_by_itself(make, frames):
    detector, fresh = make(), make(seed=1)
    grown = detector.clone()
    grown.extend_classes(["lamp"])

    fresh.load_state_dict(grown.state_dict())

    assert detector.classes == CLASSES
    assert same(tensors(fresh), tensors(grown))
    assert same_detections(fresh.predict(frames[0]), grown.predict(frames[0]))


def test_a_class_that_is_there_is_refused_and_of_no_class_nothing_changes(make):
    detector = make()
    before = tensors(detector)

    for names in (["lamp", "mug"], ["lamp", "lamp"]):
        with pytest.raises(InvalidData):
            detector.extend_classes(names)

    assert detector.extend_classes([]) == {}
    assert detector.classes == CLASSES
    assert same(tensors(detector), before)


def test_it_may_start_without_any_class(make, frames):
    detector = make(classes=())

    nothing = detector.predict(frames[0])
    with torch.no_grad():
        losses = detector.loss(frames[0], [Labels.none()] * 3)
    detector.extend_classes(CLASSES)
    learn(detector, *frames)

    assert [len(found) for found in nothing] == [0] * 3
    assert all(value.isfinite().all() for value in losses.values())
    assert detector.classes == CLASSES


# -- class logits, distillation, region head: what not every detector has


def has(detector, method):
    """Whether a detector defines something optional. If not, it says so when it is asked."""
    try:
        if method == "class_logits":
            detector.class_logits([], [])
        else:
            image = np.zeros((48, 64, 3), np.uint8)
            detector.distillation([image], detector.clone(), classes=[0], temperature=1.0)
    except InvalidConfig as error:
        if method in str(error):
            return False
        raise
    return True


def test_class_logits_are_boxes_by_background_and_classes_and_carry_a_gradient(make, frames):
    detector, (images, labels) = make(), frames
    if not has(detector, "class_logits"):
        return
    boxes = [own.boxes for own in labels]

    logits = detector.class_logits(images, boxes)
    torch.cat(logits).square().sum().backward()

    assert [value.shape for value in logits] == [(len(own), 4) for own in boxes]
    assert all(value.dtype == torch.float32 and value.isfinite().all() for value in logits)
    assert any(value.grad is not None and value.grad.any() for value in detector.parameters())
    for image, own, value in zip(images, boxes, logits, strict=True):
        torch.testing.assert_close(detector.class_logits([image], [own])[0], value, rtol=1e-3, atol=1e-4)
    assert [value.shape for value in detector.class_logits(images[:2], [boxes[0][:0]] * 2)] == [(0, 4), (0, 4)]
    assert detector.class_logits([], []) == []


def test_added_classes_leave_the_logits_of_the_old_ones(make, frames):
    detector, (images, labels) = make(), frames
    if not has(detector, "class_logits"):
        return
    boxes = [own.boxes for own in labels]
    before = detector.class_logits(images, boxes)

    detector.extend_classes(["lamp"])

    for now, then in zip(detector.class_logits(images, boxes), before, strict=True):
        assert now.shape[1] == 5
        torch.testing.assert_close(now[:, :4], then, rtol=1e-5, atol=1e-6)


def test_stored_logits_are_held_to_by_their_weight(make, frames):
    detector, (images, labels) = make(), frames
    if not has(detector, "class_logits"):
        return
    with torch.no_grad():
        now = detector.class_logits(images, [own.boxes for own in labels])
    stored = [
        replace(own, logits=logits.numpy() - 0.5, weights=LossWeights(logits=2.0))
        for own, logits in zip(labels, now, strict=True)
    ]

    losses = detector.loss(images, stored)

    assert losses["logits"].tolist() == pytest.approx([0.5, 0.0, 0.5], rel=1e-2)
    assert "logits" not in detector.loss(images, labels)


def test_distillation_is_one_number_a_frame_and_teaches_the_student_only(make, frames):
    student, teacher, images = make(), make(seed=1), frames[0]
    if not has(student, "distillation"):
        assert not student.region_head_parameters()
        return

    losses = student.distillation(images, teacher, classes=[0, 2], temperature=2.0)
    itself = student.distillation(images, student.clone(), classes=[0, 1, 2], temperature=2.0)
    total(losses).backward()

    assert losses
    assert all(value.shape == (3,) and value.isfinite().all() for value in losses.values())
    assert total(losses).item() > 0
    for value in itself.values():
        torch.testing.assert_close(value, torch.zeros(3), rtol=0, atol=1e-5)
    assert any(value.grad is not None for value in student.parameters())
    assert all(value.grad is None for value in teacher.parameters())


def test_the_region_head_is_a_part_of_what_learns(make):
    detector = make()
    named = dict(detector.named_parameters())

    head = detector.region_head_parameters()

    assert all(named[name] is value for name, value in head.items())
    assert len(head) < len(named)


# -- precision


def test_in_half_precision_losses_gradients_and_weights_stay_float32(make, frames):
    whole, half = make(), make()

    assert half.to("cpu", "bfloat16") is half
    losses, expected = half.loss(*frames, [1, 2, 3]), whole.loss(*frames, [1, 2, 3])
    total(losses).backward()

    assert half.precision == "bfloat16"
    assert all(value.dtype == torch.float32 and value.isfinite().all() for value in losses.values())
    assert all(value.dtype == torch.float32 for value in half.parameters())
    assert all(value.grad is None or value.grad.dtype == torch.float32 for value in half.parameters())
    assert total(losses).item() == pytest.approx(total(expected).item(), rel=0.2)
    for image, found in zip(frames[0], half.predict(frames[0]), strict=True):
        assert found.boxes.dtype == found.scores.dtype == np.float32
        assert (found.boxes <= np.array([image.shape[1], image.shape[0]] * 2) + 1e-3).all()
