"""The second stage of Faster R-CNN: classifies regions and moves their boxes, and has losses for both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional
from torchvision.models.detection.roi_heads import RoIHeads
from torchvision.ops import batched_nms

from leocod.networks.proposals import box_loss, clip, count_drawn, picture_corners
from leocod.networks.targets import (
    BACKGROUND,
    IGNORED,
    TrainingTargets,
    ignore_unsure,
    match,
    pick,
    sample,
    split_by_class,
    sum_by_frame,
)


class RegionSamples(NamedTuple):
    """The regions of a batch that are learnt from, padded to the same number in every frame."""

    places: Tensor
    """Frames x most x 4."""
    drawn: Tensor
    """Frames x most: which entries are regions and which padding."""
    classes: Tensor
    """Frames x most: what each is; 0 is the background."""
    goals: Tensor
    """Frames x most x 4: the true box that each overlaps most."""


def draw_regions(heads: RoIHeads, proposals: Tensor, real: Tensor, targets: TrainingTargets) -> RegionSamples:
    """Match proposals and true boxes with the labels, and draw some of them by chance."""
    truth, matcher, sampler = targets.truth, heads.proposal_matcher, heads.fg_bg_sampler
    regions, real = torch.cat([proposals, truth.boxes], dim=1), torch.cat([real, truth.real], dim=1)
    matched, verdict = match(truth, regions, above=matcher.high_threshold, below=matcher.low_threshold, best_too=False)
    verdict = torch.where(real, ignore_unsure(verdict, targets.unsure, regions), IGNORED)
    chance = targets.random_scores(1, verdict)
    positions, drawn = sample(verdict, chance, count=sampler.batch_size_per_image, positives=sampler.positive_fraction)
    is_object = pick(verdict, positions) > 0
    number = pick(matched, positions)
    classes = torch.where(is_object, pick(truth.classes, number), BACKGROUND)
    return RegionSamples(pick(regions, positions), drawn, classes, pick(truth.boxes, number))


def region_losses(
    heads: RoIHeads,
    region_features: Tensor,
    samples: RegionSamples,
    background: Tensor,
    *,
    beta: float,
    taught: Tensor | None = None,
) -> dict[str, Tensor]:
    """Losses of classes and boxes, one value a frame.

    `region_features`: of all drawn regions in one long list. `background`: the weight of background regions in each
    frame. `beta`: see `box_loss`. `taught`: see `mark_taught_classes`.
    """
    drawn = samples.drawn
    logits = classify(heads, region_features)
    frame = torch.arange(len(drawn), device=drawn.device)[:, None].expand_as(drawn)[drawn]
    classes, places, goals = samples.classes[drawn], samples.places[drawn], samples.goals[drawn]
    if taught is not None:
        logits = logits.masked_fill(~taught[frame], -torch.inf)
    class_loss = functional.cross_entropy(logits, classes, reduction="none")
    positive = classes > BACKGROUND
    class_loss = torch.where(positive, class_loss, class_loss * background[frame])
    # Where a box should be is asked of objects only, and of the class that each is of.
    objects = torch.where(positive)[0]
    deltas = move_boxes(heads, region_features[objects], classes[objects])
    distance = box_loss(heads.box_coder, deltas, goals[objects], places[objects], beta=beta)
    count = count_drawn(drawn)
    return {
        "region_class": sum_by_frame(class_loss, frame, frames=len(drawn)) / count,
        "region_box": sum_by_frame(distance, frame[objects], frames=len(drawn)) / count,
    }


def classify(heads: RoIHeads, region_features: Tensor) -> Tensor:
    """Class logits of regions, background first."""
    logits: Tensor = heads.box_predictor.cls_score(region_features)
    return logits.float()


def move_boxes(heads: RoIHeads, region_features: Tensor, classes: Tensor) -> Tensor:
    """Box deltas of regions, each for one class: the background is 0, and so the first class 1.

    Of a thousand classes, working out the boxes for all would cost more than all the rest.
    """
    layer = heads.box_predictor.bbox_pred
    weight = layer.weight.unflatten(0, (-1, 4)).index_select(0, classes)
    bias = layer.bias.unflatten(0, (-1, 4)).index_select(0, classes)
    deltas: Tensor = torch.bmm(weight, region_features[:, :, None])[:, :, 0] + bias
    return deltas.float()


class RegionDetections(NamedTuple):
    """What is found in one frame, in pixels of the input, best score first."""

    boxes: Tensor
    classes: Tensor
    scores: Tensor


def detect_objects(
    heads: RoIHeads,
    region_features: Tensor,
    regions: Sequence[Tensor],
    sizes: Sequence[tuple[int, int]],
    *,
    smallest_box: float,
) -> list[RegionDetections]:
    """Classify the regions of each frame, move their boxes, and drop those that overlap a better one of their class."""
    scores = classify(heads, region_features).softmax(dim=-1)[:, 1:]
    region, label = torch.where(scores > heads.score_thresh)
    # One by one, each takes weights of its own; all classes together, most is for nothing. Whichever is less.
    if len(region) * region_features.shape[1] < len(region_features) * scores.shape[1]:
        deltas = move_boxes(heads, region_features[region], label + 1)
    else:
        deltas = split_by_class(heads.box_predictor.bbox_pred(region_features).float())[region, label + 1]
    counts = torch.tensor([len(boxes) for boxes in regions], device=region.device)
    frame = torch.arange(len(regions), device=region.device).repeat_interleave(counts)[region]
    boxes = heads.box_coder.decode_single(deltas, torch.cat(list(regions))[region])
    boxes = clip(boxes, picture_corners(sizes, boxes)[frame])
    large = ((boxes[:, 2:] - boxes[:, :2]) >= smallest_box).all(dim=1)
    boxes, label, score, frame = boxes[large], label[large], scores[region, label][large], frame[large]
    per_frame = torch.bincount(frame, minlength=len(regions)).tolist()
    detections = []
    for own_boxes, own_labels, own_scores in zip(*(v.split(per_frame) for v in (boxes, label, score)), strict=True):
        keep = batched_nms(own_boxes, own_scores, own_labels, heads.nms_thresh)[: heads.detections_per_img]
        detections.append(RegionDetections(own_boxes[keep], own_labels[keep], own_scores[keep]))
    return detections
