"""A torchvision RetinaNet as a detector.

The backbone and the head are torchvision's modules and the state dict is torchvision's. There are no proposals and no
regions: the head scores every anchor, each class by itself, and nothing is drawn by chance. As in the two-stage
networks, all frames share one pass and every loss is kept apart by frame.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional
from torchvision.models.detection import RetinaNet
from torchvision.models.detection.image_list import ImageList
from torchvision.ops import remove_small_boxes, sigmoid_focal_loss

from leocod.networks.base import ClassLayer, ReportingLimits
from leocod.networks.distillation import divergence, has_logits, squared_distance, stored_logits_loss
from leocod.networks.targets import (
    IGNORED,
    PaddedBoxes,
    TrainingTargets,
    apply_weights,
    ignore_unsure,
    mark_taught_classes,
    match,
    padded_iou,
    pick,
    select_rows,
    sum_by_frame,
)
from leocod.networks.torchvision_detector import TorchvisionDetector
from leocod.types import Detections, Images, Labels

PRIOR = 0.01
"""The probability of a class at an anchor before anything is learnt, as in torchvision: most anchors show nothing."""


class AnchorOutputs(NamedTuple):
    """What the head computes for every anchor of every frame."""

    logits: Tensor
    """Frames x anchors x classes; each class is a yes or no, so there is no background."""
    deltas: Tensor
    """Frames x anchors x 4."""
    anchors: Tensor
    """Anchors x 4; the same in every frame."""
    counts: list[int]
    """Anchors in each level of the features."""


def _select_logits(outputs: AnchorOutputs, places: PaddedBoxes) -> list[Tensor]:
    """For each box of each frame, the logits of the anchor that overlaps it most; the background is 0."""
    nearest = padded_iou(places, outputs.anchors).argmax(dim=2)
    return select_rows(functional.pad(pick(outputs.logits, nearest), (1, 0)), places.real)


class OneStage(TorchvisionDetector):
    """A torchvision RetinaNet (the first version, with the L1 box loss) as a detector."""

    model: RetinaNet

    # -- learning

    def loss(self, images: Images, labels: Sequence[Labels], seeds: Sequence[int] | None = None) -> dict[str, Tensor]:
        """`anchor_class` and `anchor_box` of each frame. Nothing is drawn by chance, so the seeds are not used."""
        self.model.train()
        batch, _, scales = self.prepare(images)
        with self.autocast():
            outputs = self.anchor_outputs(batch, self.features(batch.tensors))
        targets = TrainingTargets.of(labels, scales, seeds=())
        losses = self._losses(outputs, targets, mark_taught_classes(labels, len(self.classes), self.device))
        # There are no proposals to weigh: pseudo labels, whose weight of proposals is 0, count with both losses.
        weighted = {
            "anchor_class": apply_weights(losses["anchor_class"], [own.weights.classes for own in labels]),
            "anchor_box": apply_weights(losses["anchor_box"], [own.weights.boxes for own in labels]),
        }
        if any(has_logits(own) for own in labels):
            stored = stored_logits_loss(_select_logits(outputs, targets.truth), labels)
            weighted["logits"] = apply_weights(stored, [own.weights.logits for own in labels])
        return weighted

    def class_logits(self, images: Images, boxes: Sequence[NDArray[np.float32]]) -> list[Tensor]:
        """For each box, the logits of the anchor that overlaps it most, the first of equals; the background is 0."""
        if not any(len(own) for own in boxes):
            return [torch.zeros(0, len(self.classes) + 1, device=self.device) for _ in boxes]
        self.model.train()
        batch, _, scales = self.prepare(images)
        with self.autocast():
            outputs = self.anchor_outputs(batch, self.features(batch.tensors))
        places = PaddedBoxes.of([Labels(own, np.zeros(len(own), np.int64)) for own in boxes], scales)
        return _select_logits(outputs, places)

    def distillation(
        self, images: Images, teacher: Self, *, classes: Sequence[int], temperature: float
    ) -> dict[str, Tensor]:
        """Squared differences of features and of box deltas; divergences of the class probabilities, softened and times
        temperature^2, added up over the classes that the teacher knows. Each is a mean over all anchors of the frame.
        """
        self.model.train()
        batch, _, _ = self.prepare(images)
        with self.autocast():
            with torch.no_grad():
                teacher_features = teacher.features(batch.tensors)
                teacher_outputs = teacher.anchor_outputs(batch, teacher_features)
            features = self.features(batch.tensors)
            outputs = self.anchor_outputs(batch, features)
        known = torch.tensor(list(classes), dtype=torch.int64, device=outputs.logits.device)
        soft, teacher_soft = (logits[..., known] / temperature for logits in (outputs.logits, teacher_outputs.logits))
        return {
            "distil_features": torch.stack(
                [squared_distance(features[name], teacher_features[name]) for name in features]
            ).mean(0),
            "distil_classes": divergence(soft, teacher_soft).sum(dim=2).mean(dim=1) * temperature**2,
            "distil_boxes": squared_distance(outputs.deltas, teacher_outputs.deltas),
        }

    # -- the head

    def anchor_outputs(self, batch: ImageList, features: dict[str, Tensor]) -> AnchorOutputs:
        """What the head computes for every anchor, in float32."""
        head = self.model.head
        levels = list(features.values())
        deltas = head.regression_head(levels).float()
        # A class list may begin empty, but a convolution cannot be without outputs.
        logits = head.classification_head(levels).float() if self.classes else deltas[..., :0].detach()
        # Anchors have the numbers of the levels they are made for, and half precision cannot tell pixel 1000 from 1001.
        anchors = self.model.anchor_generator(batch, [level[:0].float() for level in levels])[0]
        each = head.classification_head.num_anchors
        return AnchorOutputs(logits, deltas, anchors, [each * level.shape[-2] * level.shape[-1] for level in levels])

    def _losses(self, outputs: AnchorOutputs, targets: TrainingTargets, taught: Tensor | None) -> dict[str, Tensor]:
        truth, anchors = targets.truth, outputs.anchors
        matcher, coder = self.model.proposal_matcher, self.model.head.regression_head.box_coder
        matched, verdict = match(
            truth, anchors, above=matcher.high_threshold, below=matcher.low_threshold, best_too=True
        )
        verdict = ignore_unsure(verdict, targets.unsure, anchors)
        positive = verdict > 0
        frame, anchor = torch.where(positive)
        box = matched[positive]
        wanted = torch.zeros_like(outputs.logits)
        wanted[frame, anchor, truth.classes[frame, box] - 1] = 1.0
        by_class = sigmoid_focal_loss(outputs.logits, wanted)
        # There is no output for the background.
        class_loss = (by_class if taught is None else by_class * taught[:, None, 1:]).sum(dim=2)
        weight = torch.where(positive, 1.0, targets.background[:, None]) * (verdict != IGNORED)
        goals = coder.encode_single(truth.boxes[frame, box], anchors[anchor])
        distance = (outputs.deltas[positive] - goals).abs().sum(dim=1)
        objects = positive.sum(dim=1).clamp(min=1)
        return {
            "anchor_class": (class_loss * weight).sum(dim=1) / objects,
            "anchor_box": sum_by_frame(distance, frame, frames=len(positive)) / objects,
        }

    # -- predicting

    def detect(self, images: Images) -> list[Detections]:
        batch, sizes, scales = self.prepare(images)
        logits, deltas, anchors, counts = self.anchor_outputs(batch, self.features(batch.tensors))
        by_level = {"cls_logits": logits.split(counts, dim=1), "bbox_regression": deltas.split(counts, dim=1)}
        detections = []
        for found, scale in zip(
            self.model.postprocess_detections(by_level, [anchors.split(counts)] * len(sizes), sizes),
            scales,
            strict=True,
        ):
            large = remove_small_boxes(found["boxes"], self.smallest_box)
            boxes, classes, scores = (found[part][large] for part in ("boxes", "labels", "scores"))
            original = boxes / scale.repeat(2)
            detections.append(Detections(original.cpu().numpy(), classes.cpu().numpy(), scores.cpu().numpy()))
        return detections

    def reporting_limits(self) -> ReportingLimits:
        return ReportingLimits(self.model.score_thresh, self.model.detections_per_img)

    # -- classes

    def extend_classes(self, names: Sequence[str]) -> dict[str, Tensor]:
        moved = super().extend_classes(names)
        self.model.head.classification_head.num_classes = len(self.classes)
        return moved

    def class_layers(self) -> Sequence[ClassLayer]:
        anchors = self.model.head.classification_head.num_anchors
        bias = -math.log((1 - PRIOR) / PRIOR)
        return (ClassLayer("head.classification_head.cls_logits", groups=anchors, spread=0.01, bias=bias),)
