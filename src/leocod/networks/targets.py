"""Which anchors and regions should be what: matching and sampling for a whole batch at once.

The rules are torchvision's (and so Faster R-CNN's); only the loops over images are gone, and each frame has a seed of
its own for what is drawn by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from leocod.types import Labels

IGNORED, BACKGROUND = -1, 0
UNSURE_OVERLAP = 0.5
"""IoU from which on a region lies over something unsure."""


@dataclass(frozen=True)
class PaddedBoxes:
    """The labels of a batch in one tensor each, padded to the most boxes in a frame."""

    boxes: Tensor
    """Frames x most x 4."""
    classes: Tensor
    """Frames x most; 0 is the background, so class c of the labels is c + 1 here."""
    real: Tensor
    """Frames x most: which entries are boxes and which padding."""

    @staticmethod
    def of(labels: Sequence[Labels], scales: Tensor) -> PaddedBoxes:
        """`scales`: frames x 2, from pixels of the frame to pixels of the network's input, x and y."""
        return PaddedBoxes._padded([(one.boxes, one.classes + 1) for one in labels], scales)

    @staticmethod
    def unsure(labels: Sequence[Labels], scales: Tensor) -> PaddedBoxes:
        """In the same form, what the labels are unsure of; of no class."""
        return PaddedBoxes._padded([(one.unsure, np.zeros(len(one.unsure), np.int64)) for one in labels], scales)

    @staticmethod
    def _padded(rows: Sequence[tuple[NDArray[np.float32], NDArray[np.int64]]], scales: Tensor) -> PaddedBoxes:
        most = max([1, *(len(own) for own, _ in rows)])
        boxes = np.zeros((len(rows), most, 4), np.float32)
        classes = np.zeros((len(rows), most), np.int64)
        real = np.zeros((len(rows), most), np.bool_)
        for number, (own, names) in enumerate(rows):
            boxes[number, : len(own)], classes[number, : len(own)], real[number, : len(own)] = own, names, True
        on_device = [torch.from_numpy(one).to(scales.device) for one in (boxes, classes, real)]
        return PaddedBoxes(on_device[0] * scales.repeat(1, 2)[:, None], on_device[1], on_device[2])


@dataclass(frozen=True)
class TrainingTargets:
    """All that the labels of a batch say about regions."""

    truth: PaddedBoxes
    unsure: PaddedBoxes
    """What may or may not be there; of no class."""
    background: Tensor
    """Frames: how much it counts when a region of the frame that shows no object is taken for one."""
    seeds: Sequence[int]
    """Of what is drawn by chance in each frame, whichever frames come with it."""

    @staticmethod
    def of(labels: Sequence[Labels], scales: Tensor, seeds: Sequence[int]) -> TrainingTargets:
        """`scales`: frames x 2, from pixels of the frame to pixels of the network's input, x and y."""
        background = torch.tensor([one.weights.background for one in labels]).to(scales)
        return TrainingTargets(PaddedBoxes.of(labels, scales), PaddedBoxes.unsure(labels, scales), background, seeds)

    def only(self, chosen: Tensor) -> TrainingTargets:
        """Of some of the frames."""
        truth, unsure = (
            PaddedBoxes(one.boxes[chosen], one.classes[chosen], one.real[chosen]) for one in (self.truth, self.unsure)
        )
        seeds = [seed for seed, which in zip(self.seeds, chosen.tolist(), strict=True) if which]
        return TrainingTargets(truth, unsure, self.background[chosen], seeds)

    def random_scores(self, draw: int, like: Tensor) -> Tensor:
        """Numbers from 0 to 1 for the entries of each frame's row: of one draw, and not of the row's length."""
        random = torch.Generator()
        rows = [torch.rand(like.shape[1], generator=random.manual_seed(2 * seed + draw)) for seed in self.seeds]
        return torch.stack(rows).to(like.device)


def overlaps(truth: PaddedBoxes, boxes: Tensor) -> Tensor:
    """IoU of true boxes with boxes, which all frames may share: frames x most x boxes; -1 for padding."""
    one, two = truth.boxes[:, :, None], (boxes if boxes.dim() == 3 else boxes[None])[:, None]
    shared = (torch.minimum(one[..., 2:], two[..., 2:]) - torch.maximum(one[..., :2], two[..., :2])).clamp(min=0)
    intersection = shared[..., 0] * shared[..., 1]
    union = _area(one) + _area(two) - intersection
    return torch.where(truth.real[:, :, None], intersection / union.clamp(min=1e-9), -1.0)


def _area(boxes: Tensor) -> Tensor:
    return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])


def match(truth: PaddedBoxes, boxes: Tensor, *, above: float, below: float, best_too: bool) -> tuple[Tensor, Tensor]:
    """For every box: the number of its best true box, and whether it counts as that (1), as background, or not at all.

    `best_too`: the boxes that overlap a true box most count as it, however little that is.
    """
    iou = overlaps(truth, boxes)
    quality, matched = iou.max(dim=1)
    verdict = torch.where(quality >= above, 1, torch.where(quality < below, BACKGROUND, IGNORED))
    if best_too:
        best = iou.max(dim=2, keepdim=True).values
        # A true box that no box overlaps has no best one; torchvision would take all of them.
        verdict = torch.where(((iou == best) & (best > 0)).any(dim=1), 1, verdict)
    return matched, verdict


def ignore_unsure(verdict: Tensor, unsure: PaddedBoxes, boxes: Tensor) -> Tensor:
    """The verdict with no word on boxes that would be background but lie over something unsure."""
    if not unsure.real.any():
        return verdict
    over = (overlaps(unsure, boxes) >= UNSURE_OVERLAP).any(dim=1)
    return torch.where((verdict == BACKGROUND) & over, IGNORED, verdict)


def sample(verdict: Tensor, chance: Tensor, *, count: int, positives: float) -> tuple[Tensor, Tensor]:
    """Draw up to `count` entries of each row, at most a part `positives` of them positive; the rest background.

    `chance`: a random number from 0 to 1 for each entry. Returns their positions, rows x (drawn at most), and which of
    these are really drawn.
    """
    width = verdict.shape[1]
    most_positive = min(int(count * positives), width)
    positive_chance, positive = torch.where(verdict > 0, chance, -1.0).topk(most_positive, dim=1)
    negative_chance, negative = torch.where(verdict == BACKGROUND, chance, -1.0).topk(min(count, width), dim=1)
    is_positive = positive_chance >= 0
    room = count - is_positive.sum(dim=1, keepdim=True)
    order = torch.arange(negative.shape[1], device=verdict.device)
    is_negative = (negative_chance >= 0) & (order[None] < room)
    return torch.cat([positive, negative], dim=1), torch.cat([is_positive, is_negative], dim=1)


def pick(values: Tensor, positions: Tensor) -> Tensor:
    """values[row, positions[row]] for every row; trailing dimensions come along."""
    rows = torch.arange(len(positions), device=positions.device)[:, None]
    return values[rows, positions]


def rows(values: Tensor, chosen: Tensor) -> list[Tensor]:
    """The chosen entries of each row."""
    return [row[which] for row, which in zip(values, chosen, strict=True)]


def sum_by_frame(values: Tensor, frame: Tensor, *, frames: int) -> Tensor:
    """Values of regions in one long list, added up in the frame that each is of."""
    return values.new_zeros(frames).index_add(0, frame, values)


def apply_weights(sum_by_frame: Tensor, weights: Sequence[float]) -> Tensor:
    """The losses of frames times a weight each.

    With nothing to learn there is no gradient at all: Adam would go on by its momentum where it is zero.
    """
    return sum_by_frame * sum_by_frame.new_tensor(weights) if any(weights) else torch.zeros_like(sum_by_frame)


def by_class(deltas: Tensor) -> Tensor:
    """Box deltas of regions as regions x classes x 4."""
    return deltas.reshape(len(deltas), deltas.shape[1] // 4, 4)
