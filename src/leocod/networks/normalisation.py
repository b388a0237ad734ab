"""Frozen normalisation in a network that starts by chance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional
from torchvision.models.detection import FasterRCNN, RetinaNet
from torchvision.ops import FrozenBatchNorm2d

PICTURES, SIDE, SPOTS = 4, 128, 16
"""What the statistics are taken from: so many square pictures, and how many spots of colour lie along a side."""


@torch.no_grad()
def settle(model: FasterRCNN | RetinaNet) -> None:
    """Give every frozen normalisation the scale of what reaches it from pictures of random spots.

    Trained weights bring their own statistics. Without them frozen normalisation would do nothing, and what a deep
    network lets through would grow, or fade, until nothing can be learnt. Means stay 0: taken from one kind of picture,
    they throw every other kind off its scale.
    """
    mean, deviation = (
        torch.tensor(one)[:, None, None] for one in (model.transform.image_mean, model.transform.image_std)
    )
    spots = functional.interpolate(torch.rand(PICTURES, 3, SPOTS, SPOTS), size=SIDE, mode="bilinear")
    whole = torch.tensor([[0.0, 0.0, SIDE, SIDE]])
    with _measuring(model):
        features = model.backbone((spots - mean) / deviation)
        if isinstance(model, FasterRCNN):
            levels = {"0": features} if isinstance(features, Tensor) else features
            pooled = model.roi_heads.box_roi_pool(levels, [whole] * PICTURES, [(SIDE, SIDE)] * PICTURES)
            model.roi_heads.box_head(pooled)


@contextmanager
def _measuring(model: nn.Module) -> Iterator[None]:
    hooks = [
        layer.register_forward_pre_hook(_measure) for layer in model.modules() if isinstance(layer, FrozenBatchNorm2d)
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _measure(layer: nn.Module, inputs: tuple[Tensor]) -> None:
    (values,) = inputs
    layer.get_buffer("running_var").fill_(values.square().mean())
