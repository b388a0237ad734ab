"""What the detectors around a torchvision model have in common: the input, and the features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional
from torchvision.models.detection.image_list import ImageList

from leocod.networks.base import BaseDetector
from leocod.types import Images

SMALLEST_BOX = 1e-2
"""Pixels of the input; smaller detections are dropped. torchvision's."""


class TorchvisionDetector(BaseDetector):
    """A torchvision detection model, with its `transform` and its `backbone`, as a detector."""

    smallest_box = SMALLEST_BOX
    """Pixels of the input; smaller detections are dropped."""

    def prepare(self, images: Images) -> tuple[ImageList, list[tuple[int, int]], Tensor]:
        """Images as one normalised batch, the input size of each, and the scale from image to input, x and y.

        Frames of one size are resized together, and stay in their place when a step mixes portrait and landscape.
        """
        groups: dict[tuple[int, ...], list[int]] = {}
        for number, image in enumerate(images):
            groups.setdefault(image.shape, []).append(number)
        resized = [self._resize([images[number] for number in members]) for members in groups.values()]
        inputs: list[Tensor] = [torch.empty(0)] * len(images)
        for members, group in zip(groups.values(), resized, strict=True):
            for number, pixels in zip(members, group, strict=True):
                inputs[number] = pixels
        sizes = [(pixels.shape[-2], pixels.shape[-1]) for pixels in inputs]
        tensors = resized[0] if len(resized) == 1 and self._needs_no_padding(sizes[0]) else self._pad(inputs)
        scales = [[w / image.shape[1], h / image.shape[0]] for (h, w), image in zip(sizes, images, strict=True)]
        return ImageList(tensors, sizes), sizes, torch.tensor(scales, device=self.device)

    def _resize(self, images: Images) -> Tensor:
        """Normalise images of one size and resize them to the network's input."""
        transform = self.model.transform
        height, width, _ = images[0].shape
        pixels = torch.from_numpy(np.stack(images)).to(self.device)
        # A row at a time, with the colours of a pixel side by side as they come. In torchvision's order of arithmetic.
        mean, deviation = (
            torch.tensor(value, device=self.device).repeat(width)
            for value in (transform.image_mean, transform.image_std)
        )
        normal = pixels.flatten(start_dim=2).float().div_(255).sub_(mean).div_(deviation)
        normal = normal.reshape(*pixels.shape).permute(0, 3, 1, 2)
        scale = min(transform.min_size[-1] / min(height, width), transform.max_size / max(height, width))
        if scale == 1:
            return normal
        return functional.interpolate(
            normal, scale_factor=scale, mode="bilinear", recompute_scale_factor=True, align_corners=False
        )

    def _needs_no_padding(self, size: tuple[int, int]) -> bool:
        divisor: int = self.model.transform.size_divisible
        return size[0] % divisor == size[1] % divisor == 0

    def _pad(self, inputs: Sequence[Tensor]) -> Tensor:
        batch: Tensor = self.model.transform.batch_images(list(inputs), self.model.transform.size_divisible)
        return batch

    def features(self, tensors: Tensor) -> dict[str, Tensor]:
        """What the backbone computes for a batch, by level."""
        features = self.model.backbone(tensors)
        return {"0": features} if isinstance(features, Tensor) else features

    def describe(self, images: Images) -> NDArray[np.float32]:
        """The mean over each map of features, all levels side by side: images x features."""
        pooled = self.infer(self._pool_features, images)
        return np.stack(pooled) if pooled else np.zeros((0, 0), np.float32)

    def _pool_features(self, images: Images) -> list[NDArray[np.float32]]:
        levels = self.features(self.prepare(images)[0].tensors).values()
        return list(torch.cat([level.float().mean(dim=(2, 3)) for level in levels], dim=1).cpu().numpy())
