"""What every torchvision detection model here has in common: its state, its device, its input, and growing."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torchvision.models.detection.image_list import ImageList

from leocod.errors import InvalidData
from leocod.types import Detections, Images

Precision = Literal["float32", "bfloat16", "float16"]

SMALLEST_BOX = 1e-2
"""Pixels of the input; smaller detections are dropped. torchvision's."""


class Network(ABC):
    """A torchvision model as a detector: all but its losses and what it makes of its outputs."""

    def __init__(self, model: nn.Module, classes: Sequence[str], *, learning_rate: float, seed: int = 0) -> None:
        self.model: Any = model.train()
        self.classes = tuple(classes)
        self.learning_rate = learning_rate
        self.seed = seed
        self.precision: Precision = "float32"

    smallest_box = SMALLEST_BOX
    """Pixels of the input; smaller detections are dropped."""
    frames_at_once: int | None = None
    """Frames that go through the network together; None: as many as there are."""

    def predict(self, images: Images) -> list[Detections]:
        if not images:
            return []
        was_training = self.model.training
        self.model.eval()
        size = self.frames_at_once or len(images)
        try:
            with torch.inference_mode(), self.autocast():
                parts = [self._detect(images[first : first + size]) for first in range(0, len(images), size)]
            return [found for part in parts for found in part]
        finally:
            self.model.train(was_training)

    @abstractmethod
    def _detect(self, images: Images) -> list[Detections]: ...

    @abstractmethod
    def _class_layers(self) -> Sequence[ClassLayer]:
        """Every layer that has outputs for each class."""

    # -- state

    def parameters(self) -> Iterator[nn.Parameter]:
        return (parameter for _, parameter in self.named_parameters())

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        return ((name, value) for name, value in self.model.named_parameters() if value.requires_grad)

    def state_dict(self) -> dict[str, Any]:
        weights = {name: value.clone() for name, value in self.model.state_dict().items()}
        return {"weights": weights, "classes": list(self.classes)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        known, saved = list(self.classes), list(state["classes"])
        if saved[: len(known)] != known:
            raise InvalidData(f"A state for the classes {_named(saved)} cannot go on with {_named(known)}.")
        self.extend_classes(saved[len(known) :])
        self.model.load_state_dict(state["weights"])

    def clone(self) -> Self:
        twin = copy.copy(self)
        twin.model = copy.deepcopy(self.model)
        return twin

    @torch.no_grad()
    def follow(self, other: Self, *, keep: float) -> None:
        """Move all floating-point state towards the other's: own x keep + other's x (1 - keep); copy the rest."""
        theirs = other.model.state_dict()
        pairs = [(own, theirs[name]) for name, own in self.model.state_dict().items()]
        moving = [pair for pair in pairs if pair[0].is_floating_point()]
        torch._foreach_lerp_([own for own, _ in moving], [their for _, their in moving], 1 - keep)
        for own, their in pairs:
            if not own.is_floating_point():
                own.copy_(their)

    def to(self, device: str, precision: Precision = "float32", frames_at_once: int | None = None) -> Self:
        self.model.to(device)
        self.precision = precision
        self.frames_at_once = frames_at_once or self.frames_at_once
        return self

    @property
    def device(self) -> torch.device:
        """Where it is."""
        found: torch.device = next(self.model.parameters()).device
        return found

    def autocast(self) -> torch.autocast:
        """Products of matrices in the chosen precision; weights, boxes and losses stay float32."""
        low = torch.float16 if self.precision == "float16" else torch.bfloat16
        return torch.autocast(self.device.type, dtype=low, enabled=self.precision != "float32")

    # -- classes that appear later

    @torch.no_grad()
    def extend_classes(self, names: Sequence[str]) -> dict[str, Tensor]:
        """Add classes at the end of the list. Nothing that was learnt changes.

        Returns, for every parameter that has grown, where each of its old rows is now. The parameters stay the same
        objects, so that an optimiser keeps hold of them. No loss may be waiting for its gradient.
        """
        if not names:
            return {}
        twice = [name for name in names if name in self.classes or list(names).count(name) > 1]
        if twice:
            raise InvalidData(f"The class '{twice[0]}' is there already.")
        # Depends on the place in the list alone: fast and slow learner get the same rows, and so does every process.
        random = torch.Generator().manual_seed(self.seed + len(self.classes))
        moved: dict[str, Tensor] = {}
        for rows in self._class_layers():
            where, length = rows.after(len(self.classes), len(names))
            for name, old in rows.layer.named_parameters(recurse=False):
                new = torch.empty(length, *old.shape[1:])
                fresh = new.fill_(rows.bias) if name == "bias" else new.normal_(0, rows.spread, generator=random)
                grown = fresh.to(old)
                grown[where.to(old.device)] = old
                old.data, old.grad = grown, None
                moved[f"{rows.name}.{name}"] = where
            for attribute in ("out_features", "out_channels"):
                if hasattr(rows.layer, attribute):
                    setattr(rows.layer, attribute, length)
        self.classes = (*self.classes, *names)
        return moved

    # -- the input

    def prepare(self, images: Images) -> tuple[ImageList, list[tuple[int, int]], Tensor]:
        """Images as one normalised batch, the input size of each, and the scale from image to input, x and y.

        Frames of one size are resized together, and stay in their place when a step mixes portrait and landscape.
        """
        groups: dict[tuple[int, ...], list[int]] = {}
        for number, image in enumerate(images):
            groups.setdefault(image.shape, []).append(number)
        resized = [self._resized([images[number] for number in members]) for members in groups.values()]
        inputs: list[Tensor] = [torch.empty(0)] * len(images)
        for members, group in zip(groups.values(), resized, strict=True):
            for number, one in zip(members, group, strict=True):
                inputs[number] = one
        sizes = [(one.shape[-2], one.shape[-1]) for one in inputs]
        tensors = resized[0] if len(resized) == 1 and self._is_whole(sizes[0]) else self._padded(inputs)
        scales = [[w / image.shape[1], h / image.shape[0]] for (h, w), image in zip(sizes, images, strict=True)]
        return ImageList(tensors, sizes), sizes, torch.tensor(scales, device=self.device)

    def _resized(self, images: Images) -> Tensor:
        """Images of one size, normalised, in the size that the network wants."""
        transform = self.model.transform
        height, width, _ = images[0].shape
        pixels = torch.from_numpy(np.stack(images)).to(self.device)
        # A row at a time, with the colours of a pixel side by side as they come. In torchvision's order of arithmetic.
        mean, deviation = (
            torch.tensor(one, device=self.device).repeat(width) for one in (transform.image_mean, transform.image_std)
        )
        normal = pixels.flatten(start_dim=2).float().div_(255).sub_(mean).div_(deviation)
        normal = normal.reshape(*pixels.shape).permute(0, 3, 1, 2)
        scale = min(transform.min_size[-1] / min(height, width), transform.max_size / max(height, width))
        if scale == 1:
            return normal
        return functional.interpolate(
            normal, scale_factor=scale, mode="bilinear", recompute_scale_factor=True, align_corners=False
        )

    def _is_whole(self, size: tuple[int, int]) -> bool:
        """Whether a picture of this size needs no padding."""
        whole: int = self.model.transform.size_divisible
        return size[0] % whole == size[1] % whole == 0

    def _padded(self, inputs: Sequence[Tensor]) -> Tensor:
        batched: Tensor = self.model.transform.batch_images(list(inputs), self.model.transform.size_divisible)
        return batched

    def features(self, tensors: Tensor) -> dict[str, Tensor]:
        """What the backbone makes of a batch, by level."""
        features = self.model.backbone(tensors)
        return {"0": features} if isinstance(features, Tensor) else features


@dataclass(frozen=True)
class ClassLayer:
    """A layer with outputs for each class, and how they lie in it: groups x (background, then `each` for a class)."""

    name: str
    layer: nn.Module
    each: int = 1
    background: int = 0
    groups: int = 1
    spread: float = 0.01
    """Standard deviation of the weights of a new class."""
    bias: float = 0.0
    """Of a new class."""

    def after(self, classes: int, more: int) -> tuple[Tensor, int]:
        """Where each row is, and how many there are, once there are more classes."""
        before, now = (self.background + count * self.each for count in (classes, classes + more))
        group = torch.arange(self.groups)[:, None] * now
        return (group + torch.arange(before)).flatten(), self.groups * now


def _named(classes: Sequence[str]) -> str:
    return ", ".join(classes[:5]) + (" ..." if len(classes) > 5 else "") if classes else "(none)"
