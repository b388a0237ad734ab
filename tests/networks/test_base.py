"""What all networks share: state, growing, precision, and frames that go through it a few at a time."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from leocod.detectors.base import Detector
from leocod.errors import InvalidConfig, InvalidData
from leocod.networks.base import BACKGROUND_ROW, BackboneLayout, BaseDetector, ClassLayer, fork_rng
from leocod.settings import Settings
from leocod.types import Detections


@pytest.fixture
def pairs(a_frame):
    return [a_frame(0, (0, 1)), a_frame(1, ()), a_frame(2, (2,)), a_frame(3, (1, 0)), a_frame(4, (2,))]


def images_of(pairs):
    return [frame.image() for frame, _ in pairs]


def labels_of(pairs):
    return [labels for _, labels in pairs]


def test_a_frames_losses_do_not_depend_on_the_frames_beside_it(a_detector, pairs):
    detector = a_detector()
    seeds = [11, 12, 13, 14, 15]

    together = detector.loss(images_of(pairs), labels_of(pairs), seeds)
    alone = [
        detector.loss([frame.image()], [labels], [seed]) for (frame, labels), seed in zip(pairs, seeds, strict=True)
    ]

    for name, value in together.items():
        np.testing.assert_allclose(value.tolist(), [one[name].item() for one in alone], rtol=1e-4, atol=1e-6)


def test_another_seed_draws_other_regions(a_detector, a_frame):
    frame, labels = a_frame(0, (0, 1, 2))
    detector = a_detector(regions=8)

    losses = [detector.loss([frame.image()], [labels], [seed])["region_class"].item() for seed in range(4)]

    assert len(set(losses)) > 1


def test_what_is_found_does_not_depend_on_how_many_frames_go_at_once(a_detector, pairs):
    detector = a_detector()
    all_at_once = detector.predict(images_of(pairs))

    two_at_once = detector.to("cpu", frames_at_once=2).predict(images_of(pairs))

    assert any(len(found) for found in all_at_once)
    for one, two in zip(all_at_once, two_at_once, strict=True):
        np.testing.assert_allclose(one.boxes, two.boxes, atol=1e-3)


def test_growing_leaves_what_was_learnt_as_it_was(a_detector, pairs):
    detector = a_detector()
    boxes = [labels.boxes for labels in labels_of(pairs)]
    with torch.no_grad():
        before = detector.class_logits(images_of(pairs), boxes)
    parameters = list(detector.parameters())

    moved = detector.extend_classes(["lamp", "bench"])

    after = detector.class_logits(images_of(pairs), boxes)
    assert detector.classes == ("mug", "book", "car", "lamp", "bench")
    assert [one.shape[1] for one in after] == [6] * 5
    assert all(torch.equal(now[:, :4], then) for now, then in zip(after, before, strict=True))
    assert all(one is two for one, two in zip(parameters, detector.parameters(), strict=True))
    assert {name: where.tolist() for name, where in moved.items() if name.endswith("weight")} == {
        "roi_heads.box_predictor.cls_score.weight": [0, 1, 2, 3],
        "roi_heads.box_predictor.bbox_pred.weight": list(range(16)),
    }
    assert detector.model.roi_heads.box_predictor.cls_score.out_features == 6


def test_two_that_grow_alike_get_the_same_rows_and_others_others(a_detector):
    one, two, other = a_detector(), a_detector(), a_detector(seed=1)
    for detector in (one, two, other):
        detector.extend_classes(["lamp"])

    rows = [detector.model.roi_heads.box_predictor.cls_score.weight[-1] for detector in (one, two, other)]

    assert torch.equal(rows[0], rows[1])
    assert not torch.equal(rows[0], rows[2])


def test_the_rows_of_classes_are_found_in_every_group():
    scores, boxes = ClassLayer("scores", groups=2), ClassLayer("boxes", each=4, background=2)

    assert scores.find_rows([BACKGROUND_ROW, 0, 1, 2], classes=5).tolist() == [0, 1, 2, 5, 6, 7]
    assert scores.find_rows([2, 0], classes=3).tolist() == [2, 0, 5, 3]
    assert scores.count_rows(5) == 10
    assert boxes.find_rows([1, BACKGROUND_ROW], classes=3).tolist() == [6, 7, 8, 9, 0, 1]
    assert boxes.find_rows([], classes=3).tolist() == []
    assert boxes.count_rows(3) == 14


def test_a_tensor_of_a_classifier_goes_to_the_place_of_its_longest_prefix():
    layout = BackboneLayout("a network", {"": "body.", "layer4.": "head.layer4."}, (), ())

    assert layout.place("layer4.0.conv1.weight") == "head.layer4.0.conv1.weight"
    assert layout.place("layer40.weight") == "body.layer40.weight"
    assert BackboneLayout("another", {"stem.": "body."}, (), ()).place("top.weight") == "top.weight"


class Least(BaseDetector):
    """Only what every detector must define."""

    Options = Settings

    def __init__(self):
        super().__init__(torch.nn.Linear(2, 3), ("mug",), learning_rate=0.1)

    def loss(self, images, labels, seeds=None):
        raise NotImplementedError

    def detect(self, images):
        return [Detections(np.zeros((0, 4)), np.zeros(0), np.zeros(0)) for _ in images]

    def class_layers(self):
        return ()


def test_what_a_detector_need_not_have_is_empty_or_an_error_that_names_it():
    least = Least()

    assert isinstance(least, Detector)
    assert Least.known_classes(None) == ()
    assert least.region_head_parameters() == {}
    assert least.reporting_limits() == (0.0, None)
    assert least.backbone_layout is None
    with pytest.raises(InvalidConfig, match="The detector Least does not define `class_logits`, which this strategy"):
        least.class_logits([], [])
    with pytest.raises(InvalidConfig, match="`distillation`"):
        least.distillation([], least, classes=[], temperature=1.0)


def test_drawing_from_a_seed_leaves_torchs_own_randomness_alone():
    before = torch.random.get_rng_state()

    with fork_rng(3):
        one = torch.rand(2)
    with fork_rng(3):
        two = torch.rand(2)

    assert torch.equal(one, two)
    assert torch.equal(before, torch.random.get_rng_state())


def test_the_mode_is_put_back_even_when_predicting_fails():
    least = Least()
    least.detect = lambda images: 1 / 0

    with pytest.raises(ZeroDivisionError):
        least.predict([np.zeros((2, 2, 3), np.uint8)])

    assert least.model.training


def test_a_class_cannot_be_added_twice(a_detector):
    with pytest.raises(InvalidData, match="'mug' is there already"):
        a_detector().extend_classes(["lamp", "mug"])
    with pytest.raises(InvalidData, match="'lamp' is there already"):
        a_detector().extend_classes(["lamp", "lamp"])


def test_a_state_with_more_classes_makes_the_detector_grow(a_detector):
    grown = a_detector(seed=1)
    grown.extend_classes(["lamp"])
    fresh = a_detector()

    fresh.load_state_dict(grown.state_dict())

    assert fresh.classes == grown.classes
    assert all(torch.equal(one, two) for one, two in zip(fresh.parameters(), grown.parameters(), strict=True))


def test_a_state_of_other_classes_is_refused(a_detector):
    state = a_detector().state_dict() | {"classes": ["cat", "book", "car"]}

    with pytest.raises(InvalidData, match="cat, book, car cannot be loaded for mug, book, car"):
        a_detector().load_state_dict(state)


def test_half_precision_changes_little_and_keeps_the_weights_whole(a_detector, pairs):
    whole, half = a_detector(), a_detector().to("cpu", "bfloat16")

    losses = [one.loss(images_of(pairs), labels_of(pairs), range(5)) for one in (whole, half)]
    torch.stack([value.mean() for value in losses[1].values()]).sum().backward()

    assert {value.dtype for value in losses[1].values()} == {torch.float32}
    assert {one.grad.dtype for one in half.parameters()} == {torch.float32}
    assert losses[1]["region_class"].tolist() != losses[0]["region_class"].tolist()
    np.testing.assert_allclose(
        losses[1]["proposal_class"].tolist(), losses[0]["proposal_class"].tolist(), rtol=0.05, atol=0.01
    )
