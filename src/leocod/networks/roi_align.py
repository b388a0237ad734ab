"""RoIAlign as two batched matrix products.

Bilinear sampling is separable: a region's pooled features are Y @ features @ X^T with one small matrix for the rows and
one for the columns. On a CPU this is several times faster than torchvision's kernel, above all backwards.
"""

from __future__ import annotations

import torch
from torch import Tensor


def roi_align(features: Tensor, boxes: Tensor, *, stride: int, size: int, samples: int = 2) -> Tensor:
    """Pool every box to size x size: torchvision's `roi_align(aligned=False)`, for the same number of boxes an image.

    features: images x channels x height x width; boxes: images x regions x 4, in pixels of the image;
    returns images x regions x channels x size x size.
    """
    height, width = features.shape[-2:]
    scaled = boxes / stride
    rows = _sampling(scaled[..., 1], scaled[..., 3], length=height, size=size, samples=samples)
    columns = _sampling(scaled[..., 0], scaled[..., 2], length=width, size=size, samples=samples)
    images, regions = boxes.shape[:2]
    channels = features.shape[1]
    by_row = features.permute(0, 2, 1, 3).reshape(images, height, channels * width)
    picked = torch.bmm(rows.reshape(images, regions * size, height), by_row)
    picked = picked.reshape(images * regions, size * channels, width)
    pooled = torch.bmm(picked, columns.reshape(images * regions, size, width).transpose(1, 2))
    return pooled.reshape(images, regions, size, channels, size).permute(0, 1, 3, 2, 4)


def _sampling(low: Tensor, high: Tensor, *, length: int, size: int, samples: int) -> Tensor:
    """How much each of `length` cells counts in each of `size` bins from low to high: ... x size x length."""
    extent = (high - low).clamp(min=1.0)
    offsets = (torch.arange(size * samples, device=low.device, dtype=low.dtype) + 0.5) / (size * samples)
    points = low[..., None] + extent[..., None] * offsets
    inside = (points >= -1.0) & (points <= length)
    points = points.clamp(min=0.0, max=length - 1.0)
    cells = torch.arange(length, device=low.device, dtype=low.dtype)
    weights = (1 - (points[..., None] - cells).abs()).clamp(min=0.0) * inside[..., None]
    return weights.reshape(*low.shape, size, samples, length).mean(dim=-2)
