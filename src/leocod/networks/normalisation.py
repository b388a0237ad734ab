"""Frozen normalisation: where a network starts by chance, and as a part of the convolution before it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

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


def fold(model: nn.Module) -> None:
    """Let every convolution do the work of the frozen normalisation behind it; the state dict stays as it is.

    A normalisation is two passes over everything that a layer puts out, forwards and backwards. Multiplied into the
    weights of the convolution it is one over these, which are far fewer.
    """
    for parent in list(model.modules()):
        children = list(parent.named_children())
        for (first, layer), (second, behind) in pairwise(children):
            if isinstance(layer, nn.Conv2d) and layer.bias is None and isinstance(behind, FrozenBatchNorm2d):
                setattr(parent, second, folded := Folded(behind))
                setattr(parent, first, NormalisingConv2d(layer, folded))


class Folded(FrozenBatchNorm2d):  # type: ignore[misc]  # no types there
    """Holds the numbers of a normalisation that the convolution before it does."""

    def __init__(self, like: FrozenBatchNorm2d) -> None:
        super().__init__(like.weight.numel(), like.eps)
        self._buffers.update(like._buffers)

    def forward(self, values: Tensor) -> Tensor:
        return values

    def scale_and_shift(self) -> tuple[Tensor, Tensor]:
        """What each channel is multiplied by, and what is added then."""
        scale = self.get_buffer("weight") * (self.get_buffer("running_var") + self.eps).rsqrt()
        return scale, self.get_buffer("bias") - self.get_buffer("running_mean") * scale


class NormalisingConv2d(nn.Conv2d):
    """A convolution whose outputs are normalised. Its weights are those of the convolution alone, and so learn as
    they would."""

    def __init__(self, like: nn.Conv2d, behind: Folded) -> None:
        super().__init__(
            like.in_channels,
            like.out_channels,
            like.kernel_size,  # type: ignore[arg-type]  # as it was given
            like.stride,  # type: ignore[arg-type]
            like.padding,  # type: ignore[arg-type]
            like.dilation,  # type: ignore[arg-type]
            like.groups,
            bias=False,
            device="meta",
        )
        self.weight = like.weight
        # Not a child: it is one of the parent's.
        self.behind = (behind,)

    def forward(self, values: Tensor) -> Tensor:
        scale, shift = self.behind[0].scale_and_shift()
        normalised: Tensor = self._conv_forward(values, self.weight * scale[:, None, None, None], shift)
        return normalised


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
