from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image as PillowImage
from torchvision.ops import batched_nms, boxes

from leocod.detectors.retinanet import RetinaNetDetector, RetinaNetOptions
from leocod.detectors.tiny import Tiny
from leocod.errors import InvalidRun
from leocod.export.comparison import compare_detections
from leocod.export.graph import Graph, nms_in_onnx, nms_in_torchscript, use_nms
from leocod.networks.base import ReportingLimits
from leocod.types import Detections, Image


def graph_finds(graph: Graph, image: Image) -> Detections:
    with torch.inference_mode():
        corners, scores, classes = (one.numpy() for one in graph(torch.tensor(image)))
    return Detections(corners, classes, scores)


def some_boxes(count: int, classes: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Ten at a time close together and of one class, in a large picture."""
    random = torch.Generator().manual_seed(seed)
    heaps = count // 10
    centres = torch.rand(heaps, 2, generator=random).mul(1300).repeat(10, 1)
    centres = centres + 8 * torch.randn(10 * heaps, 2, generator=random)
    sides = 30 + 60 * torch.rand(10 * heaps, 2, generator=random)
    corners = torch.cat([centres - sides / 2, centres + sides / 2], dim=1).clamp(min=0)
    names = torch.randint(0, classes, (heaps,), generator=random).repeat(10)
    return corners, torch.rand(10 * heaps, generator=random), names


@pytest.mark.parametrize("size", [(96, 128), (54, 41), (200, 40), (133, 60), (480, 640)], ids=str)
def test_it_finds_what_the_detector_finds_in_pictures_of_any_size(
    size: tuple[int, int], trained: Tiny, frames: list[Image]
) -> None:
    graph = Graph(trained)
    pictures = [np.asarray(PillowImage.fromarray(frame).resize((size[1], size[0]))) for frame in frames[:4]]

    compared = compare_detections(
        [trained.predict([picture])[0] for picture in pictures],
        [graph_finds(graph, picture) for picture in pictures],
        ReportingLimits(),
    )

    assert compared.is_close
    assert compared.detections > 4


def test_a_retinanet_keeps_no_box_without_area(frames: list[Image]) -> None:
    options = RetinaNetOptions(backbone="mobilenet_v2-fpn", short_side=64, detections=40)
    detector = RetinaNetDetector(("mug", "book"), options)
    with torch.no_grad():
        torch.nn.init.normal_(detector.model.head.regression_head.bbox_reg.weight, std=0.5)
        torch.nn.init.normal_(detector.model.head.classification_head.cls_logits.weight, std=0.5)
        torch.nn.init.constant_(detector.model.head.classification_head.cls_logits.bias, 0.0)
    graph = Graph(detector)
    plain = detector.model.eval()([torch.tensor(frames[0]).permute(2, 0, 1) / 255.0])[0]["boxes"]

    found = graph_finds(graph, frames[0])

    assert 0 < len(found) < len(plain)
    assert compare_detections(detector.predict([frames[0]]), [found], ReportingLimits()).is_close


def test_it_is_a_copy(trained: Tiny) -> None:
    graph: Any = Graph(trained)

    with torch.no_grad():
        graph.model.backbone.stem[0].weight.zero_()

    assert trained.model.backbone.stem[0].weight.abs().sum() > 0
    assert trained.model.training
    assert type(trained.model.transform).__name__ == "GeneralizedRCNNTransform"


def test_only_torchvision_models_become_a_graph() -> None:
    detector: Any = SimpleNamespace(model=torch.nn.Linear(1, 1))

    with pytest.raises(InvalidRun, match="SimpleNamespace is not built around a torchvision.*--format safetensors"):
        Graph(detector)


@pytest.mark.parametrize("count", [0, 10, 900, 1000, 1010, 3000])
def test_suppression_keeps_the_same_boxes_in_the_same_order(count: int) -> None:
    one = some_boxes(count, classes=368)

    expected = batched_nms(*one, 0.5).tolist()

    assert nms_in_onnx(*one, 0.5).tolist() == expected
    with pytest.warns(Warning, match="deprecated"):
        scripted = nms_in_torchscript()
    assert scripted(*one, 0.5).tolist() == expected


def test_suppression_is_the_usual_one_again_afterwards() -> None:
    usual = boxes.batched_nms

    with pytest.raises(ZeroDivisionError), use_nms(nms_in_onnx):
        assert boxes.batched_nms is nms_in_onnx
        _ = 1 / 0

    assert boxes.batched_nms is usual
