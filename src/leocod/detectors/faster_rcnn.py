"""Faster R-CNN as the paper uses it, on one of five backbones: from Detectron2's R50-C4 to what runs on a phone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import torch
from pydantic import Field, ValidationInfo, field_validator
from torchvision.models.detection import FasterRCNN

from leocod.networks.backbones import BackboneName, BackboneOptions, Counts, parts
from leocod.networks.normalisation import fold, settle
from leocod.networks.two_stage import TwoStage
from leocod.weights import known_classes, start


class FasterRCNNOptions(BackboneOptions):
    """Options of Faster R-CNN."""

    backbone: BackboneName = "resnet50-c4"
    """What looks at the frame: `resnet50-c4`, the paper's, as Detectron2 computes it, or one of torchvision's."""
    regions: int = Field(512, ge=8)
    """Regions trained on in a frame."""
    proposals: int | None = Field(None, ge=8)
    """Regions that these are drawn from. Null: the backbone's own, 2000. Candidates before the suppression of
    overlapping ones keep the backbone's own proportion to it."""
    proposals_at_test: int | None = Field(None, ge=8)
    """Regions looked at in a frame when predicting. Null: the backbone's own, 1000, or 150 for mobilenet_v3-320."""
    stride_in_1x1: bool = True
    """Of resnet50-c4, which convolution of a block halves the size: the first for Detectron2's weights, false for
    torchvision's."""

    @field_validator("stride_in_1x1")
    @classmethod
    def _is_a_choice(cls, stride_in_1x1: bool, info: ValidationInfo) -> bool:
        name = info.data.get("backbone")
        if name and name != "resnet50-c4" and not stride_in_1x1:
            raise ValueError("Input should be left out: only resnet50-c4 has the choice")
        return stride_in_1x1


class FasterRCNNDetector(TwoStage):
    """Faster R-CNN (Ren et al., NeurIPS 2015) with frozen normalisation."""

    Options: ClassVar[type[FasterRCNNOptions]] = FasterRCNNOptions

    def __init__(self, classes: Sequence[str], options: FasterRCNNOptions | None = None, *, seed: int = 0) -> None:
        self.options = options or FasterRCNNOptions()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = faster_rcnn_model(len(classes), self.options)
            if self.options.weights is None:
                settle(model)
        if self.options.weights is not None:
            start(
                model,
                classes,
                self.options.weights,
                architecture=self.options.backbone,
                stride_in_1x1=self.options.stride_in_1x1,
            )
        fold(model)
        super().__init__(model, classes, learning_rate=self.options.learning_rate, seed=seed)
        own = self.options.own
        self.box_beta, self.frames_at_once = own.box_beta, own.frames_at_once
        if self.options.backbone == "resnet50-c4":
            self.smallest_box = own.smallest

    @staticmethod
    def known_classes(options: FasterRCNNOptions) -> tuple[str, ...]:
        """The classes of the weights that it starts from."""
        return known_classes(options.weights, architecture=options.backbone)


def faster_rcnn_model(classes: int, options: FasterRCNNOptions) -> FasterRCNN:
    """The network: one row of outputs for each class, after one for the background."""
    own = options.own
    short_side, long_side = options.input_sides
    proposals = Counts(options.proposals or own.proposals[0], options.proposals_at_test or own.proposals[1])
    candidates = [math.ceil(own.candidates[mode] * proposals[mode] / own.proposals[mode]) for mode in (0, 1)]
    made = parts(
        options.backbone,
        classes + 1,
        frozen=options.stages_frozen,
        short_side=short_side,
        stride_in_1x1=options.stride_in_1x1,
    )
    model = FasterRCNN(
        made.backbone,
        min_size=short_side,
        max_size=long_side,
        image_mean=own.image_mean,
        image_std=own.image_std,
        rpn_anchor_generator=made.anchors,
        rpn_pre_nms_top_n_train=candidates[0],
        rpn_pre_nms_top_n_test=candidates[1],
        rpn_post_nms_top_n_train=proposals.learning,
        rpn_post_nms_top_n_test=proposals.testing,
        rpn_score_thresh=own.least_score,
        box_head=made.head,
        box_predictor=made.predictor,
        box_batch_size_per_image=options.regions,
        size_divisible=own.size_divisible,
    )
    model.rpn.min_size = own.smallest
    model.roi_heads.box_roi_pool = made.pool
    return model
