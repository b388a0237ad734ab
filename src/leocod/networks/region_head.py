"""The head that looks at every region: torchvision's two layers, for channels that lie side by side."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor
from torch.nn import functional
from torchvision.models.detection.faster_rcnn import TwoMLPHead


class RegionHead(TwoMLPHead):  # type: ignore[misc]  # no types there
    """Computes what torchvision's head does, with the same weights.

    Where the channels of a bin lie side by side, the order of its inputs is turned in the weights instead of in the
    regions, of which there is far more.
    """

    def forward(self, pooled: Tensor) -> Tensor:
        if not pooled.is_contiguous(memory_format=torch.channels_last):
            return cast(Tensor, super().forward(pooled))
        weight = self.fc6.weight.unflatten(1, pooled.shape[1:]).permute(0, 2, 3, 1).flatten(start_dim=1)
        regions = pooled.permute(0, 2, 3, 1).flatten(start_dim=1)
        seen = functional.relu(functional.linear(regions, weight, self.fc6.bias))
        return functional.relu(self.fc7(seen))
