"""RetinaNet, a detector of one stage: it has no proposals and no regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field
from torch import nn
from torchvision.models.detection import RetinaNet
from torchvision.models.detection.backbone_utils import mobilenet_backbone, resnet_fpn_backbone
from torchvision.ops.feature_pyramid_network import LastLevelP6P7

from leocod.networks.backbones import PYRAMID_CHANNELS, BackboneOptions
from leocod.networks.base import BackboneLayout, fork_rng
from leocod.networks.normalisation import estimate_variances, fold
from leocod.networks.one_stage import OneStage
from leocod.weights import load_weights, read_classes


class RetinaNetOptions(BackboneOptions):
    """Options of RetinaNet."""

    backbone: Literal["resnet50-fpn", "resnet18-fpn", "mobilenet_v2-fpn"] = "resnet50-fpn"
    """The network that computes features. With `resnet50-fpn` it is torchvision's RetinaNet, name by name."""
    candidates: int = Field(1000, ge=1)
    """The best scores in each level of the features, of which detections are made."""
    detections: int = Field(300, ge=1)
    """The most detections in a frame."""


class RetinaNetDetector(OneStage):
    """RetinaNet (Lin et al., ICCV 2017) with frozen normalisation."""

    Options: ClassVar[type[RetinaNetOptions]] = RetinaNetOptions

    def __init__(self, classes: Sequence[str], options: RetinaNetOptions | None = None, *, seed: int = 0) -> None:
        self.options = options or RetinaNetOptions()
        with fork_rng(seed):
            model = build_retinanet(len(classes), self.options)
            if self.options.weights is None:
                estimate_variances(model)
        super().__init__(model, classes, learning_rate=self.options.learning_rate, seed=seed)
        self.backbone_layout = BackboneLayout(
            f"retinanet-{self.options.backbone}",
            {"": "backbone.body."},
            model.transform.image_mean,
            model.transform.image_std,
        )
        if self.options.weights is not None:
            load_weights(self, self.options.weights)
        fold(model)

    @staticmethod
    def known_classes(options: RetinaNetOptions) -> tuple[str, ...]:
        """The classes of the weights that it starts from."""
        return read_classes(options.weights)


def build_retinanet(classes: int, options: RetinaNetOptions) -> RetinaNet:
    """Build the network. Its anchors are torchvision's, from 32 pixels of the input on: they belong to the strides of
    the pyramid, 8 to 128, and not to the size of the input."""
    short_side, long_side = options.input_sides
    model = RetinaNet(
        _build_pyramid(options),
        # Torch cannot make a layer without outputs: for an empty class list the rows of one class are made and removed.
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


def _build_pyramid(options: RetinaNetOptions) -> nn.Module:
    """Features of strides 8, 16 and 32, and two coarser levels made of the last."""
    learnt = options.defaults.stages - options.frozen_stages
    coarser = LastLevelP6P7(PYRAMID_CHANNELS, PYRAMID_CHANNELS)
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
