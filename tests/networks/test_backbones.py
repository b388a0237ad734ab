"""Backbones with a pyramid are torchvision's, and several levels go through our path as through torchvision's."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest
import torch
from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_320_fpn, fasterrcnn_resnet50_fpn
from torchvision.models.detection.faster_rcnn import TwoMLPHead
from torchvision.models.detection.image_list import ImageList

from leocod.detectors.faster_rcnn import FasterRCNNDetector, FasterRCNNOptions, build_faster_rcnn
from leocod.export.comparison import compare_detections
from leocod.networks.backbones import BACKBONES, Anchors, build_modules
from leocod.networks.roi_align import RoIAlign
from leocod.networks.two_stage import TwoStage
from leocod.types import Detections

PYRAMIDS = ["resnet50-fpn", "resnet18-fpn", "mobilenet_v2-fpn", "mobilenet_v3-320-fpn"]
CLASSES = ("mug", "book", "car")


def as_tensors(images):
    return [torch.tensor(image).permute(2, 0, 1).float() / 255 for image in images]


@pytest.fixture
def frames(a_frame):
    made = [a_frame(0, (0, 1), size=(64, 85)), a_frame(1, (2,), size=(85, 64))]
    return [frame.image() for frame, _ in made], [labels for _, labels in made]


@pytest.fixture(scope="module")
def a_pyramid():
    """A detector that takes everything there is, so that no lots are drawn. Made once, and not to be changed."""

    @cache
    def make(backbone):
        options = {"backbone": backbone, "short_side": 64, "proposals": 30, "proposals_at_test": 30, "regions": 200}
        detector = FasterRCNNDetector(CLASSES, FasterRCNNOptions.model_validate(options))
        for sampler in (detector.model.rpn.fg_bg_sampler, detector.model.roi_heads.fg_bg_sampler):
            sampler.batch_size_per_image, sampler.positive_fraction = 10_000, 0.5
        return detector

    return make


@pytest.mark.parametrize("backbone", PYRAMIDS)
def test_losses_over_several_levels_are_torchvisions(a_pyramid, frames, backbone):
    images, labels = frames
    detector = a_pyramid(backbone)

    for image, one in zip(images, labels, strict=True):
        target = {"boxes": torch.tensor(one.boxes), "labels": torch.tensor(one.classes) + 1}
        ours = detector.loss([image], [one])
        theirs = detector.model(as_tensors([image]), [target])

        for name, their_name in {
            "proposal_class": "loss_objectness",
            "proposal_box": "loss_rpn_box_reg",
            "region_class": "loss_classifier",
            "region_box": "loss_box_reg",
        }.items():
            assert ours[name].item() == pytest.approx(theirs[their_name].item(), rel=1e-3), name


@pytest.mark.parametrize("backbone", PYRAMIDS)
def test_detections_over_several_levels_are_torchvisions(a_pyramid, frames, backbone):
    images, _ = frames
    detector = a_pyramid(backbone)

    ours = detector.predict(images)
    with torch.no_grad():
        theirs = detector.model.eval()(as_tensors(images))

    expected = [Detections(*(one[part].numpy() for part in ("boxes", "labels", "scores"))) for one in theirs]
    expected = [Detections(one.boxes, one.classes - 1, one.scores) for one in expected]
    compared = compare_detections(expected, ours, detector.reporting_limits())
    assert all(len(found) for found in ours)
    assert not compared.unmatched
    assert compared.box_difference < 1e-2
    assert compared.score_difference < 1e-4


@pytest.mark.parametrize(
    ("backbone", "theirs"),
    [
        ("resnet50-fpn", fasterrcnn_resnet50_fpn),
        ("mobilenet_v3-320-fpn", fasterrcnn_mobilenet_v3_large_320_fpn),
    ],
)
def test_torchvisions_published_detectors_are_built_as_torchvision_builds_them(backbone, theirs, a_frame):
    published = theirs(weights=None, weights_backbone=None, num_classes=4).eval()
    model = build_faster_rcnn(3, FasterRCNNOptions(backbone=backbone)).eval()
    state = {name: one for name, one in published.state_dict().items() if not name.endswith("num_batches_tracked")}

    model.load_state_dict(state)

    for name in ("min_size", "max_size", "image_mean", "image_std", "size_divisible"):
        assert list(np.atleast_1d(getattr(model.transform, name))) == list(
            np.atleast_1d(getattr(published.transform, name))
        )
    for name in ("_pre_nms_top_n", "_post_nms_top_n", "nms_thresh", "score_thresh", "min_size"):
        assert getattr(model.rpn, name) == getattr(published.rpn, name)
    for name in ("score_thresh", "nms_thresh", "detections_per_img"):
        assert getattr(model.roi_heads, name) == getattr(published.roi_heads, name)
    for one in (model, published):
        one.transform.min_size, one.transform.max_size = (96,), 160
    picture = as_tensors([a_frame(0, (0, 1), size=(96, 128))[0].image()])
    # By the same kernels: near ties would change places.
    model.roi_heads.box_roi_pool = model.roi_heads.box_roi_pool.operator
    model.roi_heads.box_head.forward = partial(TwoMLPHead.forward, model.roi_heads.box_head)
    with torch.no_grad():
        ours, expected = model(picture)[0], published(picture)[0]
    assert len(expected["boxes"]) > 0
    for name, value in expected.items():
        torch.testing.assert_close(ours[name], value)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_a_number_of_stages_from_the_stem_on_is_frozen(backbone):
    learnt = []
    for frozen in (0, 1, BACKBONES[backbone].stages):
        modules = build_modules(backbone, 4, frozen=frozen, short_side=64)
        flags = [one.requires_grad for one in modules.backbone.body.parameters()]
        learnt.append(sum(flags))

        assert flags == sorted(flags), "the stages nearest to the picture go first"
        assert all(one.requires_grad for one in modules.head.parameters())

    assert learnt == sorted(learnt, reverse=True)
    assert len(set(learnt)) == len(learnt)
    assert learnt[0] == len(flags)
    assert learnt[-1] == 0


def test_anchors_of_published_detectors_stay_and_others_go_with_the_input():
    def sizes(backbone, short_side):
        modules = build_modules(backbone, 4, frozen=0, short_side=short_side)
        return [float(size) for level in modules.anchors.sizes for size in level]

    assert sizes("resnet50-fpn", 100) == [32, 64, 128, 256, 512]
    assert sizes("mobilenet_v3-320-fpn", 100) == 3 * [32, 64, 128, 256, 512]
    assert sizes("resnet18-fpn", 800) == [32, 64, 128, 256, 512]
    assert sizes("resnet18-fpn", 100) == [4, 8, 16, 32, 64]
    assert sizes("mobilenet_v2-fpn", 320) == [32, 64, 128, 256]
    assert sizes("mobilenet_v2-fpn", 80) == [8, 16, 32, 64]


def test_the_smallest_anchors_of_the_smallest_input_have_an_area():
    smallest = FasterRCNNOptions(backbone="resnet18-fpn", short_side=64)
    modules = build_modules("resnet18-fpn", 4, frozen=0, short_side=smallest.input_sides[0])

    for cell in modules.anchors.cell_anchors:
        assert (cell[:, 2:] > cell[:, :2]).all()


def test_anchors_of_a_pyramid_keep_their_precision_beside_low_precision_features():
    features = [torch.zeros(1, 256, 1, 240, dtype=torch.bfloat16)]

    anchors = Anchors([(32,)])(ImageList(torch.zeros(1, 3, 4, 960), [(4, 960)]), features)[0]

    assert anchors.dtype == torch.float32
    assert anchors[-2].tolist() == [940, -16, 972, 16]


def test_a_region_is_pooled_from_the_level_of_its_size():
    """Each level says its number. 65 pixels, padded to 96, would make torchvision guess strides of half the size."""
    levels = {str(level): torch.full((1, 1, 24 >> level, 24 >> level), float(level)) for level in range(4)}
    features = levels | {"pool": torch.full((1, 1, 2, 2), 9.0)}
    boxes = torch.tensor([[0.0, 0, 20, 20], [0, 0, 112, 112], [0, 0, 224, 224], [0, 0, 448, 448]])

    pooled = RoIAlign([4, 8, 16, 32], 7)(features, [boxes], [(65, 65)])

    assert pooled.shape == (4, 1, 7, 7)
    assert pooled[:, 0, 0, 0].tolist() == [0, 1, 2, 3]


def test_a_pooled_region_lies_where_it_is_in_the_picture():
    """Features that say their own column, of stride 4: a region's columns are a quarter of its pixels."""
    columns = torch.arange(24.0).expand(1, 1, 24, 24).contiguous()
    features = {"0": columns, "1": columns[..., ::2, ::2]}

    pooled = RoIAlign([4, 8], 7)(features, [torch.tensor([[16.0, 16, 44, 44]])], [(65, 65)])

    torch.testing.assert_close(pooled[0, 0, 0], torch.arange(4.5, 11, 1.0))


def test_distillation_compares_every_level(a_pyramid, frames):
    images, _ = frames
    student, teacher = a_pyramid("resnet18-fpn"), a_pyramid("resnet18-fpn").clone()
    with torch.no_grad():
        teacher.model.backbone.fpn.layer_blocks[3][0].weight.mul_(-1)

    apart = student.distillation(images, teacher, classes=[0, 1, 2], temperature=1.0)

    assert isinstance(student, TwoStage)
    assert (apart["distil_features"] > 0).all()
    assert all(value.isfinite().all() for value in apart.values())
