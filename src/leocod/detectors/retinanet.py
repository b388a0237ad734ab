"""RetinaNet, a detector of one stage: no proposals, no regions. Efficient-CLS wraps it as it wraps any other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import nn
from torchvision.models.detection import RetinaNet
from torchvision.models.detection.backbone_utils import mobilenet_backbone, resnet_fpn_backbone
from torchvision.ops.feature_pyramid_network import LastLevelP6P7

from leocod.networks.backbones import PYRAMID, BackboneOptions
from leocod.networks.normalisation import fold, settle
from leocod.networks.one_stage import OneStage
from leocod.weights import known_classes, start


class RetinaNetOptions(BackboneOptions):
    """Options of RetinaNet."""

    backbone: Literal["resnet50-fpn", "resnet18-fpn", "mobilenet_v2-fpn"] = "resnet50-fpn"
    """What looks at the frame. With `resnet50-fpn` it is torchvision's RetinaNet, name by name."""
    candidates: int = Field(1000, ge=1)
    """Best scores in each level of the features that may become detections."""
    detections: int = Field(300, ge=1)
    """Detections in a frame, at most."""


class RetinaNetDetector(OneStage):
    """RetinaNet (Lin et al., ICCV 2017) with frozen normalisation."""

    Options: ClassVar[type[RetinaNetOptions]] = RetinaNetOptions

    def __init__(self, classes: Sequence[str], options: RetinaNetOptions | None = None, *, seed: int = 0) -> None:
        self.options = options or RetinaNetOptions()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = retinanet_model(len(classes), self.options)
            if self.options.weights is None:
                settle(model)
        if self.options.weights is not None:
            start(model, classes, self.options.weights, architecture=f"retinanet-{self.options.backbone}")
        fold(model)
        super().__init__(model, classes, learning_rate=self.options.learning_rate, seed=seed)

    @staticmethod
    def known_classes(options: RetinaNetOptions) -> tuple[str, ...]:
        """The classes of the weights that it starts from."""
        return known_classes(options.weights, architecture=f"retinanet-{options.backbone}")


def retinanet_model(classes: int, options: RetinaNetOptions) -> RetinaNet:
    """The network. Its anchors are torchvision's, from 32 pixels of the input on: they belong to the strides of the
    pyramid, 8 to 128, and not to the size of the input."""
    short_side, long_side = options.input_sides
    model = RetinaNet(
        _pyramid(options),
        # Torch makes no layer without outputs: an empty class list has the rows of one class, and they are cut away.
        max(classes, 1),
        min_size=short_side,
        max_size=long_side,
        topk_candidates=options.candidates,
        detections_per_img=options.detections,
    )
    if not classes:
        head = model.head.classification_head
        head.num_classes = head.cls_logits.out_channels = 0
        for parameter in head.cls_logits.parameters():
            parameter.data = parameter.data[:0].clone()
    return model


def _pyramid(options: RetinaNetOptions) -> nn.Module:
    """Features of strides 8, 16 and 32, and two coarser levels made of the last."""
    learnt = options.own.stages - options.stages_frozen
    coarser = LastLevelP6P7(PYRAMID, PYRAMID)
    pyramid: nn.Module
    match options.backbone:
        case "resnet50-fpn" | "resnet18-fpn":
            pyramid = resnet_fpn_backbone(
                backbone_name=options.backbone.removesuffix("-fpn"),
                weights=None,
                trainable_layers=learnt,
                returned_layers=[2, 3, 4],
                extra_blocks=coarser,
            )
        case "mobilenet_v2-fpn":
            pyramid = mobilenet_backbone(
                backbone_name="mobilenet_v2",
                weights=None,
                fpn=True,
                trainable_layers=learnt,
                returned_layers=[2, 3, 5],
                extra_blocks=coarser,
            )
    return pyramid
