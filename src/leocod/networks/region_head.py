"""The region head: torchvision's two layers, for channels that lie side by side in memory."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor
from torch.nn import functional
from torchvision.models.detection.faster_rcnn import TwoMLPHead


class RegionHead(TwoMLPHead):  # type: ignore[misc]  # no types there
    """Computes what torchvision's head computes, with the same weights.

    Where the channels of a bin lie side by side, it reorders the weights instead of the regions, which are far more
    numbers.
    """

    def forward(self, pooled: Tensor) -> Tensor:
        if not pooled.is_contiguous(memory_format=torch.channels_last):
            return cast(Tensor, super().forward(pooled))
        weight = self.fc6.weight.unflatten(1, pooled.shape[1:]).permute(0, 2, 3, 1).flatten(start_dim=1)
        regions = pooled.permute(0, 2, 3, 1).flatten(start_dim=1)
        hidden = functional.relu(functional.linear(regions, weight, self.fc6.bias))
        return functional.relu(self.fc7(hidden))
