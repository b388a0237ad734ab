"""What anchors and regions should be: matching and sampling for a whole batch at once.

The rules are torchvision's (and so Faster R-CNN's), without its loops over images; and each frame has a seed of its own
for what is drawn by chance.
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
"""From this IoU on, a region counts as lying over something unsure."""


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
        return PaddedBoxes._pad([(own.boxes, own.classes + 1) for own in labels], scales)

    @staticmethod
    def of_unsure(labels: Sequence[Labels], scales: Tensor) -> PaddedBoxes:
        """What the labels are unsure of, in the same form; of no class."""
        return PaddedBoxes._pad([(own.unsure, np.zeros(len(own.unsure), np.int64)) for own in labels], scales)

    @staticmethod
    def _pad(frames: Sequence[tuple[NDArray[np.float32], NDArray[np.int64]]], scales: Tensor) -> PaddedBoxes:
        most = max([1, *(len(own) for own, _ in frames)])
        boxes = np.zeros((len(frames), most, 4), np.float32)
        classes = np.zeros((len(frames), most), np.int64)
        real = np.zeros((len(frames), most), np.bool_)
        for frame, (own_boxes, own_classes) in enumerate(frames):
            filled = slice(len(own_boxes))
            boxes[frame, filled], classes[frame, filled], real[frame, filled] = own_boxes, own_classes, True
        on_device = [torch.from_numpy(array).to(scales.device) for array in (boxes, classes, real)]
        return PaddedBoxes(on_device[0] * scales.repeat(1, 2)[:, None], on_device[1], on_device[2])


@dataclass(frozen=True)
class TrainingTargets:
    """What the labels of a batch say about anchors and regions."""

    truth: PaddedBoxes
    unsure: PaddedBoxes
    """Boxes of what may or may not be there; of no class."""
    background: Tensor
    """Frames: the weight of anchors and regions that show no object."""
    seeds: Sequence[int]
    """One for each frame, for what is drawn by chance: the draw does not depend on the frames beside it."""

    @staticmethod
    def of(labels: Sequence[Labels], scales: Tensor, seeds: Sequence[int]) -> TrainingTargets:
        """`scales`: frames x 2, from pixels of the frame to pixels of the network's input, x and y."""
        background = torch.tensor([own.weights.background if own.complete else 0.0 for own in labels]).to(scales)
        return TrainingTargets(PaddedBoxes.of(labels, scales), PaddedBoxes.of_unsure(labels, scales), background, seeds)

    def only(self, chosen: Tensor) -> TrainingTargets:
        """The targets of some of the frames."""
        truth, unsure = (
            PaddedBoxes(padded.boxes[chosen], padded.classes[chosen], padded.real[chosen])
            for padded in (self.truth, self.unsure)
        )
        seeds = [seed for seed, is_chosen in zip(self.seeds, chosen.tolist(), strict=True) if is_chosen]
        return TrainingTargets(truth, unsure, self.background[chosen], seeds)

    def random_scores(self, draw: int, like: Tensor) -> Tensor:
        """Random numbers from 0 to 1 in the shape of `like`, frames x entries. `draw`: which draw of each seed."""
        random = torch.Generator()
        rows = [torch.rand(like.shape[1], generator=random.manual_seed(2 * seed + draw)) for seed in self.seeds]
        return torch.stack(rows).to(like.device)


def mark_taught_classes(labels: Sequence[Labels], classes: int, device: torch.device) -> Tensor | None:
    """Frames x (background, then classes): which outputs each frame teaches anything about; None: all of them."""
    if all(own.among is None for own in labels):
        return None
    taught = torch.ones(len(labels), 1 + classes, dtype=torch.bool)
    for frame, own in enumerate(labels):
        if own.among is not None:
            taught[frame, 1:] = False
            taught[frame, [1 + number for number in own.among]] = True
    return taught.to(device)


def padded_iou(truth: PaddedBoxes, boxes: Tensor) -> Tensor:
    """IoU of true boxes with boxes, which all frames may share: frames x most x boxes; -1 for padding."""
    first, second = truth.boxes[:, :, None], (boxes if boxes.dim() == 3 else boxes[None])[:, None]
    low, high = torch.maximum(first[..., :2], second[..., :2]), torch.minimum(first[..., 2:], second[..., 2:])
    sides = (high - low).clamp(min=0)
    intersection = sides[..., 0] * sides[..., 1]
    union = _area(first) + _area(second) - intersection
    return torch.where(truth.real[:, :, None], intersection / union.clamp(min=1e-9), -1.0)


def _area(boxes: Tensor) -> Tensor:
    return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])


def match(truth: PaddedBoxes, boxes: Tensor, *, above: float, below: float, best_too: bool) -> tuple[Tensor, Tensor]:
    """For every box: the number of the true box that it overlaps most, and a verdict: 1 (it counts as that object),
    BACKGROUND or IGNORED.

    `best_too`: the boxes that overlap a true box most count as it, however small the overlap.
    """
    iou = padded_iou(truth, boxes)
    quality, matched = iou.max(dim=1)
    verdict = torch.where(quality >= above, 1, torch.where(quality < below, BACKGROUND, IGNORED))
    if best_too:
        best = iou.max(dim=2, keepdim=True).values
        # A true box that no box overlaps has no best one; torchvision would take every box.
        verdict = torch.where(((iou == best) & (best > 0)).any(dim=1), 1, verdict)
    return matched, verdict


def ignore_unsure(verdict: Tensor, unsure: PaddedBoxes, boxes: Tensor) -> Tensor:
    """The verdict with IGNORED for boxes that would be background but lie over something unsure."""
    if not unsure.real.any():
        return verdict
    over = (padded_iou(unsure, boxes) >= UNSURE_OVERLAP).any(dim=1)
    return torch.where((verdict == BACKGROUND) & over, IGNORED, verdict)


def sample(verdict: Tensor, chance: Tensor, *, count: int, positives: float) -> tuple[Tensor, Tensor]:
    """Draw up to `count` entries of each row: at most a share `positives` of them positive, the rest background.

    `chance`: a random number from 0 to 1 for each entry. Returns positions, rows x (the most that can be drawn), and
    which of these are really drawn.
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
    """values[row, positions[row]] for every row; trailing dimensions are kept."""
    rows = torch.arange(len(positions), device=positions.device)[:, None]
    return values[rows, positions]


def select_rows(values: Tensor, chosen: Tensor) -> list[Tensor]:
    """The chosen entries of each row."""
    return [row[mask] for row, mask in zip(values, chosen, strict=True)]


def sum_by_frame(values: Tensor, frame: Tensor, *, frames: int) -> Tensor:
    """Add up values, given in one long list, by the frame that each belongs to."""
    return values.new_zeros(frames).index_add(0, frame, values)


def apply_weights(losses: Tensor, weights: Sequence[float]) -> Tensor:
    """The loss of each frame times its weight.

    If all weights are zero there is no gradient at all: where it is zero, Adam would still move by its momentum.
    """
    return losses * losses.new_tensor(weights) if any(weights) else torch.zeros_like(losses)


def split_by_class(deltas: Tensor) -> Tensor:
    """Box deltas of regions as regions x classes x 4."""
    return deltas.reshape(len(deltas), deltas.shape[1] // 4, 4)
