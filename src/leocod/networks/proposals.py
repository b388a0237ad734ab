"""The first stage of Faster R-CNN: scores every anchor, proposes regions, and has losses for both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence
from torchvision.models.detection.image_list import ImageList
from torchvision.models.detection.rpn import RegionProposalNetwork, concat_box_prediction_layers
from torchvision.ops import batched_nms, nms

from leocod.networks.targets import TrainingTargets, ignore_unsure, match, pick, sample


class RpnOutputs(NamedTuple):
    """What the proposal head computes for every anchor of every frame."""

    scores: Tensor
    """Frames x anchors."""
    deltas: Tensor
    """Frames x anchors x 4."""
    anchors: Tensor
    """Anchors x 4; the same in every frame."""
    counts: list[int]
    """Anchors in each level of the features."""


def score_anchors(rpn: RegionProposalNetwork, batch: ImageList, features: dict[str, Tensor]) -> RpnOutputs:
    """Run the proposal head over the features of a batch."""
    levels = list(features.values())
    scores_by_level, deltas_by_level = rpn.head(levels)
    counts = [score[0].numel() for score in scores_by_level]
    anchors = rpn.anchor_generator(batch, levels)[0]
    frames = len(levels[0])
    scores, deltas = concat_box_prediction_layers(scores_by_level, deltas_by_level)
    return RpnOutputs(scores.float().reshape(frames, -1), deltas.float().reshape(frames, -1, 4), anchors, counts)


@torch.no_grad()
def select_proposals(
    rpn: RegionProposalNetwork, outputs: RpnOutputs, sizes: list[tuple[int, int]]
) -> tuple[Tensor, Tensor]:
    """The best regions of each frame, frames x most x 4, and which of them are real and not padding."""
    scores, deltas, anchors, counts = outputs
    chosen, levels = _select_best(scores, counts, rpn.pre_nms_top_n())
    # Probabilities near 1 tie where logits do not.
    logits = pick(scores, chosen)
    boxes = rpn.box_coder.decode_single(pick(deltas, chosen).reshape(-1, 4), anchors[chosen].reshape(-1, 4))
    boxes = clip(boxes.reshape(len(scores), -1, 4), picture_corners(sizes, boxes)[:, None])
    usable = ((boxes[..., 2:] - boxes[..., :2]) >= rpn.min_size).all(dim=2)
    usable &= logits.sigmoid() >= rpn.score_thresh
    most = rpn.post_nms_top_n()
    kept = []
    for frame, all_usable in enumerate(usable.all(dim=1).tolist()):
        candidates, logit, level = boxes[frame], logits[frame], levels[frame]
        if not all_usable:
            candidates, logit, level = (values[usable[frame]] for values in (candidates, logit, level))
        if len(counts) == 1:
            best = nms(candidates, logit, rpn.nms_thresh)
        else:
            best = batched_nms(candidates, logit, level, rpn.nms_thresh)
        kept.append(candidates[best[:most]])
    proposals = functional.pad(pad_sequence(kept, batch_first=True), (0, 0, 0, most))[:, :most]
    lengths = torch.tensor([len(regions) for regions in kept], device=boxes.device)[:, None]
    return proposals, torch.arange(most, device=boxes.device) < lengths


def _select_best(scores: Tensor, counts: list[int], most: int) -> tuple[Tensor, Tensor]:
    """The positions of the highest scores of each level, and the level of each: frames x chosen."""
    top, level, first = [], [], 0
    for number, part in enumerate(scores.split(counts, dim=1)):
        positions = part.topk(min(most, part.shape[1]), dim=1).indices
        top.append(positions + first)
        level.append(torch.full_like(positions, number))
        first += part.shape[1]
    return torch.cat(top, dim=1), torch.cat(level, dim=1)


def proposal_losses(
    rpn: RegionProposalNetwork, outputs: RpnOutputs, targets: TrainingTargets, *, beta: float
) -> dict[str, Tensor]:
    """Losses of the scores and of the boxes, one value a frame. `beta`: see `box_loss`."""
    scores, deltas, anchors, _ = outputs
    truth = targets.truth
    matcher, sampler = rpn.proposal_matcher, rpn.fg_bg_sampler
    matched, verdict = match(truth, anchors, above=matcher.high_threshold, below=matcher.low_threshold, best_too=True)
    verdict = ignore_unsure(verdict, targets.unsure, anchors)
    chance = targets.random_scores(0, verdict)
    positions, drawn = sample(verdict, chance, count=sampler.batch_size_per_image, positives=sampler.positive_fraction)
    wanted = pick(verdict, positions)
    class_loss = functional.binary_cross_entropy_with_logits(
        pick(scores, positions), (wanted > 0).float(), reduction="none"
    )
    class_loss = torch.where(wanted > 0, class_loss, class_loss * targets.background[:, None])
    positive = drawn & (wanted > 0)
    places = anchors[positions]
    goals = torch.where(positive[..., None], pick(truth.boxes, pick(matched, positions)), places)
    distance = box_loss(rpn.box_coder, pick(deltas, positions), goals, places, beta=beta)
    count = count_drawn(drawn)
    return {
        "proposal_class": (class_loss * drawn).sum(dim=1) / count,
        "proposal_box": (distance * positive).sum(dim=1) / count,
    }


def box_loss(coder: Any, deltas: Tensor, goals: Tensor, places: Tensor, *, beta: float) -> Tensor:
    """How far predicted deltas are from the ones that would move each place onto its goal.

    `beta`: where the loss turns from square to linear. 0: linear everywhere.
    """
    target = coder.encode_single(goals.reshape(-1, 4), places.reshape(-1, 4)).reshape(places.shape)
    # A place without area has no target; it is never a positive.
    target = torch.nan_to_num(target, nan=0.0, posinf=0.0, neginf=0.0)
    return functional.smooth_l1_loss(deltas, target, beta=beta, reduction="none").sum(dim=-1)


def count_drawn(drawn: Tensor) -> Tensor:
    """How many were drawn in each frame, at least 1.

    A frame's losses are means over its own, so that they do not depend on the frames that happen to come with it: a
    batch may be learnt in parts, or divided among processes.
    """
    return drawn.sum(dim=1).clamp(min=1)


def clip(boxes: Tensor, corners: Tensor) -> Tensor:
    """Clip boxes to pictures that reach from 0 to these corners."""
    return torch.minimum(boxes.clamp(min=0), corners)


def picture_corners(sizes: Sequence[tuple[int, int]], like: Tensor) -> Tensor:
    """The lower right corner of each picture, twice, as boxes have two: frames x 4."""
    return like.new_tensor([[width, height, width, height] for height, width in sizes])
