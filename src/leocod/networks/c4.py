"""The modules of Faster R-CNN on a ResNet-50 without pyramid, which compute what Detectron2's R50-C4 computes.

The backbone ends after its third group of blocks (stride 16); the fourth group is the region head. Modules are named as
torchvision names them, so that weights are converted by name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torchvision.models import resnet50
from torchvision.models._utils import IntermediateLayerGetter
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor
from torchvision.models.detection.image_list import ImageList
from torchvision.models.detection.rpn import AnchorGenerator
from torchvision.ops import FrozenBatchNorm2d

from leocod.networks.roi_align import RoIAlign

STRIDE = 16
POOLED = 14
FEATURES = 1024
OUTPUTS = 2048
STAGES = ("conv1", "layer1", "layer2", "layer3")
"""Of the backbone, the stem first."""


def build_c4_network(*, frozen: int, stride_in_1x1: bool) -> tuple[C4Backbone, C4Head]:
    """Build a ResNet-50 in two pieces. `frozen`: how many of the backbone's stages do not learn."""
    network = resnet50(weights=None, norm_layer=FrozenBatchNorm2d)
    if stride_in_1x1:
        # Detectron2's weights halve the size one convolution earlier than torchvision's.
        for first in (network.layer2[0], network.layer3[0], network.layer4[0]):
            first.conv1.stride, first.conv2.stride = (2, 2), (1, 1)
        # The head's first convolutions would read every second bin only: no others are pooled.
        network.layer4[0].conv1.stride = network.layer4[0].downsample[0].stride = (1, 1)
    for name in STAGES[:frozen]:
        getattr(network, name).requires_grad_(False)
    return C4Backbone(network), C4Head(network.layer4)


class C4Backbone(nn.Module):
    """The stem and three groups of blocks: one feature map of stride 16."""

    out_channels = FEATURES

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.body = IntermediateLayerGetter(network, {"layer3": "0"})

    def forward(self, images: Tensor) -> Tensor:
        features: Tensor = self.body(images)["0"]
        return features


class C4Head(nn.Module):
    """The fourth group of blocks over every region, and the mean over its area."""

    def __init__(self, layer4: nn.Module) -> None:
        super().__init__()
        self.layer4 = layer4

    def forward(self, pooled: Tensor) -> Tensor:
        features: Tensor = self.layer4(pooled)
        return features.mean(dim=(2, 3))


class C4Predictor(FastRCNNPredictor):  # type: ignore[misc]  # no types there
    """Classes and boxes from the head's features; its weights start near 0, as Detectron2's do."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs)
        for layer, spread in ((self.cls_score, 0.01), (self.bbox_pred, 0.001)):
            nn.init.normal_(layer.weight, std=spread)
            nn.init.zeros_(layer.bias)


def build_c4_pool(*, stride_in_1x1: bool) -> RoIAlign:
    """RoIAlign with the half-pixel shift and as many samples as a bin has cells; only of bins that the head reads."""
    return RoIAlign([STRIDE], POOLED, samples=0, aligned=True, every=2 if stride_in_1x1 else 1)


class C4Anchors(AnchorGenerator):  # type: ignore[misc]  # no types there
    """Anchors ordered by size, then by ratio, not rounded, on a grid of the network's true stride.

    torchvision computes the stride from the sizes of picture and map, which gives 14 for a picture of 100 pixels.
    """

    def __init__(
        self, sizes: Sequence[float] = (32, 64, 128, 256, 512), ratios: Sequence[float] = (0.5, 1.0, 2.0)
    ) -> None:
        super().__init__((tuple(sizes),), (tuple(ratios),))
        corners = []
        for size in sizes:
            for ratio in ratios:
                width = math.sqrt(size**2 / ratio)
                height = ratio * width
                corners.append([-width / 2, -height / 2, width / 2, height / 2])
        self.cell_anchors = [torch.tensor(corners)]

    def forward(self, image_list: ImageList, feature_maps: list[Tensor]) -> list[Tensor]:
        (features,) = feature_maps
        # Always float32: half precision, which features may have, cannot hold positions.
        self.set_cell_anchors(torch.float32, features.device)
        stride = torch.tensor(STRIDE, device=features.device)
        anchors = self.grid_anchors([features.shape[-2:]], [[stride, stride]])[0]
        return [anchors] * len(image_list.image_sizes)
