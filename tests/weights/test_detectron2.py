"""A pickle of Detectron2's R50-C4 in, and our network computes what Detectron2 computes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from leocod.detectors.faster_rcnn import FasterRCNNDetector, FasterRCNNOptions
from leocod.detectors.tiny import Tiny, TinyOptions
from leocod.errors import InvalidData
from leocod.weights import load_weights, read_classes
from leocod.weights.detectron2 import BESIDE, CELL_ANCHORS, PIXEL_MEAN, PIXEL_STD, convert_detectron2, translate
from leocod.weights.fitting import copy_into
from leocod.weights.names import COCO, VOC

CLASSES = ("mug", "Motorcycle", "dining table", "dog")
"""Two that VOC spells differently, one that it does not know, one as it is."""
OPTIONS = FasterRCNNOptions(short_side=96, proposals=16, proposals_at_test=16)

Arrays = Mapping[str, np.ndarray]


@pytest.fixture(scope="module")
def arrays(detectron2: ModuleType) -> Arrays:
    """All arrays of the real file, of their real shapes, by chance."""
    made = detectron2.random_detectron2_arrays(len(VOC), seed=0)
    return {
        **made,
        CELL_ANCHORS: detectron2.anchors(1, 1).numpy(),
        PIXEL_MEAN: np.array(detectron2.PIXEL_MEAN, np.float32).reshape(3, 1, 1),
        PIXEL_STD: np.ones((3, 1, 1), np.float32),
    }


@pytest.fixture(scope="module")
def file(arrays: Arrays, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("detectron2") / "model_final.pkl"
    with path.open("wb") as out:
        pickle.dump({"model": dict(arrays), "__author__": "Detectron2 Model Zoo"}, out)
    return path


@pytest.fixture(scope="module")
def made() -> FasterRCNNDetector:
    return FasterRCNNDetector(CLASSES, OPTIONS)


@pytest.fixture(scope="module")
def fresh(made: FasterRCNNDetector) -> nn.Module:
    """The class layer before it is filled."""
    return copy.deepcopy(made.model.roi_heads.box_predictor)


@pytest.fixture(scope="module")
def detector(made: FasterRCNNDetector, fresh: nn.Module, file: Path) -> FasterRCNNDetector:
    load_weights(made, str(file))
    return made


@pytest.fixture(scope="module")
def image() -> np.ndarray:
    spots = np.random.default_rng(1).integers(0, 256, (10, 13, 3), dtype=np.uint8)
    return spots.repeat(10, axis=0).repeat(10, axis=1)[:96, :128]


def few(**more: np.ndarray) -> dict[str, np.ndarray]:
    """Enough to be known as a file of Detectron2 with VOC's classes."""
    rows = np.zeros((21, 2), np.float32)
    return {"proposal_generator.x": np.zeros(1), "roi_heads.box_predictor.cls_score.weight": rows, **more}


def with_layout(detector: FasterRCNNDetector, **changes: Any) -> FasterRCNNDetector:
    """The detector as if its network were another one."""
    twin = copy.copy(detector)
    assert detector.backbone_layout is not None
    twin.backbone_layout = replace(detector.backbone_layout, **changes)
    return twin


def written(path: Path, content: Arrays, protocol: int = 4) -> str:
    file = path / "weights.pkl"
    file.write_bytes(pickle.dumps(dict(content), protocol))
    return str(file)


@pytest.mark.slow
def test_backbone_proposals_and_regions_are_detectron2s(
    detectron2: ModuleType, arrays: Arrays, detector: FasterRCNNDetector, image: np.ndarray
) -> None:
    kept = [VOC.index("motorbike"), VOC.index("diningtable"), VOC.index("dog")]
    model = detector.model.eval()
    with torch.inference_mode():
        batch, sizes, _ = detector.prepare([image])
        features = detector.features(batch.tensors)
        scored = detector.rpn_outputs(batch, features)
        proposals, real = detector.propose(scored, sizes)
        logits, deltas = detector.region_outputs(features, [proposals[0][real[0]]], sizes)
    model.train()

    seen = detectron2.features(arrays, image[..., ::-1].copy())
    torch.testing.assert_close(features["0"], seen, atol=1e-4, rtol=1e-4)
    objectness, moves = detectron2.scored_anchors(arrays, seen)
    torch.testing.assert_close(scored.scores[0], objectness, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(scored.deltas[0], moves, atol=1e-4, rtol=1e-4)
    regions = detectron2.proposals(arrays, seen, sizes[0], before=96, after=16)
    torch.testing.assert_close(proposals[0][real[0]], regions, atol=1e-2, rtol=1e-4)
    their_logits, their_deltas = detectron2.region_outputs(arrays, seen, regions)
    torch.testing.assert_close(logits[:, [0, 2, 3, 4]], their_logits[:, [20, *kept]], atol=1e-3, rtol=1e-3)
    own, theirs = deltas.unflatten(1, (5, 4))[:, 2:], their_deltas.unflatten(1, (20, 4))[:, kept]
    torch.testing.assert_close(own, theirs, atol=1e-3, rtol=1e-3)


def test_rows_of_voc_classes_come_along_and_new_classes_keep_theirs(
    arrays: Arrays, detector: FasterRCNNDetector, fresh: nn.Module
) -> None:
    motorbike, table, dog = VOC.index("motorbike"), VOC.index("diningtable"), VOC.index("dog")

    own = detector.model.roi_heads.box_predictor

    scores = arrays["roi_heads.box_predictor.cls_score.weight"]
    np.testing.assert_array_equal(own.cls_score.weight[[0, 2, 3, 4]].detach(), scores[[20, motorbike, table, dog]])
    assert torch.equal(own.cls_score.weight[1], fresh.cls_score.weight[1])
    boxes = arrays["roi_heads.box_predictor.bbox_pred.weight"]
    np.testing.assert_array_equal(own.bbox_pred.weight[8:12].detach(), boxes[4 * motorbike : 4 * motorbike + 4])
    assert torch.equal(own.bbox_pred.weight[4:8], fresh.bbox_pred.weight[4:8])
    assert not own.bbox_pred.weight[:4].any()


def test_the_stem_takes_red_first(arrays: Arrays, detector: FasterRCNNDetector) -> None:
    stem = detector.model.backbone.body.conv1.weight

    np.testing.assert_array_equal(stem[:, 0], arrays["backbone.stem.conv1.weight"][:, 2])


def test_every_tensor_of_the_network_has_a_name_in_detectron2(arrays: Arrays, made: FasterRCNNDetector) -> None:
    renamed = {translate(name) for name in arrays} - set(BESIDE)

    assert renamed == set(made.model.state_dict())


def test_a_pickle_of_protocol_2_and_without_what_lies_beside_the_weights_is_read(
    tmp_path: Path, arrays: Arrays, detector: FasterRCNNDetector
) -> None:
    bare = {name: np.zeros_like(value) for name, value in arrays.items() if name not in BESIDE}
    bare["backbone.stem.conv1.weight"] = arrays["backbone.stem.conv1.weight"]
    fresh = detector.clone()
    fresh.model.backbone.body.conv1.weight.detach().zero_()

    load_weights(fresh, written(tmp_path, bare, protocol=2))

    stem = torch.tensor(arrays["backbone.stem.conv1.weight"])
    assert torch.equal(fresh.model.backbone.body.conv1.weight, stem.flip(1))
    assert not fresh.model.rpn.head.cls_logits.weight.any()


def test_a_state_dict_that_detectron2_saved_by_torch_is_read(
    tmp_path: Path, arrays: Arrays, detector: FasterRCNNDetector
) -> None:
    tensors = {name: torch.zeros(1).expand(value.shape) for name, value in arrays.items() if name not in BESIDE}
    tensors["backbone.stem.conv1.norm.bias"] = torch.arange(64.0)
    torch.save({"model": tensors, "iteration": 3}, tmp_path / "model_final.pth")
    fresh = detector.clone()

    load_weights(fresh, str(tmp_path / "model_final.pth"))

    assert torch.equal(fresh.model.backbone.body.bn1.bias, torch.arange(64.0))
    assert not fresh.model.roi_heads.box_predictor.cls_score.weight[2].any()


def test_its_classes_are_known_by_their_number(tmp_path: Path) -> None:
    rows = np.zeros((81, 2), np.float32)
    of_coco = few(**{"roi_heads.box_predictor.cls_score.weight": rows})

    assert read_classes(written(tmp_path, few())) == VOC
    assert read_classes(written(tmp_path, of_coco)) == COCO


def test_classes_of_another_number_must_be_named(tmp_path: Path) -> None:
    rows = np.zeros((3, 2), np.float32)
    file = written(tmp_path, few(**{"roi_heads.box_predictor.cls_score.weight": rows}))

    assert read_classes(file, names=["mug", "cup"]) == ("mug", "cup")
    with pytest.raises(InvalidData, match=r"weights\.pkl does not name its 2 classes.*names="):
        read_classes(file)


def test_a_file_without_a_class_layer_is_told(tmp_path: Path) -> None:
    file = written(tmp_path, {"backbone.res2.0.conv1.weight": np.zeros(1, np.float32)})

    with pytest.raises(InvalidData, match=r"no roi_heads\.box_predictor\.cls_score\.weight"):
        read_classes(file)


def test_a_missing_an_unknown_and_a_misshapen_array_are_named(arrays: Arrays, detector: FasterRCNNDetector) -> None:
    tensors = {name: torch.zeros(1).expand(value.shape) for name, value in arrays.items()}
    tensors["backbone.res2.1.conv1.weight"] = torch.zeros(64, 64, 3, 3)
    tensors["mask_head.deconv.weight"] = torch.zeros(1)
    del tensors["proposal_generator.rpn_head.conv.bias"]

    with pytest.raises(
        InvalidData,
        match=r"missing: rpn\.head\.conv\.0\.0\.bias; unknown: mask_head\.deconv\.weight; of another shape: "
        r"backbone\.body\.layer1\.1\.conv1\.weight \(64 x 64 x 3 x 3, should be 64 x 256 x 1 x 1\)",
    ):
        copy_into(detector, convert_detectron2("the file", tensors, None))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (PIXEL_MEAN, np.array([123.675, 116.28, 103.53], np.float32)),
        (PIXEL_STD, np.array([57.375, 57.12, 58.395], np.float32)),
        (CELL_ANCHORS, np.zeros((15, 4), np.float32)),
        (CELL_ANCHORS, np.zeros((3, 4), np.float32)),
    ],
)
def test_weights_for_other_pixels_or_anchors_are_refused(
    tmp_path: Path, detector: FasterRCNNDetector, name: str, value: np.ndarray
) -> None:
    with pytest.raises(InvalidData, match=rf"weights\.pkl was trained with {name}"):
        load_weights(detector, written(tmp_path, few(**{name: value})))


def test_its_stride_is_in_the_1x1_convolution(tmp_path: Path, detector: FasterRCNNDetector) -> None:
    with pytest.raises(InvalidData, match=r"Set `detector\.stride_in_1x1=true`"):
        load_weights(with_layout(detector, stride_in_1x1=False), written(tmp_path, few()))


def test_a_detector_without_a_torchvision_backbone_is_told_what_it_is_for(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match=r"which Tiny is not\. Set"):
        load_weights(Tiny(CLASSES, TinyOptions(weights=None)), written(tmp_path, few()))


def test_it_fits_no_other_architecture(tmp_path: Path, detector: FasterRCNNDetector) -> None:
    with pytest.raises(InvalidData, match=r"which resnet50-fpn is not\. Set"):
        load_weights(with_layout(detector, architecture="resnet50-fpn"), written(tmp_path, few()))


def test_a_number_in_place_of_the_class_layer_is_told(tmp_path: Path) -> None:
    scores = "roi_heads.box_predictor.cls_score.weight"

    with pytest.raises(InvalidData, match=r"weights\.pkl does not name its 0 classes"):
        read_classes(written(tmp_path, few(**{scores: np.float32(1)})))
