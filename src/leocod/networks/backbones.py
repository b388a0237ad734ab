"""The backbones of Faster R-CNN: the default numbers of each, and the modules that it needs around it.

`resnet50-fpn` and `mobilenet_v3-320-fpn` are torchvision's published detectors, module by module and name by name;
`resnet50-c4` is Detectron2's; `resnet18-fpn` and `mobilenet_v2-fpn` are built here from torchvision's modules.
Normalisation is frozen in all of them: a few frames of one place say nothing about the statistics of the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from pydantic import Field, ValidationInfo, field_validator
from torch import nn
from torchvision.models.detection.backbone_utils import mobilenet_backbone, resnet_fpn_backbone
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor
from torchvision.models.detection.rpn import AnchorGenerator
from torchvision.ops.feature_pyramid_network import FeaturePyramidNetwork, LastLevelMaxPool

from leocod.networks.c4 import OUTPUTS, C4Anchors, C4Predictor, build_c4_network, build_c4_pool
from leocod.networks.region_head import RegionHead
from leocod.networks.roi_align import RoIAlign
from leocod.settings import Settings

BackboneName = Literal["resnet50-c4", "resnet50-fpn", "resnet18-fpn", "mobilenet_v2-fpn", "mobilenet_v3-320-fpn"]


class Counts(NamedTuple):
    """Numbers of proposals in a frame."""

    learning: int
    testing: int


USUAL_COUNTS = Counts(2000, 1000)
PYRAMID_CHANNELS = 256
POOLED = 7
"""Bins of a region, in either direction."""
REGION_FEATURES = 1024
NARROWABLE: tuple[BackboneName, ...] = ("resnet18-fpn", "mobilenet_v2-fpn")
"""Backbones without published detectors, whose weights would fit one width only."""
RATIOS = (0.5, 1.0, 2.0)


@dataclass(frozen=True)
class BackboneDefaults:
    """The numbers that the authors of a backbone gave it."""

    stages: int
    """Stages that may be frozen, with the stem."""
    frozen: int = 2
    short_side: int = 800
    long_side: int = 1333
    candidates: Counts = USUAL_COUNTS
    """Proposals before the suppression of overlapping ones, in each level of the features."""
    proposals: Counts = USUAL_COUNTS
    """Proposals after it."""
    min_score: float = 0.0
    """Proposals with a lower score are dropped."""
    min_size: float = 1e-3
    """Pixels: smaller proposals are dropped."""
    size_divisible: int = 32
    image_mean: tuple[float, ...] = (0.485, 0.456, 0.406)
    image_std: tuple[float, ...] = (0.229, 0.224, 0.225)
    box_beta: float = 1 / 9
    """Where the loss of a box turns from square to linear."""
    frames_at_once: int | None = None
    """Frames that fit through it together on an ordinary GPU; None: as many as there are."""


BACKBONES: dict[BackboneName, BackboneDefaults] = {
    "resnet50-c4": BackboneDefaults(
        stages=4,
        candidates=Counts(12000, 6000),
        min_size=torch.finfo(torch.float32).smallest_normal,
        size_divisible=1,
        image_mean=(123.675 / 255, 116.28 / 255, 103.53 / 255),
        image_std=(1 / 255, 1 / 255, 1 / 255),
        box_beta=0.0,
        frames_at_once=4,
    ),
    "resnet50-fpn": BackboneDefaults(stages=5),
    "resnet18-fpn": BackboneDefaults(stages=5),
    "mobilenet_v2-fpn": BackboneDefaults(stages=6, frozen=3, short_side=320, long_side=640),
    "mobilenet_v3-320-fpn": BackboneDefaults(
        stages=6,
        frozen=3,
        short_side=320,
        long_side=640,
        candidates=Counts(2000, 150),
        proposals=Counts(2000, 150),
        min_score=0.05,
    ),
}


class BackboneOptions(Settings):
    """Options of every detector that is built around a backbone."""

    backbone: BackboneName
    """The network that computes features."""
    weights: str | None = None
    """Where learning starts: a file, a run, or the name of torchvision's weights. Null: random weights."""
    learning_rate: float = Field(1e-4, gt=0)
    """Learning rate of Adam; the paper's."""
    short_side: int | None = Field(None, ge=64)
    """Frames are resized so that their short side is this. Null: the backbone's default, 800, or 320 for the
    mobilenets."""
    long_side: int | None = Field(None, ge=64)
    """The long side is never more than this. Null: in the backbone's proportion, 1333 to 800, or 640 to 320."""
    frozen: int | None = Field(None, ge=0)
    """Stages of the backbone that do not learn: 1 is the stem, 2 the stem and the first stage, and so on. Null: 2 as in
    the paper, or 3 for the mobilenets as in torchvision."""

    @field_validator("frozen")
    @classmethod
    def _check_frozen(cls, frozen: int | None, info: ValidationInfo) -> int | None:
        name = info.data.get("backbone")
        if name and frozen is not None and frozen > BACKBONES[name].stages:
            raise ValueError(f"Input should be at most {BACKBONES[name].stages} for {name}")
        return frozen

    @field_validator("long_side")
    @classmethod
    def _check_long_side(cls, long_side: int | None, info: ValidationInfo) -> int | None:
        name = info.data.get("backbone")
        short_side = info.data.get("short_side") or (BACKBONES[name].short_side if name else 0)
        if long_side is not None and long_side < short_side:
            raise ValueError(f"Input should be at least the short side, {short_side}")
        return long_side

    @property
    def defaults(self) -> BackboneDefaults:
        """The numbers of the backbone's authors."""
        return BACKBONES[self.backbone]

    @property
    def input_sides(self) -> tuple[int, int]:
        """The short and the long side that frames are resized to."""
        short = self.short_side or self.defaults.short_side
        return short, self.long_side or round(short * self.defaults.long_side / self.defaults.short_side)

    @property
    def frozen_stages(self) -> int:
        """How many stages do not learn."""
        return self.defaults.frozen if self.frozen is None else self.frozen


@dataclass(frozen=True)
class Modules:
    """The modules that torchvision's Faster R-CNN is made of. It makes the proposal head itself."""

    backbone: nn.Module
    anchors: AnchorGenerator
    pool: nn.Module
    head: nn.Module
    predictor: nn.Module


def build_modules(
    name: BackboneName,
    outputs: int,
    *,
    frozen: int,
    short_side: int,
    stride_in_1x1: bool = True,
    channels: int = PYRAMID_CHANNELS,
) -> Modules:
    """Build the modules around a backbone. `outputs`: classes and the background; `frozen`: stages that do not learn.

    The published detectors have the anchors that their weights were trained with, at any input size. Those of the other
    two are in proportion to the input: 1/25 to 16/25 of its short side (`resnet18-fpn`), 1/10 to 8/10
    (`mobilenet_v2-fpn`).
    """
    scale = short_side / BACKBONES[name].short_side
    learnt = BACKBONES[name].stages - frozen
    match name:
        case "resnet50-c4":
            body, head = build_c4_network(frozen=frozen, stride_in_1x1=stride_in_1x1)
            return Modules(
                body, C4Anchors(), build_c4_pool(stride_in_1x1=stride_in_1x1), head, C4Predictor(OUTPUTS, outputs)
            )
        case "resnet50-fpn":
            backbone = resnet_fpn_backbone(backbone_name="resnet50", weights=None, trainable_layers=learnt)
            sizes: list[tuple[float, ...]] = [(32,), (64,), (128,), (256,), (512,)]
            strides = [4, 8, 16, 32]
        case "resnet18-fpn":
            backbone = resnet_fpn_backbone(backbone_name="resnet18", weights=None, trainable_layers=learnt)
            sizes = [(32 * scale,), (64 * scale,), (128 * scale,), (256 * scale,), (512 * scale,)]
            strides = [4, 8, 16, 32]
        case "mobilenet_v2-fpn":
            # Three strides, where torchvision would take the last one twice: small pictures need the finer maps.
            backbone = mobilenet_backbone(
                backbone_name="mobilenet_v2", weights=None, fpn=True, trainable_layers=learnt, returned_layers=[2, 3, 5]
            )
            sizes = [(32 * scale,), (64 * scale,), (128 * scale,), (256 * scale,)]
            strides = [8, 16, 32]
        case "mobilenet_v3-320-fpn":
            backbone = mobilenet_backbone(
                backbone_name="mobilenet_v3_large", weights=None, fpn=True, trainable_layers=learnt
            )
            sizes = [(32, 64, 128, 256, 512)] * 3
            strides = [32, 32]
    if channels != PYRAMID_CHANNELS:
        narrow_pyramid(backbone, channels)
    features = REGION_FEATURES * channels // PYRAMID_CHANNELS
    pool, head = RoIAlign(strides, POOLED), RegionHead(channels * POOLED**2, features)
    return Modules(backbone, Anchors(sizes), pool, head, FastRCNNPredictor(features, outputs))


def narrow_pyramid(backbone: Any, channels: int) -> None:
    """Give a backbone a feature pyramid of another width: torchvision's functions fix it to 256."""
    inputs = [block[0].in_channels for block in backbone.fpn.inner_blocks]
    backbone.fpn = FeaturePyramidNetwork(inputs, channels, extra_blocks=LastLevelMaxPool())
    backbone.out_channels = channels


class Anchors(AnchorGenerator):  # type: ignore[misc]  # no types there
    """torchvision's anchors, always in float32: half precision, which features may have, cannot hold positions."""

    def __init__(self, sizes: Sequence[tuple[float, ...]]) -> None:
        super().__init__(tuple(sizes), (RATIOS,) * len(sizes))

    def set_cell_anchors(self, dtype: torch.dtype, device: torch.device) -> None:
        super().set_cell_anchors(torch.float32, device)
