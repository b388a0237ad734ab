"""RoIAlign as weighted sums of cells: on a CPU many times faster than torchvision's kernel, above all backwards.

A bin of a region is a weighted sum of a few cells of the feature map, and all channels of a cell have the same weight.
With the channels of a cell side by side in memory, that is what an embedding bag computes: a list of rows and weights
for every sum. Its gradient is another embedding bag, with the roles of rows and sums exchanged. The regions of all
frames and of all levels of a pyramid go into one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torchvision.ops import MultiScaleRoIAlign, roi_align
from torchvision.ops.poolers import LevelMapper

Sizes = list[tuple[int, int]]


class RoIAlign(nn.Module):
    """Pools regions to size x size bins; in place of torchvision's MultiScaleRoIAlign.

    The result, regions x channels x bins x bins, has the channels of a bin side by side in memory.
    """

    def __init__(
        self, strides: Sequence[int], size: int, *, samples: int = 2, aligned: bool = False, every: int = 1
    ) -> None:
        """`strides`: of the levels "0", "1", ... of the features. In a pyramid, the size of a region decides from which
        level it is pooled. `samples`: points in a bin, in either direction; 0: as many as the bin has cells. `aligned`:
        with the half-pixel shift that Detectron2 introduced. `every`: keep only every n-th bin, in either direction.
        """
        super().__init__()
        self.strides, self.size, self.samples, self.aligned, self.every = tuple(strides), size, samples, aligned, every
        self.bins = len(range(0, size, every))
        if len(strides) > 1 and (samples < 1 or aligned or every > 1):
            raise ValueError("A pyramid is pooled as torchvision does it.")
        self.operator: Any = _build_pyramid_pool(self.strides, size, samples) if len(strides) > 1 else _Operator(self)
        """The same by torchvision's kernel: for devices where it is fast, and for runtimes that know no other."""

    def forward(self, features: dict[str, Tensor], regions: list[Tensor], sizes: Sizes) -> Tensor:
        if features["0"].device.type != "cpu":
            return cast(Tensor, self.operator(features, regions, sizes))
        maps = [features[str(level)].float() for level in range(len(self.strides))]
        rows = torch.cat([level.permute(0, 2, 3, 1).reshape(-1, level.shape[1]) for level in maps])
        cells, weights, offsets = self._find_cells(maps, regions)
        pooled = cast(Tensor, _WeightedSums.apply(rows, cells, weights, offsets))
        return pooled.reshape(-1, self.bins, self.bins, rows.shape[1]).permute(0, 3, 1, 2)

    @torch.no_grad()
    def _find_cells(self, maps: Sequence[Tensor], regions: Sequence[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """For every bin, in order: its cells, counted over all maps, their weights, and where it begins."""
        boxes = torch.cat(list(regions)).float()
        if not self.samples:
            # A box far beyond the picture would need points without end where there is nothing.
            furthest = self.strides[0] * max(maps[0].shape[-2:])
            boxes = boxes.clamp(min=-furthest, max=2 * furthest)
        frames = torch.repeat_interleave(torch.arange(len(regions)), torch.tensor([len(boxes) for boxes in regions]))
        level = self.operator.map_levels(list(regions)) if len(maps) > 1 else torch.zeros_like(frames)
        heights, widths = (torch.tensor([values.shape[axis] for values in maps])[level] for axis in (-2, -1))
        before = torch.tensor([0, *(values[:, 0].numel() for values in maps)]).cumsum(0)[level]
        scaled = boxes / torch.tensor(self.strides)[level, None] - (0.5 if self.aligned else 0.0)
        rows, row_weights = self._find_line(scaled[:, 1], scaled[:, 3], heights)
        columns, column_weights = self._find_line(scaled[:, 0], scaled[:, 2], widths)
        rows = rows * widths.int()[:, None, None] + (before + frames * heights * widths).int()[:, None, None]
        cells = (rows[:, :, None, :, None] + columns[:, None, :, None, :]).flatten(end_dim=2).flatten(start_dim=1)
        weights = (row_weights[:, :, None, :, None] * column_weights[:, None, :, None, :]).reshape(cells.shape)
        if self.samples:
            offsets = torch.arange(len(cells), dtype=torch.int32) * cells.shape[1]
            return cells.flatten(), weights.flatten(), offsets
        # Bins of small regions have fewer points than those of the largest one.
        real = weights != 0
        counts = real.sum(dim=1)
        return cells[real], weights[real], (counts.cumsum(0) - counts).int()

    def _find_line(self, low: Tensor, high: Tensor, length: Tensor) -> tuple[Tensor, Tensor]:
        """In one direction: the cells that each bin of each region sums up, and their weights; regions x bins x n.

        A point between two cells takes from both. One that is up to a cell beyond the border takes from the border.
        """
        extent = high - low if self.aligned else (high - low).clamp(min=1.0)
        wide = extent / self.size
        points = torch.full_like(low, self.samples) if self.samples else wide.ceil()
        order = torch.arange(int(points.max()) if len(points) else 1)
        begin = low[:, None] + wide[:, None] * torch.arange(0, self.size, self.every)
        share = (1 / points.clamp(min=1))[:, None]
        places = begin[:, :, None] + (wide[:, None] * (order + 0.5) * share)[:, None]
        last = (length - 1).to(low)[:, None, None]
        counts = (places >= -1.0) & (places <= last + 1) & (order < points[:, None])[:, None]
        places = torch.minimum(places.clamp(min=0.0), last)
        cell = places.int()
        here = counts * share[:, :, None]
        beyond = (places - cell) * here
        cells = torch.stack([cell, torch.minimum(cell + 1, last.int())], dim=-1)
        return cells.flatten(start_dim=2), torch.stack([here - beyond, beyond], dim=-1).flatten(start_dim=2)


class _WeightedSums(torch.autograd.Function):
    """Sums of rows, each with a weight; no gradient for the weights."""

    @staticmethod
    def forward(context: Any, rows: Tensor, chosen: Tensor, weights: Tensor, offsets: Tensor) -> Tensor:
        context.save_for_backward(chosen, weights, offsets)
        context.length = len(rows)
        return _sum_rows(rows, chosen, weights, offsets)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        chosen, weights, offsets = context.saved_tensors
        # The gradient of a row is a weighted sum, too: of the gradients of the sums that it is part of.
        ends = torch.cat([offsets[1:], offsets.new_tensor([len(chosen)])])
        sums = torch.repeat_interleave(torch.arange(len(offsets), dtype=torch.int32), ends - offsets)
        order = _sort(chosen, context.length)
        counts = torch.bincount(chosen, minlength=context.length)
        begins = (counts.cumsum(0) - counts).int()
        row_gradient = _sum_rows(
            gradient.contiguous(), sums.index_select(0, order), weights.index_select(0, order), begins
        )
        return row_gradient, None, None, None


def _sum_rows(rows: Tensor, chosen: Tensor, weights: Tensor, offsets: Tensor) -> Tensor:
    return functional.embedding_bag(chosen, rows, offsets, mode="sum", per_sample_weights=weights)


def _sort(numbers: Tensor, length: int) -> Tensor:
    """The positions of numbers below `length`, from the smallest to the largest; equal ones stay in their order.

    Numpy sorts numbers of two bytes by counting, in a third of the time.
    """
    small = numbers.short() if length <= 2**15 else numbers
    return torch.from_numpy(np.argsort(small.numpy(), kind="stable"))


class _Operator(nn.Module):
    """Pooling from one map by torchvision's kernel."""

    def __init__(self, like: RoIAlign) -> None:
        super().__init__()
        self.size, self.scale, self.every = like.size, 1 / like.strides[0], like.every
        self.samples, self.aligned = like.samples or -1, like.aligned

    def forward(self, features: dict[str, Tensor], regions: list[Tensor], sizes: Sizes) -> Tensor:
        pooled: Tensor = roi_align(
            features["0"], regions, self.size, self.scale, sampling_ratio=self.samples, aligned=self.aligned
        )
        # A view would keep the bins that nobody reads.
        return pooled[:, :, :: self.every, :: self.every].contiguous() if self.every > 1 else pooled


def _build_pyramid_pool(strides: Sequence[int], size: int, samples: int) -> MultiScaleRoIAlign:
    """torchvision's RoIAlign over a pyramid, with its strides set.

    By itself it guesses them from the first pictures, and stays wrong if these are small and padded.
    """
    pool = MultiScaleRoIAlign([str(level) for level in range(len(strides))], output_size=size, sampling_ratio=samples)
    pool.scales = [1 / stride for stride in strides]
    pool.map_levels = LevelMapper(strides[0].bit_length() - 1, strides[-1].bit_length() - 1)
    return pool
