"""A torchvision Faster R-CNN as a detector.

The backbone, the proposal head and the box head are torchvision's modules and the state dict is torchvision's. What
happens between them is done here for all frames at once, and every loss is kept apart by frame, so that labelled,
replayed and pseudo-labelled frames share one forward and one backward pass and still count as their labels say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.image_list import ImageList

from leocod.networks.base import ClassLayer, ReportingLimits
from leocod.networks.distillation import distillation_losses, has_logits, stored_logits_loss
from leocod.networks.proposals import RpnOutputs, proposal_losses, score_anchors, select_proposals
from leocod.networks.regions import classify, detect_objects, draw_regions, region_losses
from leocod.networks.targets import TrainingTargets, apply_weights, mark_taught_classes, select_rows
from leocod.networks.torchvision_detector import TorchvisionDetector
from leocod.types import Detections, Images, Labels, LossWeights

WEIGHT_OF: dict[str, Callable[[LossWeights], float]] = {
    "proposal_class": attrgetter("proposals"),
    "proposal_box": attrgetter("proposals"),
    "region_class": attrgetter("classes"),
    "region_box": attrgetter("boxes"),
    "logits": attrgetter("logits"),
}
"""Which of a label's weights each loss has."""
REGION_HEAD = "roi_heads.box_head."
PREDICTOR = "roi_heads.box_predictor"


class TwoStage(TorchvisionDetector):
    """Any torchvision Faster R-CNN as a detector."""

    model: FasterRCNN
    box_beta = 1 / 9
    """Where the loss of a box turns from square to linear; torchvision's. 0, as in Detectron2: linear everywhere."""

    # -- learning

    def loss(self, images: Images, labels: Sequence[Labels], seeds: Sequence[int] | None = None) -> dict[str, Tensor]:
        self.model.train()
        batch, sizes, scales = self.prepare(images)
        targets = TrainingTargets.of(labels, scales, range(len(images)) if seeds is None else seeds)
        with self.autocast():
            features = self.features(batch.tensors)
            outputs, losses = self.learn_proposals(
                batch, features, targets, [own.weights.proposals > 0 for own in labels]
            )
            proposals, real = self.propose(outputs, sizes)
            losses |= self._region_losses(features, proposals, real, targets, labels, sizes)
        return {
            name: apply_weights(value, [WEIGHT_OF[name](own.weights) for own in labels])
            for name, value in losses.items()
        }

    def learn_proposals(
        self, batch: ImageList, features: dict[str, Tensor], targets: TrainingTargets, learn: list[bool]
    ) -> tuple[RpnOutputs, dict[str, Tensor]]:
        """The outputs of the proposal head for all frames, and its losses: 0 for frames that it does not learn from.

        The head computes the latter apart and without gradients, which saves the work for them.
        """
        if all(learn) or not any(learn):
            with torch.set_grad_enabled(torch.is_grad_enabled() and any(learn)):
                outputs = self.rpn_outputs(batch, features)
                return outputs, self._proposal_losses(outputs, targets)
        learnt = torch.tensor(learn, device=self.device)
        outputs = self.rpn_outputs(batch, {name: level[learnt] for name, level in features.items()})
        with torch.no_grad():
            others = self.rpn_outputs(batch, {name: level[~learnt] for name, level in features.items()})
            order = torch.cat([*torch.where(learnt), *torch.where(~learnt)]).argsort()
            scores = torch.cat([outputs.scores, others.scores])[order]
            deltas = torch.cat([outputs.deltas, others.deltas])[order]
        zeros = torch.zeros(len(learn), device=self.device)
        losses = {
            name: zeros.masked_scatter(learnt, value)
            for name, value in self._proposal_losses(outputs, targets.only(learnt)).items()
        }
        return RpnOutputs(scores, deltas, outputs.anchors, outputs.counts), losses

    def _proposal_losses(self, outputs: RpnOutputs, targets: TrainingTargets) -> dict[str, Tensor]:
        return proposal_losses(self.model.rpn, outputs, targets, beta=self.box_beta)

    def _region_losses(
        self,
        features: dict[str, Tensor],
        proposals: Tensor,
        real: Tensor,
        targets: TrainingTargets,
        labels: Sequence[Labels],
        sizes: list[tuple[int, int]],
    ) -> dict[str, Tensor]:
        heads, truth = self.model.roi_heads, targets.truth
        samples = draw_regions(heads, proposals, real, targets)
        drawn = select_rows(samples.places, samples.drawn)
        # Boxes with stored logits are looked at together with the drawn regions: one pass for both.
        stored = [
            boxes if has_logits(own) else boxes[:0]
            for boxes, own in zip(select_rows(truth.boxes, truth.real), labels, strict=True)
        ]
        places = [torch.cat(pair) for pair in zip(drawn, stored, strict=True)]
        all_features = self.region_features(features, places, sizes)
        taught = mark_taught_classes(labels, len(self.classes), self.device)
        if not any(map(len, stored)):
            return region_losses(heads, all_features, samples, targets.background, beta=self.box_beta, taught=taught)
        parts = all_features.split([len(part) for pair in zip(drawn, stored, strict=True) for part in pair])
        losses = region_losses(
            heads, torch.cat(parts[::2]), samples, targets.background, beta=self.box_beta, taught=taught
        )
        return losses | {"logits": stored_logits_loss([classify(heads, part) for part in parts[1::2]], labels)}

    def class_logits(self, images: Images, boxes: Sequence[NDArray[np.float32]]) -> list[Tensor]:
        counts = [len(own) for own in boxes]
        if not any(counts):
            return [torch.zeros(0, len(self.classes) + 1, device=self.device) for _ in boxes]
        self.model.train()
        batch, sizes, scales = self.prepare(images)
        places = [torch.tensor(own).to(scale) * scale.repeat(2) for own, scale in zip(boxes, scales, strict=True)]
        with self.autocast():
            logits = classify(self.model.roi_heads, self.region_features(self.features(batch.tensors), places, sizes))
        return list(logits.split(counts))

    def distillation(
        self, images: Images, teacher: Self, *, classes: Sequence[int], temperature: float
    ) -> dict[str, Tensor]:
        self.model.train()
        with self.autocast():
            return distillation_losses(self, teacher, images, classes=classes, temperature=temperature)

    # -- the two stages

    def rpn_outputs(self, batch: ImageList, features: dict[str, Tensor]) -> RpnOutputs:
        """What the proposal head computes for every anchor."""
        return score_anchors(self.model.rpn, batch, features)

    def propose(self, outputs: RpnOutputs, sizes: list[tuple[int, int]]) -> tuple[Tensor, Tensor]:
        """The best regions of each frame, frames x most x 4, and which of them are real and not padding."""
        return select_proposals(self.model.rpn, outputs, sizes)

    def region_features(
        self, features: dict[str, Tensor], regions: list[Tensor], sizes: list[tuple[int, int]]
    ) -> Tensor:
        """Output of the box head for the regions of all frames, in one long list."""
        heads = self.model.roi_heads
        pooled: Tensor = heads.box_head(heads.box_roi_pool(features, regions, sizes))
        return pooled

    def region_outputs(
        self, features: dict[str, Tensor], regions: list[Tensor], sizes: list[tuple[int, int]]
    ) -> tuple[Tensor, Tensor]:
        """Class logits of each frame's regions, in one long list, and box deltas for every class."""
        logits, deltas = self.model.roi_heads.box_predictor(self.region_features(features, regions, sizes))
        return logits.float(), deltas.float()

    # -- predicting

    def detect(self, images: Images) -> list[Detections]:
        batch, sizes, scales = self.prepare(images)
        features = self.features(batch.tensors)
        regions = select_rows(*self.propose(self.rpn_outputs(batch, features), sizes))
        region_features = self.region_features(features, regions, sizes)
        detections = detect_objects(
            self.model.roi_heads, region_features, regions, sizes, smallest_box=self.smallest_box
        )
        return [
            Detections((own.boxes / scale.repeat(2)).cpu().numpy(), own.classes.cpu().numpy(), own.scores.cpu().numpy())
            for own, scale in zip(detections, scales, strict=True)
        ]

    def reporting_limits(self) -> ReportingLimits:
        return ReportingLimits(self.model.roi_heads.score_thresh, self.model.roi_heads.detections_per_img)

    # -- what others ask about the network

    def class_layers(self) -> Sequence[ClassLayer]:
        return (
            ClassLayer(f"{PREDICTOR}.cls_score", each=1, background=1),
            ClassLayer(f"{PREDICTOR}.bbox_pred", each=4, background=4, spread=0.001),
        )

    def region_head_parameters(self) -> dict[str, nn.Parameter]:
        return {name: value for name, value in self.named_parameters() if name.startswith(REGION_HEAD)}
