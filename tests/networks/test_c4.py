"""R50-C4 computes what Detectron2 computes, from the same weights."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torchvision.models import resnet50
from torchvision.models.detection.image_list import ImageList
from torchvision.ops import FrozenBatchNorm2d, roi_align

from leocod.detectors.faster_rcnn import FasterRCNNDetector, FasterRCNNOptions
from leocod.export.comparison import ReportingLimits, compare_detections
from leocod.networks.c4 import C4Anchors, C4Head, build_c4_network, build_c4_pool
from leocod.networks.targets import select_rows
from leocod.types import Detections, Labels

CLASSES = ("mug", "book", "car")
SIZE = (100, 141)
"""Of no whole number of cells."""
BOXES = np.array([[5, 10, 70, 90], [60, 20, 130, 80]], np.float32)


@pytest.fixture(scope="module")
def arrays(detectron2):
    return detectron2.random_detectron2_arrays(len(CLASSES), seed=0)


@pytest.fixture(scope="module")
def image():
    """Spots and noise, red first."""
    spots = np.random.default_rng(1).integers(0, 200, (10, 15, 3)).repeat(10, axis=0).repeat(10, axis=1)[:100, :141]
    return (spots + np.random.default_rng(2).integers(0, 55, spots.shape)).astype(np.uint8)


@pytest.fixture(scope="module")
def picture(image):
    """The same as Detectron2 has it, blue first."""
    return image[..., ::-1].copy()


@pytest.fixture(scope="module")
def detector(arrays):
    options = FasterRCNNOptions(short_side=100, proposals=16, proposals_at_test=16)
    made = FasterRCNNDetector(CLASSES, options)
    made.model.load_state_dict(converted(arrays))
    return made


def converted(arrays):
    """Detectron2's arrays under torchvision's names: red first, background first, and box rows for it too."""
    state = {}
    for name, array in arrays.items():
        value = torch.tensor(array)
        if name == "backbone.stem.conv1.weight":
            value = value.flip(1)
        if ".cls_score." in name:
            value = torch.cat([value[-1:], value[:-1]])
        if ".bbox_pred." in name:
            value = torch.cat([torch.zeros_like(value[:4]), value])
        state[_renamed(name)] = value
    return state


def _renamed(name):
    for old, new in {
        "backbone.stem.conv1.norm": "backbone.body.bn1",
        "backbone.stem.conv1": "backbone.body.conv1",
        "backbone.res": "backbone.body.layer",
        "roi_heads.res5": "roi_heads.box_head.layer5",
        "shortcut.norm": "downsample.1",
        "shortcut": "downsample.0",
        "proposal_generator.rpn_head.conv": "rpn.head.conv.0.0",
        "proposal_generator.rpn_head.objectness_logits": "rpn.head.cls_logits",
        "proposal_generator.rpn_head.anchor_deltas": "rpn.head.bbox_pred",
    }.items():
        name = name.replace(old, new)
    for number in range(2, 6):
        name = name.replace(f"layer{number}.", f"layer{number - 1}.")
    for number in range(1, 4):
        name = name.replace(f"conv{number}.norm", f"bn{number}")
    return name


@pytest.fixture(scope="module")
def features(detectron2, arrays, picture):
    return detectron2.features(arrays, picture)


def test_the_backbone_computes_detectron2s_features(detector, image, features):
    batch, _, _ = detector.prepare([image])

    ours = detector.features(batch.tensors)["0"]

    assert ours.shape == (1, 1024, 7, 9)
    assert features.std() > 0.3
    torch.testing.assert_close(ours, features, rtol=1e-4, atol=1e-4)


def test_anchors_are_scored_and_moved_as_detectron2_does(detectron2, arrays, detector, image, features):
    batch, _, _ = detector.prepare([image])
    logits, deltas = detectron2.scored_anchors(arrays, features)

    scored = detector.rpn_outputs(batch, detector.features(batch.tensors))

    assert logits.std() > 0.3
    torch.testing.assert_close(scored.anchors, detectron2.anchors(7, 9))
    torch.testing.assert_close(scored.scores[0], logits, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(scored.deltas[0], deltas, rtol=1e-4, atol=1e-4)


def test_proposals_are_detectron2s(detectron2, arrays, detector, image, features):
    batch, sizes, _ = detector.prepare([image])
    expected = detectron2.proposals(arrays, features, SIZE, before=96, after=16)

    found, real = detector.propose(detector.rpn_outputs(batch, detector.features(batch.tensors)), sizes)

    assert len(expected) == 16
    torch.testing.assert_close(found[0][real[0]], expected, rtol=1e-4, atol=1e-2)


def test_region_outputs_are_detectron2s(detectron2, arrays, detector, image, features):
    regions = detectron2.proposals(arrays, features, SIZE, before=96, after=16)
    batch, sizes, _ = detector.prepare([image])
    expected_logits, expected_deltas = detectron2.region_outputs(arrays, features, regions)

    logits, deltas = detector.region_outputs(detector.features(batch.tensors), [regions], sizes)

    assert expected_logits.std() > 0.3
    torch.testing.assert_close(logits[:, 0], expected_logits[:, -1], rtol=1e-4, atol=1e-3)
    torch.testing.assert_close(logits[:, 1:], expected_logits[:, :-1], rtol=1e-4, atol=1e-3)
    torch.testing.assert_close(deltas[:, 4:], expected_deltas, rtol=1e-4, atol=1e-3)


def test_detections_are_detectron2s(detectron2, arrays, detector, image, picture):
    boxes, classes, scores = detectron2.detections(arrays, picture, before=96, after=16)

    (found,) = detector.predict([image])

    assert len(scores) > 5
    compared = compare_detections([Detections(boxes, classes, scores)], [found], ReportingLimits(0.05))
    assert not compared.unmatched
    assert compared.score_difference < 1e-4
    assert compared.box_difference < 1e-2


def test_losses_are_detectron2s(detectron2, arrays, detector, image, features):
    """All anchors and regions are drawn, so that no lots are."""
    everything = detector.clone()
    for sampler in (everything.model.rpn.fg_bg_sampler, everything.model.roi_heads.fg_bg_sampler):
        sampler.batch_size_per_image, sampler.positive_fraction = 10_000, 0.5
    boxes, classes = torch.tensor(BOXES), torch.tensor([2, 0])
    regions = detectron2.proposals(arrays, features, SIZE, before=96, after=16)
    proposal_class, proposal_box = detectron2.proposal_losses(arrays, features, boxes)
    region_class, region_box = detectron2.region_losses(arrays, features, regions, boxes, classes)

    losses = everything.loss([image], [Labels(BOXES, np.array([2, 0]))])

    for name, expected in {
        "proposal_class": proposal_class,
        "proposal_box": proposal_box,
        "region_class": region_class,
        "region_box": region_box,
    }.items():
        assert expected > 1e-3
        assert losses[name].item() == pytest.approx(expected.item(), rel=1e-3), name


def test_anchors_go_size_by_size_and_are_not_rounded():
    anchors = C4Anchors()(ImageList(torch.zeros(1, 3, 100, 20), [(100, 20)]), [torch.zeros(1, 1024, 7, 2)])[0]

    assert len(anchors) == 7 * 2 * 15
    width, height = 32 * 2**0.5, 32 / 2**0.5
    torch.testing.assert_close(anchors[0], torch.tensor([-width, -height, width, height]) / 2)
    torch.testing.assert_close(anchors[1], torch.tensor([-16.0, -16, 16, 16]))
    torch.testing.assert_close(anchors[4], torch.tensor([-32.0, -32, 32, 32]))
    torch.testing.assert_close(anchors[15 + 1], torch.tensor([0.0, -16, 32, 16]))
    torch.testing.assert_close(anchors[2 * 15 + 1], torch.tensor([-16.0, 0, 16, 32]))


def test_anchors_keep_their_precision_beside_low_precision_features():
    features = torch.zeros(1, 1024, 1, 60, dtype=torch.bfloat16)

    anchors = C4Anchors()(ImageList(torch.zeros(1, 3, 16, 960), [(16, 960)]), [features])[0]

    assert anchors.dtype == torch.float32
    assert anchors[59 * 15 + 1].tolist() == [928, -16, 960, 16]


def test_with_the_stride_in_the_3x3_convolution_it_is_torchvisions_resnet():
    torch.manual_seed(0)
    whole = resnet50(weights=None, norm_layer=FrozenBatchNorm2d)
    backbone, head = build_c4_network(frozen=0, stride_in_1x1=False)
    missing = backbone.body.load_state_dict(whole.state_dict(), strict=False).missing_keys
    head.layer4.load_state_dict(whole.layer4.state_dict())
    picture = torch.rand(1, 3, 64, 64)
    outputs = []
    whole.avgpool.register_forward_hook(lambda *call: outputs.append(call[-1].flatten(1)))

    with torch.no_grad():
        whole(picture)
        ours = head(backbone(picture))

    assert missing == []
    torch.testing.assert_close(ours, outputs[0])


def test_the_stride_is_one_convolution_earlier_for_detectron2s_weights():
    for in_1x1, strides in ((True, [(2, 2), (1, 1)]), (False, [(1, 1), (2, 2)])):
        backbone, _ = build_c4_network(frozen=0, stride_in_1x1=in_1x1)

        for first in (backbone.body.layer2[0], backbone.body.layer3[0]):
            assert [first.conv1.stride, first.conv2.stride] == strides
        assert backbone.body.layer1[0].conv1.stride == (1, 1)


@pytest.mark.parametrize("in_1x1", [True, False])
def test_the_head_sees_half_of_14_bins_in_either_direction(in_1x1):
    torch.manual_seed(0)
    features, boxes = {"0": torch.randn(1, 1024, 5, 5)}, [torch.tensor([[3.0, 5, 70, 60]])]
    _, head = build_c4_network(frozen=0, stride_in_1x1=in_1x1)
    whole = roi_align(features["0"], boxes, 14, 1 / 16, sampling_ratio=-1, aligned=True)
    expected = copy.deepcopy(head)
    first = expected.layer4[0]
    first.conv1.stride, first.conv2.stride = ((2, 2), (1, 1)) if in_1x1 else ((1, 1), (2, 2))
    first.downsample[0].stride = (2, 2)

    with torch.no_grad():
        outputs = head(build_c4_pool(stride_in_1x1=in_1x1)(features, boxes, [(80, 80)]))

        torch.testing.assert_close(outputs, expected(whole))


def test_a_region_of_one_value_is_pooled_to_that_value():
    features = {"0": torch.full((2, 3, 5, 5), 7.0)}

    pool = build_c4_pool(stride_in_1x1=False)

    pooled = pool(features, [torch.tensor([[16.0, 16, 40, 60]]), torch.zeros(0, 4)], [(80, 80)] * 2)

    assert pooled.shape == (1, 3, 14, 14)
    torch.testing.assert_close(pooled, torch.full_like(pooled, 7.0))


def test_a_batch_is_what_its_pictures_are_alone(detector, image):
    """Nothing is padded in a batch of one size, and regions stay with their picture."""
    other = image[:, ::-1].copy()
    batch, sizes, _ = detector.prepare([image, other])

    with torch.no_grad():
        found = select_rows(*detector.propose(detector.rpn_outputs(batch, detector.features(batch.tensors)), sizes))

    for number, one in enumerate([image, other]):
        alone, sizes, _ = detector.prepare([one])
        with torch.no_grad():
            (expected,) = select_rows(
                *detector.propose(detector.rpn_outputs(alone, detector.features(alone.tensors)), sizes)
            )
        torch.testing.assert_close(found[number], expected, rtol=1e-3, atol=1e-2)


def test_the_head_is_the_mean_over_the_area():
    head = C4Head(torch.nn.Identity())

    assert head(torch.arange(8.0).reshape(1, 2, 2, 2)).tolist() == [[1.5, 5.5]]
