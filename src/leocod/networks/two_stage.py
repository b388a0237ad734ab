"""A torchvision Faster R-CNN behind the detector's two verbs.

The backbone, the proposal head and the box head are torchvision's modules and the state dict is torchvision's. What
happens between them is done here for all frames at once, and every loss is kept apart by frame, so that labelled,
replayed and pseudo-labelled frames share one forward and one backward pass and still count as their labels say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.image_list import ImageList
from torchvision.models.detection.rpn import concat_box_prediction_layers
from torchvision.ops import batched_nms, nms

from leocod.networks.distillation import distillation_losses, has_logits, stored_logits_loss
from leocod.networks.network import ClassLayer, Network
from leocod.networks.targets import (
    BACKGROUND,
    IGNORED,
    TrainingTargets,
    apply_weights,
    by_class,
    ignore_unsure,
    match,
    pick,
    rows,
    sample,
    sum_by_frame,
)
from leocod.types import Detections, Images, Labels, LossWeights


class RpnOutputs(NamedTuple):
    """What the proposal head says of every anchor of every frame."""

    scores: Tensor
    """Frames x anchors."""
    deltas: Tensor
    """Frames x anchors x 4."""
    anchors: Tensor
    """Anchors x 4; the same in every frame."""
    counts: list[int]
    """Anchors in each level of the features."""


WEIGHT_OF: dict[str, Callable[[LossWeights], float]] = {
    "proposal_class": attrgetter("proposals"),
    "proposal_box": attrgetter("proposals"),
    "region_class": attrgetter("classes"),
    "region_box": attrgetter("boxes"),
    "logits": attrgetter("logits"),
}
"""Which of a label's weights each loss has."""


class TwoStage(Network):
    """Any torchvision Faster R-CNN as a detector."""

    model: FasterRCNN
    box_beta = 1 / 9
    """Where the loss of a box turns from square to linear; torchvision's. 0, as in Detectron2: linear everywhere."""

    # -- the two verbs

    def loss(self, images: Images, labels: Sequence[Labels], seeds: Sequence[int] | None = None) -> dict[str, Tensor]:
        self.model.train()
        batch, sizes, scales = self.prepare(images)
        targets = TrainingTargets.of(labels, scales, range(len(images)) if seeds is None else seeds)
        with self.autocast():
            features = self.features(batch.tensors)
            rpn_outputs, losses = self._proposed(
                batch, features, targets, [one.weights.proposals > 0 for one in labels]
            )
            proposals, real = self.propose(rpn_outputs, sizes)
            losses |= self._region_losses(features, proposals, real, targets, labels, sizes)
        return {
            name: apply_weights(value, [WEIGHT_OF[name](one.weights) for one in labels])
            for name, value in losses.items()
        }

    def class_logits(self, images: Images, boxes: Sequence[NDArray[np.float32]]) -> list[Tensor]:
        counts = [len(own) for own in boxes]
        if not any(counts):
            return [torch.zeros(0, len(self.classes) + 1, device=self.device) for _ in boxes]
        self.model.train()
        batch, sizes, scales = self.prepare(images)
        places = [torch.tensor(own).to(scale) * scale.repeat(2) for own, scale in zip(boxes, scales, strict=True)]
        with self.autocast():
            logits = self.logits(self.region_features(self.features(batch.tensors), places, sizes))
        return list(logits.split(counts))

    def distillation(
        self, images: Images, teacher: Self, *, classes: Sequence[int], temperature: float
    ) -> dict[str, Tensor]:
        self.model.train()
        with self.autocast():
            return distillation_losses(self, teacher, images, classes=classes, temperature=temperature)

    # -- the parts

    def _proposed(
        self, batch: ImageList, features: dict[str, Tensor], targets: TrainingTargets, learn: list[bool]
    ) -> tuple[RpnOutputs, dict[str, Tensor]]:
        """What the proposal head says of all frames, and its losses: 0 for frames that it is not to learn from.

        Of these no gradient is wanted. The head is asked about them apart, so that it need not be worked out.
        """
        if all(learn) or not any(learn):
            with torch.set_grad_enabled(torch.is_grad_enabled() and any(learn)):
                outputs = self.rpn_outputs(batch, features)
                return outputs, self._proposal_losses(outputs, targets)
        taught = torch.tensor(learn, device=self.device)
        own = self.rpn_outputs(batch, {name: level[taught] for name, level in features.items()})
        with torch.no_grad():
            others = self.rpn_outputs(batch, {name: level[~taught] for name, level in features.items()})
            order = torch.cat([*torch.where(taught), *torch.where(~taught)]).argsort()
            scores, deltas = (
                torch.cat([getattr(one, part) for one in (own, others)])[order] for part in RpnOutputs._fields[:2]
            )
        losses = self._proposal_losses(own, targets.only(taught))
        zeros = torch.zeros(len(learn), device=self.device)
        sum_by_frame = {name: zeros.masked_scatter(taught, value) for name, value in losses.items()}
        return RpnOutputs(scores, deltas, own.anchors, own.counts), sum_by_frame

    def rpn_outputs(self, batch: ImageList, features: dict[str, Tensor]) -> RpnOutputs:
        """Where the proposal head sees something."""
        rpn = self.model.rpn
        levels = list(features.values())
        scores_by_level, deltas_by_level = rpn.head(levels)
        counts = [score[0].numel() for score in scores_by_level]
        anchors = rpn.anchor_generator(batch, levels)[0]
        frames = len(levels[0])
        scores, deltas = concat_box_prediction_layers(scores_by_level, deltas_by_level)
        return RpnOutputs(scores.float().reshape(frames, -1), deltas.float().reshape(frames, -1, 4), anchors, counts)

    @torch.no_grad()
    def propose(self, outputs: RpnOutputs, sizes: list[tuple[int, int]]) -> tuple[Tensor, Tensor]:
        """Regions worth a look, frames x most x 4, and which of them are real."""
        scores, deltas, anchors, counts = outputs
        rpn = self.model.rpn
        top, level, first = [], [], 0
        for number, part in enumerate(scores.split(counts, dim=1)):
            positions = part.topk(min(rpn.pre_nms_top_n(), part.shape[1]), dim=1).indices
            top.append(positions + first)
            level.append(torch.full_like(positions, number))
            first += part.shape[1]
        chosen, levels = torch.cat(top, dim=1), torch.cat(level, dim=1)
        # Chances near 1 tie where logits do not.
        logits = pick(scores, chosen)
        coder = rpn.box_coder
        boxes = coder.decode_single(pick(deltas, chosen).reshape(-1, 4), anchors[chosen].reshape(-1, 4))
        boxes = inside(boxes.reshape(len(scores), -1, 4), _corners(sizes, boxes)[:, None])
        usable = ((boxes[..., 2:] - boxes[..., :2]) >= rpn.min_size).all(dim=2)
        usable &= logits.sigmoid() >= rpn.score_thresh
        most = rpn.post_nms_top_n()
        kept = []
        for frame, all_usable in enumerate(usable.all(dim=1).tolist()):
            own, logit, level_of = boxes[frame], logits[frame], levels[frame]
            if not all_usable:
                own, logit, level_of = (one[usable[frame]] for one in (own, logit, level_of))
            if len(counts) == 1:
                best = nms(own, logit, rpn.nms_thresh)
            else:
                best = batched_nms(own, logit, level_of, rpn.nms_thresh)
            kept.append(own[best[:most]])
        proposals = functional.pad(pad_sequence(kept, batch_first=True), (0, 0, 0, most))[:, :most]
        return proposals, torch.arange(most, device=boxes.device) < _lengths(kept, boxes.device)

    def _proposal_losses(self, outputs: RpnOutputs, targets: TrainingTargets) -> dict[str, Tensor]:
        scores, deltas, anchors, _ = outputs
        truth = targets.truth
        rpn = self.model.rpn
        matcher, sampler = rpn.proposal_matcher, rpn.fg_bg_sampler
        matched, verdict = match(
            truth, anchors, above=matcher.high_threshold, below=matcher.low_threshold, best_too=True
        )
        verdict = ignore_unsure(verdict, targets.unsure, anchors)
        chance = targets.random_scores(0, verdict)
        positions, drawn = sample(
            verdict, chance, count=sampler.batch_size_per_image, positives=sampler.positive_fraction
        )
        wanted = pick(verdict, positions)
        wrong = functional.binary_cross_entropy_with_logits(
            pick(scores, positions), (wanted > 0).float(), reduction="none"
        )
        wrong = torch.where(wanted > 0, wrong, wrong * targets.background[:, None])
        positive = drawn & (wanted > 0)
        places = anchors[positions]
        goal = torch.where(positive[..., None], pick(truth.boxes, pick(matched, positions)), places)
        off = self._off(rpn.box_coder, pick(deltas, positions), goal, places)
        each = _drawn_in_frame(drawn)
        return {
            "proposal_class": (wrong * drawn).sum(dim=1) / each,
            "proposal_box": (off * positive).sum(dim=1) / each,
        }

    def _region_losses(
        self,
        features: dict[str, Tensor],
        proposals: Tensor,
        real: Tensor,
        targets: TrainingTargets,
        labels: Sequence[Labels],
        sizes: list[tuple[int, int]],
    ) -> dict[str, Tensor]:
        truth = targets.truth
        heads = self.model.roi_heads
        sampler = heads.fg_bg_sampler
        regions, real = torch.cat([proposals, truth.boxes], dim=1), torch.cat([real, truth.real], dim=1)
        matcher = heads.proposal_matcher
        matched, verdict = match(
            truth, regions, above=matcher.high_threshold, below=matcher.low_threshold, best_too=False
        )
        verdict = torch.where(real, ignore_unsure(verdict, targets.unsure, regions), IGNORED)
        chance = targets.random_scores(1, verdict)
        positions, drawn = sample(
            verdict, chance, count=sampler.batch_size_per_image, positives=sampler.positive_fraction
        )
        is_object = pick(verdict, positions) > 0
        number = pick(matched, positions)
        wanted = torch.where(is_object, pick(truth.classes, number), BACKGROUND)
        places = pick(regions, positions)
        # What is held to stored logits is looked at with the rest: one pass for both.
        boxes = [
            own if has_logits(one) else own[:0] for own, one in zip(rows(truth.boxes, truth.real), labels, strict=True)
        ]
        both = [part for pair in zip(rows(places, drawn), boxes, strict=True) for part in pair]
        regions_and_boxes = [torch.cat(both[at : at + 2]) for at in range(0, len(both), 2)]
        all_features = self.region_features(features, regions_and_boxes, sizes)
        parts = all_features.split([len(part) for part in both])
        region_features = torch.cat(parts[::2]) if any(map(len, boxes)) else all_features
        logits = self.logits(region_features)
        frame = torch.arange(len(drawn), device=drawn.device)[:, None].expand_as(drawn)[drawn]
        wanted, places, goal = wanted[drawn], places[drawn], pick(truth.boxes, number)[drawn]
        wrong = functional.cross_entropy(logits, wanted, reduction="none")
        positive = wanted > BACKGROUND
        wrong = torch.where(positive, wrong, wrong * targets.background[frame])
        # Where a box should be is asked of objects only, and of the class that each is of.
        object_ = torch.where(positive)[0]
        own = self.deltas(region_features[object_], wanted[object_])
        off = self._off(heads.box_coder, own, goal[object_], places[object_])
        each = _drawn_in_frame(drawn)
        losses = {
            "region_class": sum_by_frame(wrong, frame, frames=len(drawn)) / each,
            "region_box": sum_by_frame(off, frame[object_], frames=len(drawn)) / each,
        }
        if any(map(len, boxes)):
            losses["logits"] = stored_logits_loss([self.logits(own) for own in parts[1::2]], labels)
        return losses

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

    def logits(self, region_features: Tensor) -> Tensor:
        """Class logits of regions, background first."""
        logits: Tensor = self.model.roi_heads.box_predictor.cls_score(region_features)
        return logits.float()

    def deltas(self, region_features: Tensor, classes: Tensor) -> Tensor:
        """Box deltas of regions, each for one class: the background is 0, and so the first class 1.

        Of a thousand classes, working out the boxes for all would cost more than all the rest.
        """
        layer = self.model.roi_heads.box_predictor.bbox_pred
        weight = layer.weight.unflatten(0, (-1, 4)).index_select(0, classes)
        bias = layer.bias.unflatten(0, (-1, 4)).index_select(0, classes)
        moved: Tensor = torch.bmm(weight, region_features[:, :, None])[:, :, 0] + bias
        return moved.float()

    def _class_layers(self) -> Sequence[ClassLayer]:
        predictor, name = self.model.roi_heads.box_predictor, "roi_heads.box_predictor"
        return (
            ClassLayer(f"{name}.cls_score", predictor.cls_score, each=1, background=1),
            ClassLayer(f"{name}.bbox_pred", predictor.bbox_pred, each=4, background=4, spread=0.001),
        )

    def _off(self, coder: Any, deltas: Tensor, goal: Tensor, places: Tensor) -> Tensor:
        """How far predicted deltas are from the ones that would move each place onto its goal."""
        target = coder.encode_single(goal.reshape(-1, 4), places.reshape(-1, 4)).reshape(places.shape)
        # A place without area has no target; it is never a positive.
        target = torch.nan_to_num(target, nan=0.0, posinf=0.0, neginf=0.0)
        return functional.smooth_l1_loss(deltas, target, beta=self.box_beta, reduction="none").sum(dim=-1)

    def _detect(self, images: Images) -> list[Detections]:
        batch, sizes, scales = self.prepare(images)
        features = self.features(batch.tensors)
        proposals, real = self.propose(self.rpn_outputs(batch, features), sizes)
        regions = rows(proposals, real)
        heads = self.model.roi_heads
        region_features = self.region_features(features, regions, sizes)
        chances = self.logits(region_features).softmax(dim=-1)[:, 1:]
        region, name = torch.where(chances > heads.score_thresh)
        # One by one, each takes weights of its own; all classes together, most is for nothing. Whichever is less.
        if len(region) * region_features.shape[1] < len(region_features) * len(self.classes):
            deltas = self.deltas(region_features[region], name + 1)
        else:
            deltas = by_class(heads.box_predictor.bbox_pred(region_features).float())[region, name + 1]
        frame = torch.where(real)[0][region]
        corners = heads.box_coder.decode_single(deltas, torch.cat(regions)[region])
        corners = inside(corners, _corners(sizes, corners)[frame])
        large = ((corners[:, 2:] - corners[:, :2]) >= self.smallest_box).all(dim=1)
        corners, name, score, frame = corners[large], name[large], chances[region, name][large], frame[large]
        per_frame = torch.bincount(frame, minlength=len(images)).tolist()
        found = []
        for own, names, chance, scale in zip(
            *(one.split(per_frame) for one in (corners, name, score)), scales, strict=True
        ):
            keep = batched_nms(own, chance, names, heads.nms_thresh)[: heads.detections_per_img]
            original = own[keep] / scale.repeat(2)
            found.append(Detections(original.cpu().numpy(), names[keep].cpu().numpy(), chance[keep].cpu().numpy()))
        return found


def inside(boxes: Tensor, corners: Tensor) -> Tensor:
    """Boxes clipped to pictures from 0 to these corners."""
    return torch.minimum(boxes.clamp(min=0), corners)


def _corners(sizes: Sequence[tuple[int, int]], like: Tensor) -> Tensor:
    """The lower right corner of each picture, twice, as boxes have two: frames x 4."""
    return like.new_tensor([[width, height, width, height] for height, width in sizes])


def _lengths(values: Sequence[Tensor], device: torch.device) -> Tensor:
    """One to a row."""
    return torch.tensor([len(one) for one in values], device=device)[:, None]


def _drawn_in_frame(drawn: Tensor) -> Tensor:
    """How many were drawn in each frame. A frame's losses are means over its own, so that they do not depend on the
    frames that happen to come with it: a batch may be learnt in parts, or divided among processes."""
    return drawn.sum(dim=1).clamp(min=1)
