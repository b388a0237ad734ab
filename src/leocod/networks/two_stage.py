"""A torchvision Faster R-CNN behind the detector's two verbs.

The backbone, the proposal head and the box head are torchvision's modules and the state dict is torchvision's. What
happens between them is done here for all frames at once, and every loss is kept apart by frame, so that labelled,
replayed and pseudo-labelled frames share one forward and one backward pass and still count as their labels say.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.image_list import ImageList
from torchvision.models.detection.rpn import concat_box_prediction_layers
from torchvision.ops import batched_nms, clip_boxes_to_image

from leocod.networks.distillation import distances
from leocod.networks.targets import BACKGROUND, IGNORED, Lesson, by_class, by_frame, left_out, match, pick, rows, sample
from leocod.types import Detections, Images, Labels

SMALLEST_BOX = 1e-2
"""Pixels; smaller detections are dropped, as in torchvision."""


class Scored(NamedTuple):
    """What the proposal head says of every anchor of every frame."""

    scores: Tensor
    """Frames x anchors."""
    deltas: Tensor
    """Frames x anchors x 4."""
    anchors: Tensor
    """Anchors x 4; the same in every frame."""
    counts: list[int]
    """Anchors in each level of the features."""


class TwoStage:
    """Any torchvision Faster R-CNN as a detector."""

    def __init__(self, model: FasterRCNN, classes: Sequence[str], *, learning_rate: float, seed: int = 0) -> None:
        self.model = model.train()
        self.classes = tuple(classes)
        self.learning_rate = learning_rate
        self.random = torch.Generator().manual_seed(seed)

    # -- the two verbs

    def loss(self, images: Images, labels: Sequence[Labels]) -> dict[str, Tensor]:
        self.model.train()
        batch, sizes, scales = self.prepared(images)
        lesson = Lesson.of(labels, scales)
        features = self.features(batch.tensors)
        scored = self.scored(batch, features)
        proposals, real = self.best(scored, sizes)
        losses = self._proposal_losses(scored, lesson)
        losses |= self._region_losses(features, proposals, real, lesson, sizes)
        return {name: self._weighted(name, value, labels) for name, value in losses.items()}

    def class_logits(self, images: Images, boxes: Sequence[NDArray[np.float32]]) -> list[Tensor]:
        counts = [len(own) for own in boxes]
        if not any(counts):
            return [torch.zeros(0, len(self.classes) + 1) for _ in boxes]
        self.model.train()
        batch, sizes, scales = self.prepared(images)
        places = [torch.tensor(own).to(scale) * scale.repeat(2) for own, scale in zip(boxes, scales, strict=True)]
        logits, _ = self.looked_at(self.features(batch.tensors), places, sizes)
        return list(logits.split(counts))

    def distillation(
        self, images: Images, teacher: Self, *, classes: Sequence[int], temperature: float
    ) -> dict[str, Tensor]:
        self.model.train()
        return distances(self, teacher, images, classes=classes, temperature=temperature)

    def predict(self, images: Images) -> list[Detections]:
        if not images:
            return []
        was_training = self.model.training
        self.model.eval()
        try:
            with torch.inference_mode():
                return self._detect(images)
        finally:
            self.model.train(was_training)

    # -- state

    def parameters(self) -> Iterator[nn.Parameter]:
        return (parameter for _, parameter in self.named_parameters())

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        return ((name, value) for name, value in self.model.named_parameters() if value.requires_grad)

    def state_dict(self) -> dict[str, Any]:
        weights = {name: value.clone() for name, value in self.model.state_dict().items()}
        return {"weights": weights, "random": self.random.get_state()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.model.load_state_dict(state["weights"])
        self.random.set_state(state["random"])

    def clone(self) -> Self:
        twin = copy.copy(self)
        twin.model = copy.deepcopy(self.model)
        twin.random = torch.Generator()
        twin.random.set_state(self.random.get_state())
        return twin

    @torch.no_grad()
    def follow(self, other: Self, *, keep: float) -> None:
        """Move all floating-point state towards the other's: own x keep + other's x (1 - keep); copy the rest."""
        theirs = other.model.state_dict()
        pairs = [(own, theirs[name]) for name, own in self.model.state_dict().items()]
        moving = [pair for pair in pairs if pair[0].is_floating_point()]
        torch._foreach_lerp_([own for own, _ in moving], [their for _, their in moving], 1 - keep)
        for own, their in pairs:
            if not own.is_floating_point():
                own.copy_(their)

    def to(self, device: str) -> Self:
        """Move the network to a device."""
        self.model.to(device)
        return self

    # -- the parts

    def prepared(self, images: Images) -> tuple[ImageList, list[tuple[int, int]], Tensor]:
        """Images as one normalised batch, the input size of each, and the scale from image to input, x and y.

        Frames of one size are resized together, and stay in their place when a step mixes portrait and landscape.
        """
        transform = self.model.transform
        device = next(self.model.parameters()).device
        mean = torch.tensor(transform.image_mean, device=device)[:, None, None]
        deviation = torch.tensor(transform.image_std, device=device)[:, None, None]
        inputs: list[Tensor] = [torch.empty(0)] * len(images)
        groups: dict[tuple[int, ...], list[int]] = {}
        for number, image in enumerate(images):
            groups.setdefault(image.shape, []).append(number)
        for (height, width, _), members in groups.items():
            pixels = torch.from_numpy(np.stack([images[number] for number in members])).to(device)
            same_size = (pixels.permute(0, 3, 1, 2).float().div_(255) - mean) / deviation
            scale = min(transform.min_size[-1] / min(height, width), transform.max_size / max(height, width))
            if scale != 1:
                same_size = functional.interpolate(
                    same_size, scale_factor=scale, mode="bilinear", recompute_scale_factor=True, align_corners=False
                )
            for number, one in zip(members, same_size, strict=True):
                inputs[number] = one
        sizes = [(one.shape[-2], one.shape[-1]) for one in inputs]
        tensors = torch.stack(inputs) if self._need_no_padding(sizes) else self._padded(inputs)
        scales = [[w / image.shape[1], h / image.shape[0]] for (h, w), image in zip(sizes, images, strict=True)]
        return ImageList(tensors, sizes), sizes, torch.tensor(scales, device=device)

    def _need_no_padding(self, sizes: Sequence[tuple[int, int]]) -> bool:
        whole = self.model.transform.size_divisible
        return len(set(sizes)) == 1 and sizes[0][0] % whole == sizes[0][1] % whole == 0

    def _padded(self, inputs: Sequence[Tensor]) -> Tensor:
        batched: Tensor = self.model.transform.batch_images(list(inputs), self.model.transform.size_divisible)
        return batched

    def features(self, tensors: Tensor) -> dict[str, Tensor]:
        features = self.model.backbone(tensors)
        return {"0": features} if isinstance(features, Tensor) else features

    def scored(self, batch: ImageList, features: dict[str, Tensor]) -> Scored:
        """Where the proposal head sees something."""
        rpn = self.model.rpn
        levels = list(features.values())
        scores_by_level, deltas_by_level = rpn.head(levels)
        counts = [score[0].numel() for score in scores_by_level]
        anchors = rpn.anchor_generator(batch, levels)[0]
        frames = len(batch.image_sizes)
        scores, deltas = concat_box_prediction_layers(scores_by_level, deltas_by_level)
        return Scored(scores.reshape(frames, -1), deltas.reshape(frames, -1, 4), anchors, counts)

    @torch.no_grad()
    def best(self, scored: Scored, sizes: list[tuple[int, int]]) -> tuple[Tensor, Tensor]:
        """Regions worth a look, frames x most x 4, and which of them are real."""
        scores, deltas, anchors, counts = scored
        rpn = self.model.rpn
        top, level, first = [], [], 0
        for number, part in enumerate(scores.split(counts, dim=1)):
            positions = part.topk(min(rpn.pre_nms_top_n(), part.shape[1]), dim=1).indices
            top.append(positions + first)
            level.append(torch.full_like(positions, number))
            first += part.shape[1]
        chosen, levels = torch.cat(top, dim=1), torch.cat(level, dim=1)
        chances = pick(scores, chosen).sigmoid()
        coder = rpn.box_coder
        boxes = coder.decode_single(pick(deltas, chosen).reshape(-1, 4), anchors[chosen].reshape(-1, 4))
        boxes = boxes.reshape(len(scores), -1, 4)
        most = rpn.post_nms_top_n()
        proposals = boxes.new_zeros(len(scores), most, 4)
        real = torch.zeros(len(scores), most, dtype=torch.bool, device=boxes.device)
        for frame, size in enumerate(sizes):
            inside = clip_boxes_to_image(boxes[frame], size)
            large = ((inside[:, 2:] - inside[:, :2]) >= rpn.min_size).all(dim=1)
            inside, chance, level_of = inside[large], chances[frame][large], levels[frame][large]
            kept = inside[batched_nms(inside, chance, level_of, rpn.nms_thresh)[:most]]
            proposals[frame, : len(kept)] = kept
            real[frame, : len(kept)] = True
        return proposals, real

    def _proposal_losses(self, scored: Scored, lesson: Lesson) -> dict[str, Tensor]:
        scores, deltas, anchors, _ = scored
        truth = lesson.truth
        rpn = self.model.rpn
        matcher, sampler = rpn.proposal_matcher, rpn.fg_bg_sampler
        matched, verdict = match(
            truth, anchors, above=matcher.high_threshold, below=matcher.low_threshold, best_too=True
        )
        verdict = left_out(verdict, lesson.unsure, anchors)
        positions, drawn = sample(
            verdict, count=sampler.batch_size_per_image, positives=sampler.positive_fraction, random=self.random
        )
        wanted = pick(verdict, positions)
        wrong = functional.binary_cross_entropy_with_logits(
            pick(scores, positions), (wanted > 0).float(), reduction="none"
        )
        wrong = torch.where(wanted > 0, wrong, wrong * lesson.background[:, None])
        positive = drawn & (wanted > 0)
        places = anchors[positions]
        goal = torch.where(positive[..., None], pick(truth.boxes, pick(matched, positions)), places)
        off = self._off(rpn.box_coder, pick(deltas, positions), goal, places)
        return {
            "proposal_class": (wrong * drawn).sum(dim=1) / _drawn_a_frame(drawn),
            "proposal_box": (off * positive).sum(dim=1) / _drawn_a_frame(drawn),
        }

    def _region_losses(
        self,
        features: dict[str, Tensor],
        proposals: Tensor,
        real: Tensor,
        lesson: Lesson,
        sizes: list[tuple[int, int]],
    ) -> dict[str, Tensor]:
        truth = lesson.truth
        heads = self.model.roi_heads
        sampler = heads.fg_bg_sampler
        regions, real = torch.cat([proposals, truth.boxes], dim=1), torch.cat([real, truth.real], dim=1)
        matcher = heads.proposal_matcher
        matched, verdict = match(
            truth, regions, above=matcher.high_threshold, below=matcher.low_threshold, best_too=False
        )
        verdict = torch.where(real, left_out(verdict, lesson.unsure, regions), IGNORED)
        positions, drawn = sample(
            verdict, count=sampler.batch_size_per_image, positives=sampler.positive_fraction, random=self.random
        )
        is_object = pick(verdict, positions) > 0
        number = pick(matched, positions)
        wanted = torch.where(is_object, pick(truth.classes, number), BACKGROUND)
        places = pick(regions, positions)
        logits, deltas = self.looked_at(features, rows(places, drawn), sizes)
        frame = torch.arange(len(drawn), device=drawn.device)[:, None].expand_as(drawn)[drawn]
        wanted, places, goal = wanted[drawn], places[drawn], pick(truth.boxes, number)[drawn]
        wrong = functional.cross_entropy(logits, wanted, reduction="none")
        positive = wanted > BACKGROUND
        wrong = torch.where(positive, wrong, wrong * lesson.background[frame])
        goal = torch.where(positive[:, None], goal, places)
        own = by_class(deltas)[torch.arange(len(deltas), device=deltas.device), wanted]
        off = self._off(heads.box_coder, own, goal, places) * positive
        each = _drawn_a_frame(drawn)
        return {
            "region_class": by_frame(wrong, frame, frames=len(drawn)) / each,
            "region_box": by_frame(off, frame, frames=len(drawn)) / each,
        }

    def looked_at(
        self, features: dict[str, Tensor], regions: list[Tensor], sizes: list[tuple[int, int]]
    ) -> tuple[Tensor, Tensor]:
        """Class logits and box deltas of each frame's regions, in one long list."""
        heads = self.model.roi_heads
        pooled = heads.box_roi_pool(features, regions, sizes)
        logits, deltas = heads.box_predictor(heads.box_head(pooled))
        return logits, deltas

    @staticmethod
    def _off(coder: Any, deltas: Tensor, goal: Tensor, places: Tensor) -> Tensor:
        """How far predicted deltas are from the ones that would move each place onto its goal."""
        target = coder.encode_single(goal.reshape(-1, 4), places.reshape(-1, 4)).reshape(places.shape)
        # A place without area has no target; it is never a positive.
        target = torch.nan_to_num(target, nan=0.0, posinf=0.0, neginf=0.0)
        return functional.smooth_l1_loss(deltas, target, beta=1 / 9, reduction="none").sum(dim=-1)

    def _detect(self, images: Images) -> list[Detections]:
        batch, sizes, scales = self.prepared(images)
        features = self.features(batch.tensors)
        proposals, real = self.best(self.scored(batch, features), sizes)
        regions = rows(proposals, real)
        logits, deltas = self.looked_at(features, regions, sizes)
        heads = self.model.roi_heads
        chances = logits.softmax(dim=-1)[:, 1:]
        per_frame = real.sum(dim=1).tolist()
        boxes = heads.box_coder.decode(deltas, regions)
        found = []
        for frame, (own_boxes, own_chances) in enumerate(
            zip(boxes[:, 1:].split(per_frame), chances.split(per_frame), strict=True)
        ):
            region, name = torch.where(own_chances > heads.score_thresh)
            corners = clip_boxes_to_image(own_boxes[region, name], sizes[frame])
            large = ((corners[:, 2:] - corners[:, :2]) >= SMALLEST_BOX).all(dim=1)
            corners, name, score = corners[large], name[large], own_chances[region, name][large]
            keep = batched_nms(corners, score, name, heads.nms_thresh)[: heads.detections_per_img]
            original = corners[keep] / scales[frame].repeat(2)
            found.append(Detections(original.cpu().numpy(), name[keep].cpu().numpy(), score[keep].cpu().numpy()))
        return found

    @staticmethod
    def _weighted(loss: str, by_frame: Tensor, labels: Sequence[Labels]) -> Tensor:
        """With nothing to learn there is no gradient at all: Adam would go on by its momentum where it is zero."""
        weights = {
            "proposal_class": [one.weights.proposals for one in labels],
            "proposal_box": [one.weights.proposals for one in labels],
            "region_class": [one.weights.classes for one in labels],
            "region_box": [one.weights.boxes for one in labels],
        }[loss]
        return by_frame * by_frame.new_tensor(weights) if any(weights) else torch.zeros_like(by_frame)


def _drawn_a_frame(drawn: Tensor) -> Tensor:
    """The mean number drawn a frame. A frame's losses add up to its sum over this, so that their mean over frames is
    torchvision's loss."""
    return (drawn.sum() / len(drawn)).clamp(min=1)
