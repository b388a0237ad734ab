"""How far one two-stage detector is from another: in features, proposals and region outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from leocod.networks.targets import select_rows, split_by_class, sum_by_frame
from leocod.types import Images, Labels

if TYPE_CHECKING:
    from leocod.networks.two_stage import TwoStage


def distillation_losses(
    student: TwoStage, teacher: TwoStage, images: Images, *, classes: Sequence[int], temperature: float
) -> dict[str, Tensor]:
    """Named distances, one value a frame; gradients reach the student only.

    Squared differences of features, proposal boxes and region boxes; Kullback-Leibler divergences of the proposal
    scores and, at the teacher's proposals, of the class scores, these softened and times temperature^2. Only background
    and the classes that the teacher knows are compared.
    """
    batch, sizes, _ = student.prepare(images)
    with torch.no_grad():
        teacher_features = teacher.features(batch.tensors)
        teacher_rpn = teacher.rpn_outputs(batch, teacher_features)
        proposals, real = teacher.propose(teacher_rpn, batch.image_sizes)
        regions = select_rows(proposals, real)
        teacher_logits, teacher_deltas = teacher.region_outputs(teacher_features, regions, sizes)
    features = student.features(batch.tensors)
    rpn = student.rpn_outputs(batch, features)
    logits, deltas = student.region_outputs(features, regions, sizes)

    frame = torch.arange(len(regions), device=logits.device).repeat_interleave(real.sum(dim=1))
    known = torch.tensor([0, *(number + 1 for number in classes)], device=logits.device)
    soft = functional.log_softmax(logits[:, known] / temperature, dim=1)
    teacher_soft = functional.log_softmax(teacher_logits[:, known] / temperature, dim=1)
    class_distance = functional.kl_div(soft, teacher_soft, reduction="none", log_target=True).sum(dim=1)
    class_distance = class_distance * temperature**2
    box_distance = split_by_class(deltas)[:, known] - split_by_class(teacher_deltas)[:, known]
    count = real.sum(dim=1).clamp(min=1)
    return {
        "distil_features": torch.stack(
            [squared_distance(features[name], teacher_features[name]) for name in features]
        ).mean(dim=0),
        "distil_proposals": divergence(rpn.scores, teacher_rpn.scores).mean(dim=1)
        + squared_distance(rpn.deltas, teacher_rpn.deltas),
        "distil_classes": sum_by_frame(class_distance, frame, frames=len(regions)) / count,
        "distil_boxes": sum_by_frame(box_distance.square().mean(dim=(1, 2)), frame, frames=len(regions)) / count,
    }


def has_logits(labels: Labels) -> bool:
    """Whether the labels hold logits that count in the loss."""
    return labels.logits is not None and len(labels) > 0 and labels.weights.logits > 0


def stored_logits_loss(now: Sequence[Tensor], labels: Sequence[Labels]) -> Tensor:
    """Mean squared distance of each frame's class logits, at its boxes, from those in its labels; 0 without any.

    Classes that were added later have no stored logit; they are the last columns.
    """
    losses = []
    for logits, own in zip(now, labels, strict=True):
        stored = torch.tensor(own.logits, device=logits.device) if has_logits(own) else logits[:, :0].detach()
        distance = (logits[:, : stored.shape[1]] - stored).square()
        losses.append(distance.mean() if distance.numel() else distance.sum())
    return torch.stack(losses)


def squared_distance(first: Tensor, second: Tensor) -> Tensor:
    """Mean squared difference in each frame."""
    return (first.float() - second.float()).square().flatten(start_dim=1).mean(dim=1)


def divergence(logits: Tensor, teacher_logits: Tensor) -> Tensor:
    """Kullback-Leibler divergence of every yes-or-no probability from the teacher's, computed from the logits."""
    chance = teacher_logits.sigmoid()
    cross_entropy = functional.binary_cross_entropy_with_logits(logits, chance, reduction="none")
    entropy = functional.binary_cross_entropy_with_logits(teacher_logits, chance, reduction="none")
    return cross_entropy - entropy
