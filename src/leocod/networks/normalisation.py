"""Frozen normalisation: its statistics in a network with random weights, and folding it into convolutions."""

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
"""The statistics come from so many square pictures of this side, with so many spots of colour along a side."""


@torch.no_grad()
def estimate_variances(model: FasterRCNN | RetinaNet) -> None:
    """Set the variance of every frozen normalisation to that of its input, for pictures of random spots.

    Trained weights come with statistics. Without any, frozen normalisation would do nothing, and activations would grow
    or fade from layer to layer until nothing can be learnt. Means stay 0: means of one kind of picture would be wrong
    for every other kind.
    """
    mean, deviation = (
        torch.tensor(value)[:, None, None] for value in (model.transform.image_mean, model.transform.image_std)
    )
    spots = functional.interpolate(torch.rand(PICTURES, 3, SPOTS, SPOTS), size=SIDE, mode="bilinear")
    whole = torch.tensor([[0.0, 0.0, SIDE, SIDE]])
    with _record_variances(model):
        features = model.backbone((spots - mean) / deviation)
        if isinstance(model, FasterRCNN):
            levels = {"0": features} if isinstance(features, Tensor) else features
            pooled = model.roi_heads.box_roi_pool(levels, [whole] * PICTURES, [(SIDE, SIDE)] * PICTURES)
            model.roi_heads.box_head(pooled)


def fold(model: nn.Module) -> None:
    """Let every convolution do the work of the frozen normalisation behind it; the state dict does not change.

    A normalisation is two passes over the output of a layer, forwards and backwards. Multiplied into the weights of the
    convolution, it is one pass over the weights, which are far fewer.
    """
    for parent in list(model.modules()):
        children = list(parent.named_children())
        for (first, layer), (second, behind) in pairwise(children):
            if isinstance(layer, nn.Conv2d) and layer.bias is None and isinstance(behind, FrozenBatchNorm2d):
                setattr(parent, second, folded := Folded(behind))
                setattr(parent, first, NormalisingConv2d(layer, folded))


class Folded(FrozenBatchNorm2d):  # type: ignore[misc]  # no types there
    """Holds the numbers of a normalisation. The convolution before it does the work."""

    def __init__(self, like: FrozenBatchNorm2d) -> None:
        super().__init__(like.weight.numel(), like.eps)
        self._buffers.update(like._buffers)

    def forward(self, values: Tensor) -> Tensor:
        return values

    def scale_and_shift(self) -> tuple[Tensor, Tensor]:
        """What each channel is multiplied by, and what is then added."""
        scale = self.get_buffer("weight") * (self.get_buffer("running_var") + self.eps).rsqrt()
        return scale, self.get_buffer("bias") - self.get_buffer("running_mean") * scale


class NormalisingConv2d(nn.Conv2d):
    """A convolution whose output is normalised. Its weights are those of the convolution alone, and learn as such."""

    def __init__(self, like: nn.Conv2d, behind: Folded) -> None:
        super().__init__(
            like.in_channels,
            like.out_channels,
            like.kernel_size,  # type: ignore[arg-type]  # a tuple, as it was given
            like.stride,  # type: ignore[arg-type]
            like.padding,  # type: ignore[arg-type]
            like.dilation,  # type: ignore[arg-type]
            like.groups,
            bias=False,
            device="meta",
        )
        self.weight = like.weight
        # In a tuple, so that it is no child: it is one of the parent's.
        self.behind = (behind,)

    def forward(self, values: Tensor) -> Tensor:
        scale, shift = self.behind[0].scale_and_shift()
        normalised: Tensor = self._conv_forward(values, self.weight * scale[:, None, None, None], shift)
        return normalised


@contextmanager
def _record_variances(model: nn.Module) -> Iterator[None]:
    """In here every frozen normalisation takes its variance from what it is given."""
    hooks = [
        layer.register_forward_pre_hook(_set_variance)
        for layer in model.modules()
        if isinstance(layer, FrozenBatchNorm2d)
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _set_variance(layer: nn.Module, inputs: tuple[Tensor]) -> None:
    (values,) = inputs
    layer.get_buffer("running_var").fill_(values.square().mean())
