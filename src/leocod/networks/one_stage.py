"""A torchvision RetinaNet behind the detector's two verbs.

The backbone and the head are torchvision's modules and the state dict is torchvision's. There are no proposals and no
regions: the head judges every anchor, each class by itself, and nothing is drawn by chance. As in the two-stage
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

from leocod.networks.distillation import divergence, has_logits, squared_distance, stored_logits_loss
from leocod.networks.network import ClassLayer, Network
from leocod.networks.targets import (
    IGNORED,
    PaddedBoxes,
    TrainingTargets,
    apply_weights,
    ignore_unsure,
    match,
    overlaps,
    pick,
    rows,
    sum_by_frame,
)
from leocod.types import Detections, Images, Labels

PRIOR = 0.01
"""The chance of a class at an anchor before anything is learnt, as in torchvision: most anchors show nothing."""


class AnchorOutputs(NamedTuple):
    """What the head says of every anchor of every frame."""

    logits: Tensor
    """Frames x anchors x classes; a yes or no for each class, and so no background."""
    deltas: Tensor
    """Frames x anchors x 4."""
    anchors: Tensor
    """Anchors x 4; the same in every frame."""
    counts: list[int]
    """Anchors in each level of the features."""


def _logits_at(judged: AnchorOutputs, places: PaddedBoxes) -> list[Tensor]:
    """Of each frame's boxes: what is said of the anchor that overlaps it most; the background is 0."""
    nearest = overlaps(places, judged.anchors).argmax(dim=2)
    return rows(functional.pad(pick(judged.logits, nearest), (1, 0)), places.real)


class OneStage(Network):
    """A torchvision RetinaNet (the first version, with the L1 box loss) as a detector."""

    model: RetinaNet

    # -- the two verbs

    def loss(self, images: Images, labels: Sequence[Labels], seeds: Sequence[int] | None = None) -> dict[str, Tensor]:
        """`anchor_class` and `anchor_box` of each frame. The seeds are for detectors that draw lots."""
        self.model.train()
        batch, _, scales = self.prepare(images)
        with self.autocast():
            judged = self.anchor_outputs(batch, self.features(batch.tensors))
        targets = TrainingTargets.of(labels, scales, seeds=())
        losses = self._losses(judged, targets)
        # The weight of proposals has nothing to weigh: pseudo labels, for which it is 0, count with both losses.
        weighed = {
            "anchor_class": apply_weights(losses["anchor_class"], [one.weights.classes for one in labels]),
            "anchor_box": apply_weights(losses["anchor_box"], [one.weights.boxes for one in labels]),
        }
        if any(has_logits(one) for one in labels):
            stored = stored_logits_loss(_logits_at(judged, targets.truth), labels)
            weighed["logits"] = apply_weights(stored, [one.weights.logits for one in labels])
        return weighed

    def class_logits(self, images: Images, boxes: Sequence[NDArray[np.float32]]) -> list[Tensor]:
        """Of each box: what is said of the anchor that overlaps it most, the first of equals; the background is 0."""
        if not any(len(own) for own in boxes):
            return [torch.zeros(0, len(self.classes) + 1, device=self.device) for _ in boxes]
        self.model.train()
        batch, _, scales = self.prepare(images)
        with self.autocast():
            judged = self.anchor_outputs(batch, self.features(batch.tensors))
        places = PaddedBoxes.of([Labels(own, np.zeros(len(own), np.int64)) for own in boxes], scales)
        return _logits_at(judged, places)

    def distillation(
        self, images: Images, teacher: Self, *, classes: Sequence[int], temperature: float
    ) -> dict[str, Tensor]:
        """Squared differences of features and of box deltas; divergences of the class chances, these softened and times
        temperature^2: added up over the classes that the teacher knows. Each is a mean over all anchors of the frame.
        """
        self.model.train()
        batch, _, _ = self.prepare(images)
        with self.autocast():
            with torch.no_grad():
                their_features = teacher.features(batch.tensors)
                theirs = teacher.anchor_outputs(batch, their_features)
            features = self.features(batch.tensors)
            own = self.anchor_outputs(batch, features)
        known = torch.tensor(list(classes), dtype=torch.int64, device=own.logits.device)
        soft, their_soft = (one.logits[..., known] / temperature for one in (own, theirs))
        return {
            "distil_features": torch.stack(
                [squared_distance(features[name], their_features[name]) for name in features]
            ).mean(0),
            "distil_classes": divergence(soft, their_soft).sum(dim=2).mean(dim=1) * temperature**2,
            "distil_boxes": squared_distance(own.deltas, theirs.deltas),
        }

    # -- the parts

    def anchor_outputs(self, batch: ImageList, features: dict[str, Tensor]) -> AnchorOutputs:
        """What the head says of every anchor, in float32."""
        head = self.model.head
        levels = list(features.values())
        deltas = head.regression_head(levels).float()
        # A class list may begin empty, but a convolution cannot be without outputs.
        logits = head.classification_head(levels).float() if self.classes else deltas[..., :0].detach()
        # Anchors have the numbers of the levels they are made for, and half precision cannot tell pixel 1000 from 1001.
        anchors = self.model.anchor_generator(batch, [level[:0].float() for level in levels])[0]
        each = head.classification_head.num_anchors
        return AnchorOutputs(logits, deltas, anchors, [each * level.shape[-2] * level.shape[-1] for level in levels])

    def _losses(self, judged: AnchorOutputs, targets: TrainingTargets) -> dict[str, Tensor]:
        truth, anchors = targets.truth, judged.anchors
        matcher, coder = self.model.proposal_matcher, self.model.head.regression_head.box_coder
        matched, verdict = match(
            truth, anchors, above=matcher.high_threshold, below=matcher.low_threshold, best_too=True
        )
        verdict = ignore_unsure(verdict, targets.unsure, anchors)
        positive = verdict > 0
        frame, anchor = torch.where(positive)
        box = matched[positive]
        wanted = torch.zeros_like(judged.logits)
        wanted[frame, anchor, truth.classes[frame, box] - 1] = 1.0
        wrong = sigmoid_focal_loss(judged.logits, wanted).sum(dim=2)
        counting = torch.where(positive, 1.0, targets.background[:, None]) * (verdict != IGNORED)
        goal = coder.encode_single(truth.boxes[frame, box], anchors[anchor])
        off = (judged.deltas[positive] - goal).abs().sum(dim=1)
        objects = positive.sum(dim=1).clamp(min=1)
        return {
            "anchor_class": (wrong * counting).sum(dim=1) / objects,
            "anchor_box": sum_by_frame(off, frame, frames=len(positive)) / objects,
        }

    def _detect(self, images: Images) -> list[Detections]:
        batch, sizes, scales = self.prepare(images)
        logits, deltas, anchors, counts = self.anchor_outputs(batch, self.features(batch.tensors))
        by_level = {"cls_logits": logits.split(counts, dim=1), "bbox_regression": deltas.split(counts, dim=1)}
        found = []
        for one, scale in zip(
            self.model.postprocess_detections(by_level, [anchors.split(counts)] * len(sizes), sizes),
            scales,
            strict=True,
        ):
            large = remove_small_boxes(one["boxes"], self.smallest_box)
            boxes, classes, scores = (one[part][large] for part in ("boxes", "labels", "scores"))
            original = boxes / scale.repeat(2)
            found.append(Detections(original.cpu().numpy(), classes.cpu().numpy(), scores.cpu().numpy()))
        return found

    # -- classes that appear later

    def extend_classes(self, names: Sequence[str]) -> dict[str, Tensor]:
        moved = super().extend_classes(names)
        self.model.head.classification_head.num_classes = len(self.classes)
        return moved

    def _class_layers(self) -> Sequence[ClassLayer]:
        head = self.model.head.classification_head
        name, bias = "head.classification_head.cls_logits", -math.log((1 - PRIOR) / PRIOR)
        return (ClassLayer(name, head.cls_logits, groups=head.num_anchors, spread=0.01, bias=bias),)
