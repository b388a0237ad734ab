"""Faster R-CNN as the paper uses it, on one of five backbones: from Detectron2's R50-C4 to what runs on a phone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field, ValidationInfo, field_validator
from torchvision.models.detection import FasterRCNN

from leocod.networks.backbones import (
    NARROWABLE,
    PYRAMID_CHANNELS,
    BackboneName,
    BackboneOptions,
    Counts,
    build_modules,
)
from leocod.networks.base import BackboneLayout, fork_rng
from leocod.networks.normalisation import estimate_variances, fold
from leocod.networks.two_stage import TwoStage
from leocod.weights import load_weights, read_classes


class FasterRCNNOptions(BackboneOptions):
    """Options of Faster R-CNN."""

    backbone: BackboneName = "resnet50-c4"
    """The network that computes features: `resnet50-c4`, the paper's, as in Detectron2, or one of torchvision's."""
    regions: int = Field(512, ge=8)
    """Regions of a frame that are trained on."""
    proposals: int | None = Field(None, ge=8)
    """Proposals that the regions are drawn from. Null: the backbone's default, 2000. The number of candidates before
    non-maximum suppression stays in the backbone's proportion to it."""
    proposals_at_test: int | None = Field(None, ge=8)
    """Proposals of a frame when predicting. Null: the backbone's default, 1000, or 150 for mobilenet_v3-320."""
    pyramid_channels: int | None = Field(None, ge=16, le=1024)
    """Channels of the feature pyramid; the region head narrows along with it. Null: 256. A quarter of that makes a step
    three times as fast on a CPU. Only `resnet18-fpn` and `mobilenet_v2-fpn` have the choice."""
    stride_in_1x1: bool = True
    """Which convolution of a block of resnet50-c4 halves the size: the first, for Detectron2's weights (true), or the
    second, for torchvision's (false)."""

    @field_validator("pyramid_channels")
    @classmethod
    def _check_channels(cls, channels: int | None, info: ValidationInfo) -> int | None:
        name = info.data.get("backbone")
        if name and name not in NARROWABLE and channels is not None:
            raise ValueError(f"Input should be left out: only {' and '.join(NARROWABLE)} have the choice")
        return channels

    @field_validator("stride_in_1x1")
    @classmethod
    def _check_stride(cls, stride_in_1x1: bool, info: ValidationInfo) -> bool:
        name = info.data.get("backbone")
        if name and name != "resnet50-c4" and not stride_in_1x1:
            raise ValueError("Input should be left out: only resnet50-c4 has the choice")
        return stride_in_1x1


class FasterRCNNDetector(TwoStage):
    """Faster R-CNN (Ren et al., NeurIPS 2015) with frozen normalisation."""

    Options: ClassVar[type[FasterRCNNOptions]] = FasterRCNNOptions

    def __init__(self, classes: Sequence[str], options: FasterRCNNOptions | None = None, *, seed: int = 0) -> None:
        self.options = options or FasterRCNNOptions()
        with fork_rng(seed):
            model = build_faster_rcnn(len(classes), self.options)
            if self.options.weights is None:
                estimate_variances(model)
        super().__init__(model, classes, learning_rate=self.options.learning_rate, seed=seed)
        defaults = self.options.defaults
        self.box_beta, self.frames_at_once = defaults.box_beta, defaults.frames_at_once
        if self.options.backbone == "resnet50-c4":
            self.smallest_box = defaults.min_size
        self.backbone_layout = describe_layout(self.options)
        if self.options.weights is not None:
            load_weights(self, self.options.weights)
        fold(model)

    @staticmethod
    def known_classes(options: FasterRCNNOptions) -> tuple[str, ...]:
        """The classes of the weights that it starts from."""
        return read_classes(options.weights)


def describe_layout(options: FasterRCNNOptions) -> BackboneLayout:
    """Where the network has the stages of a classifier: `resnet50-c4` has the last one in its region head."""
    is_c4 = options.backbone == "resnet50-c4"
    return BackboneLayout(
        options.backbone,
        {"": "backbone.body."} | ({"layer4.": "roi_heads.box_head.layer4."} if is_c4 else {}),
        options.defaults.image_mean,
        options.defaults.image_std,
        options.stride_in_1x1 if is_c4 else None,
    )


def build_faster_rcnn(classes: int, options: FasterRCNNOptions) -> FasterRCNN:
    """Build the network: it has an output for the background, then one for each class."""
    defaults = options.defaults
    short_side, long_side = options.input_sides
    proposals = Counts(options.proposals or defaults.proposals[0], options.proposals_at_test or defaults.proposals[1])
    candidates = [math.ceil(defaults.candidates[mode] * proposals[mode] / defaults.proposals[mode]) for mode in (0, 1)]
    modules = build_modules(
        options.backbone,
        classes + 1,
        frozen=options.frozen_stages,
        short_side=short_side,
        stride_in_1x1=options.stride_in_1x1,
        channels=options.pyramid_channels or PYRAMID_CHANNELS,
    )
    model = FasterRCNN(
        modules.backbone,
        min_size=short_side,
        max_size=long_side,
        image_mean=defaults.image_mean,
        image_std=defaults.image_std,
        rpn_anchor_generator=modules.anchors,
        rpn_pre_nms_top_n_train=candidates[0],
        rpn_pre_nms_top_n_test=candidates[1],
        rpn_post_nms_top_n_train=proposals.learning,
        rpn_post_nms_top_n_test=proposals.testing,
        rpn_score_thresh=defaults.min_score,
        box_head=modules.head,
        box_predictor=modules.predictor,
        box_batch_size_per_image=options.regions,
        size_divisible=defaults.size_divisible,
    )
    model.rpn.min_size = defaults.min_size
    model.roi_heads.box_roi_pool = modules.pool
    return model
