"""Faster R-CNN on five backbones: sizes, what is frozen, options, and learning at a small input."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torchvision.ops import FrozenBatchNorm2d

from leocod.detectors.base import DETECTORS, Detector
from leocod.detectors.faster_rcnn import FasterRCNNDetector, FasterRCNNOptions, build_faster_rcnn
from leocod.errors import InvalidConfig, InvalidData
from leocod.networks.backbones import BACKBONES
from leocod.run.config import load_config
from leocod.run.layers import parse_override
from leocod.types import Labels
from leocod.weights import save_weights

CLASSES = ("mug", "book", "car")
FROZEN = {
    "resnet50-c4": ("conv1.", "layer1."),
    "resnet50-fpn": ("conv1.", "layer1."),
    "resnet18-fpn": ("conv1.", "layer1."),
    "mobilenet_v2-fpn": tuple(f"{number}." for number in range(7)),
    "mobilenet_v3-320-fpn": tuple(f"{number}." for number in range(7)),
}
MILLIONS = {
    "resnet50-c4": 33.04,
    "resnet50-fpn": 41.32,
    "resnet18-fpn": 28.30,
    "mobilenet_v2-fpn": 18.84,
    "mobilenet_v3-320-fpn": 18.96,
}


def small(backbone="mobilenet_v2-fpn", seed=0, **options):
    """Quick: small pictures, few regions."""
    settings = {"short_side": 64, "regions": 8, "proposals": 12, "proposals_at_test": 12, **options}
    return FasterRCNNDetector(CLASSES, FasterRCNNOptions.model_validate({"backbone": backbone, **settings}), seed=seed)


def load(*texts):
    return load_config(None, [parse_override(text) for text in ("detector=faster_rcnn", *texts)]).detector.options


@pytest.mark.parametrize("backbone", BACKBONES)
def test_it_learns_what_is_not_frozen_and_nothing_else(backbone, a_frame):
    detector = small(backbone)
    frames = [a_frame(0, (0, 1), size=(64, 85)), a_frame(1, (), size=(85, 64))]
    images, labels = [frame.image() for frame, _ in frames], [labels for _, labels in frames]

    losses = detector.loss(images, labels)
    torch.stack([value.mean() for value in losses.values()]).sum().backward()

    assert isinstance(detector, Detector)
    assert all(value.shape == (2,) and value.isfinite().all() for value in losses.values())
    without = {name for name, value in detector.model.named_parameters() if value.grad is None}
    body = "backbone.body."
    assert without == {
        name
        for name, _ in detector.model.named_parameters()
        if name.startswith(body) and name.removeprefix(body).startswith(FROZEN[backbone])
    }
    assert not without & {name for name, _ in detector.named_parameters()}
    assert all(value.grad.isfinite().all() and value.grad.any() for value in detector.parameters())


def test_it_gets_better_at_what_it_is_shown(a_frame):
    detector = small()
    frame, labels = a_frame(0, (0, 1), size=(64, 64))
    optimizer = torch.optim.Adam(detector.parameters(), lr=detector.learning_rate)
    totals = []

    for _ in range(6):
        loss = torch.stack([value.mean() for value in detector.loss([frame.image()], [labels]).values()]).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        totals.append(loss.item())

    assert totals[-1] < 0.7 * totals[0]


@pytest.mark.parametrize("backbone", BACKBONES)
def test_it_has_the_parameters_that_the_documents_say(backbone):
    """All of them, frozen or not; frozen normalisation has none."""
    model = build_faster_rcnn(6, FasterRCNNOptions(backbone=backbone))

    count = sum(one.numel() for one in model.parameters())

    assert count / 1e6 == pytest.approx(MILLIONS[backbone], abs=0.005)
    assert not any(isinstance(layer, torch.nn.BatchNorm2d) for layer in model.modules())
    assert any(isinstance(layer, FrozenBatchNorm2d) for layer in model.modules())


def test_the_papers_detector_has_33_million_parameters():
    count = sum(one.numel() for one in build_faster_rcnn(6, FasterRCNNOptions()).parameters())

    assert 32.95e6 <= count < 33.05e6


def test_the_papers_detector_has_detectron2s_numbers():
    model = build_faster_rcnn(6, FasterRCNNOptions())

    assert (model.transform.min_size, model.transform.max_size, model.transform.size_divisible) == ((800,), 1333, 1)
    assert model.rpn._pre_nms_top_n == {"training": 12000, "testing": 6000}
    assert model.rpn._post_nms_top_n == {"training": 2000, "testing": 1000}
    assert model.rpn.nms_thresh == 0.7
    assert (model.rpn.proposal_matcher.high_threshold, model.rpn.proposal_matcher.low_threshold) == (0.7, 0.3)
    assert (model.rpn.fg_bg_sampler.batch_size_per_image, model.rpn.fg_bg_sampler.positive_fraction) == (256, 0.5)
    assert tuple(model.rpn.box_coder.weights) == (1, 1, 1, 1)
    heads = model.roi_heads
    assert (heads.fg_bg_sampler.batch_size_per_image, heads.fg_bg_sampler.positive_fraction) == (512, 0.25)
    assert heads.proposal_matcher.high_threshold == heads.proposal_matcher.low_threshold == 0.5
    assert tuple(heads.box_coder.weights) == (10, 10, 5, 5)
    assert (heads.score_thresh, heads.nms_thresh, heads.detections_per_img) == (0.05, 0.5, 100)
    assert heads.box_predictor.cls_score.out_features == 7
    assert heads.box_predictor.bbox_pred.out_features == 28


def test_the_loss_of_a_box_is_linear_from_the_start_in_detectron2s_network_alone():
    assert small("resnet50-c4").box_beta == 0
    assert small("resnet18-fpn").box_beta == 1 / 9


def test_a_portrait_picture_is_predicted_in_its_own_pixels(a_frame):
    detector = small("resnet50-c4")
    image = a_frame(0, (0,), size=(150, 100))[0].image()

    (found,) = detector.predict([image])

    assert len(found)
    assert (found.boxes >= 0).all()
    assert (found.boxes[:, [0, 2]] <= 100).all()
    assert (found.boxes[:, [1, 3]] <= 150).all()
    assert found.boxes[:, 3].max() > 100


def test_a_clone_and_a_saved_state_predict_the_same(a_frame):
    detector, other = small(seed=1), small(seed=2)
    images = [a_frame(0, (0, 1), size=(64, 85))[0].image()]
    (expected,) = detector.predict(images)
    assert len(expected)
    assert not np.array_equal(other.predict(images)[0].boxes, expected.boxes)

    other.load_state_dict(detector.state_dict())

    for twin in (other, detector.clone()):
        (found,) = twin.predict(images)
        np.testing.assert_array_equal(found.boxes, expected.boxes)
        np.testing.assert_array_equal(found.classes, expected.classes)


def test_equal_seeds_make_equal_detectors_and_leave_torchs_own_randomness_alone():
    before = torch.random.get_rng_state()

    one, two, other = small(seed=5), small(seed=5), small(seed=6)

    assert torch.equal(before, torch.random.get_rng_state())
    same = [torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True)]
    assert all(same)
    assert not all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_it_starts_from_weights_of_its_own_with_the_rows_of_the_classes_they_name(tmp_path):
    trained = small(seed=1)
    file = tmp_path / "trained.safetensors"
    save_weights(file, trained.model, CLASSES, {})
    options = trained.options.model_copy(update={"weights": str(file)})

    started = FasterRCNNDetector(("car", "cup"), options, seed=2)

    own, theirs = started.model.state_dict(), trained.model.state_dict()
    rows = "roi_heads.box_predictor.cls_score.weight"
    assert torch.equal(own[rows][:2], theirs[rows][[0, 3]])
    assert not torch.equal(own[rows][2], theirs[rows][2])
    assert all(torch.equal(own[name], theirs[name]) for name in own if "box_predictor" not in name)


def test_weights_of_another_backbone_are_refused(tmp_path):
    file = tmp_path / "other.safetensors"
    save_weights(file, small("resnet18-fpn").model, CLASSES, {})

    with pytest.raises(InvalidData, match="does not fit this detector"):
        small("mobilenet_v2-fpn", weights=str(file))


def test_the_name_finds_the_class():
    assert DETECTORS.find("faster_rcnn") is FasterRCNNDetector
    assert load().backbone == "resnet50-c4"


def test_input_sides_are_the_backbones_own_or_in_its_proportion():
    def sides(**options):
        return FasterRCNNOptions.model_validate(options).input_sides

    assert sides() == (800, 1333)
    assert sides(short_side=96) == (96, 160)
    assert sides(backbone="mobilenet_v2-fpn") == (320, 640)
    assert sides(backbone="mobilenet_v2-fpn", short_side=100) == (100, 200)
    assert sides(short_side=96, long_side=500) == (96, 500)


def test_candidates_keep_their_proportion_to_proposals():
    model = build_faster_rcnn(1, FasterRCNNOptions(proposals=100, proposals_at_test=50))

    assert model.rpn._pre_nms_top_n == {"training": 600, "testing": 300}
    assert model.rpn._post_nms_top_n == {"training": 100, "testing": 50}


def test_a_complete_config_reads_back():
    options = load("detector.backbone=mobilenet_v3-320-fpn")

    assert FasterRCNNOptions.model_validate(options.model_dump()) == options


@pytest.mark.parametrize(
    ("texts", "complaint"),
    [
        (
            ["detector.backbone=resnet50"],
            "detector.backbone is 'resnet50': it should be 'resnet50-c4', 'resnet50-fpn', ",
        ),
        (["detector.weights=5"], "detector.weights is 5: it should be a valid string"),
        (["detector.learning_rate=0"], "detector.learning_rate is 0: it should be more than 0"),
        (["detector.short_side=10"], "detector.short_side is 10: it should be at least 64"),
        (["detector.long_side=10"], "detector.long_side is 10: it should be at least 64"),
        (["detector.long_side=700"], "detector.long_side is 700: it should be at least the short side, 800"),
        (
            ["detector.short_side=96", "detector.long_side=95"],
            "detector.long_side is 95: it should be at least the short side, 96",
        ),
        (["detector.regions=0"], "detector.regions is 0: it should be at least 8"),
        (["detector.proposals=0"], "detector.proposals is 0: it should be at least 8"),
        (["detector.proposals_at_test=many"], "detector.proposals_at_test is 'many': it should be a valid integer"),
        (["detector.frozen=-1"], "detector.frozen is -1: it should be at least 0"),
        (["detector.frozen=5"], "detector.frozen is 5: it should be at most 4 for resnet50-c4"),
        (
            ["detector.backbone=resnet50-fpn", "detector.frozen=6"],
            "detector.frozen is 6: it should be at most 5 for resnet50-fpn",
        ),
        (
            ["detector.pyramid_channels=64"],
            "detector.pyramid_channels is 64: it should be left out: only resnet18-fpn and mobilenet_v2-fpn have the "
            "choice",
        ),
        (["detector.stride_in_1x1=2"], "detector.stride_in_1x1 is 2: it should be a valid boolean"),
        (
            ["detector.backbone=resnet18-fpn", "detector.stride_in_1x1=false"],
            "detector.stride_in_1x1 is false: it should be left out: only resnet50-c4 has the choice",
        ),
        (["detector.stride=8"], "detector.stride: unknown key"),
    ],
)
def test_mistakes_are_told_in_one_line_with_key_value_and_cure(texts, complaint):
    with pytest.raises(InvalidConfig) as caught:
        load(*texts)

    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_labels_of_nothing_are_learnt_as_background(a_frame):
    image = a_frame(0, (), size=(64, 64))[0].image()

    losses = small().loss([image], [Labels.none()])

    assert losses["region_box"].item() == 0
    assert losses["region_class"].item() > 0


def test_classes_may_all_come_later(a_frame):
    detector = FasterRCNNDetector(
        (), FasterRCNNOptions(backbone="mobilenet_v2-fpn", short_side=64, proposals_at_test=8)
    )
    frame, labels = a_frame(0, (1,), size=(64, 64))
    assert [len(found) for found in detector.predict([frame.image()])] == [0]

    detector.extend_classes(CLASSES)

    assert detector.loss([frame.image()], [labels])["region_class"].item() > 0
    assert set(detector.predict([frame.image()])[0].classes.tolist()) <= {0, 1, 2}


@pytest.mark.parametrize("backbone", ["resnet18-fpn", "mobilenet_v2-fpn"])
def test_a_narrower_pyramid_learns_and_starts_from_its_own_weights(backbone, a_frame, tmp_path):
    options = FasterRCNNOptions(backbone=backbone, short_side=64, regions=8, proposals=8, pyramid_channels=32)
    narrow = FasterRCNNDetector(("mug", "dog"), options)
    wide = FasterRCNNDetector(("mug", "dog"), options.model_copy(update={"pyramid_channels": None}))
    frame, labels = a_frame(0, (0,))

    losses = narrow.loss([frame.image()], [labels])
    sum(value.sum() for value in losses.values()).backward()
    save_weights(tmp_path / "narrow.safetensors", narrow.model, narrow.classes, {})
    again = FasterRCNNDetector(
        ("mug", "dog"), options.model_copy(update={"weights": str(tmp_path / "narrow.safetensors")}), seed=1
    )

    assert sum(map(torch.numel, narrow.parameters())) < 0.5 * sum(map(torch.numel, wide.parameters()))
    assert all(value.grad is not None for value in narrow.model.backbone.fpn.parameters())
    assert torch.equal(again.model.roi_heads.box_head.fc6.weight, narrow.model.roi_heads.box_head.fc6.weight)
