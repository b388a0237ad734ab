"""How far one two-stage detector is from another: in its features, its proposals, and in what it says of regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from leocod.networks.targets import by_class, rows, sum_by_frame
from leocod.types import Images, Labels

if TYPE_CHECKING:
    from leocod.networks.two_stage import TwoStage


def distillation_losses(
    student: TwoStage, teacher: TwoStage, images: Images, *, classes: Sequence[int], temperature: float
) -> dict[str, Tensor]:
    """Named distances, one value a frame; gradients reach the student only.

    Squared differences of features, proposal boxes and region boxes; Kullback-Leibler divergences of the proposal
    scores and, at the teacher's proposals, of the class scores, these softened and times temperature^2. Only background
    and the teacher's own classes are compared.
    """
    batch, sizes, _ = student.prepare(images)
    with torch.no_grad():
        their_features = teacher.features(batch.tensors)
        theirs = teacher.rpn_outputs(batch, their_features)
        regions, real = teacher.propose(theirs, batch.image_sizes)
        places = rows(regions, real)
        their_logits, their_deltas = teacher.region_outputs(their_features, places, sizes)
    features = student.features(batch.tensors)
    own = student.rpn_outputs(batch, features)
    logits, deltas = student.region_outputs(features, places, sizes)

    frame = torch.arange(len(places), device=logits.device).repeat_interleave(real.sum(dim=1))
    known = torch.tensor([0, *(number + 1 for number in classes)], device=logits.device)
    soft = functional.log_softmax(logits[:, known] / temperature, dim=1)
    their_soft = functional.log_softmax(their_logits[:, known] / temperature, dim=1)
    differing = functional.kl_div(soft, their_soft, reduction="none", log_target=True).sum(dim=1) * temperature**2
    moved = by_class(deltas)[:, known] - by_class(their_deltas)[:, known]
    each = real.sum(dim=1).clamp(min=1)
    return {
        "distil_features": torch.stack(
            [squared_distance(features[name], their_features[name]) for name in features]
        ).mean(dim=0),
        "distil_proposals": divergence(own.scores, theirs.scores).mean(dim=1)
        + squared_distance(own.deltas, theirs.deltas),
        "distil_classes": sum_by_frame(differing, frame, frames=len(places)) / each,
        "distil_boxes": sum_by_frame(moved.square().mean(dim=(1, 2)), frame, frames=len(places)) / each,
    }


def has_logits(labels: Labels) -> bool:
    """Whether a frame is to be held to the logits in its labels."""
    return labels.logits is not None and len(labels) > 0 and labels.weights.logits > 0


def stored_logits_loss(now: Sequence[Tensor], labels: Sequence[Labels]) -> Tensor:
    """Mean squared distance of each frame's class logits, at its boxes, from those in its labels; 0 without any.

    Classes that came later have no stored logit; they are the last columns.
    """
    distillation_losses = []
    for logits, one in zip(now, labels, strict=True):
        then = torch.tensor(one.logits, device=logits.device) if has_logits(one) else logits[:, :0].detach()
        far = (logits[:, : then.shape[1]] - then).square()
        distillation_losses.append(far.mean() if far.numel() else far.sum())
    return torch.stack(distillation_losses)


def squared_distance(one: Tensor, two: Tensor) -> Tensor:
    """Mean squared difference in each frame."""
    return (one.float() - two.float()).square().flatten(start_dim=1).mean(dim=1)


def divergence(one: Tensor, two: Tensor) -> Tensor:
    """Kullback-Leibler divergence of every yes-or-no chance from the other's.

    Of logits: a sure no is a sure no, however sure.
    """
    cross = functional.binary_cross_entropy_with_logits(one, two.sigmoid(), reduction="none")
    itself = functional.binary_cross_entropy_with_logits(two, two.sigmoid(), reduction="none")
    return cross - itself
