"""A step of Efficient-CLS the plain way, as anyone would write it with torchvision: what `bench/step.py` compares with.

`model(images, targets)` once for labelled, pseudo-labelled and replayed frames, augmentation frame by frame through
PIL, and the slow learner as a loop over a deep copy of its state dict. It learns the same things in the same updates.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.faster_rcnn import TwoMLPHead
from torchvision.ops import batched_nms
from torchvision.transforms.functional import to_tensor

from leocod.networks.region_head import RegionHead
from leocod.networks.roi_align import RoIAlign
from leocod.plugins.augmentation import CROP, DEGREES, FLIP
from leocod.types import LabelledFrame, Step

KEEP, SURE, OVERLAP = 0.99, 0.7, 0.5

Pair = tuple[Image.Image, dict[str, Tensor]]


class Plain:
    """A fast and a slow learner."""

    def __init__(self, model: FasterRCNN, *, learning_rate: float) -> None:
        self.fast: Any = model.train()
        self.slow: Any = copy.deepcopy(model).eval()
        self.optimizer = torch.optim.Adam([one for one in model.parameters() if one.requires_grad], lr=learning_rate)
        self.random = np.random.default_rng(0)

    def learn(self, step: Step, replayed: Sequence[LabelledFrame]) -> None:
        """Two updates, then the slow learner follows."""
        labelled = [_pair(*pair) for pair in step.labelled("human")]
        pictures = [Image.fromarray(frame.image()) for frame in step.unlabelled]
        pseudo = [
            self.augmented(picture, target) for picture, target in zip(pictures, self.found(pictures), strict=True)
        ]
        sure, guessed = self.losses(labelled), self.losses(pseudo)
        regions = {name: value for name, value in guessed.items() if name in ("loss_classifier", "loss_box_reg")}
        count = len(labelled) + len(pseudo)
        self.update(sum(sure.values()) * (len(labelled) / count) + sum(regions.values()) * (len(pseudo) / count))
        self.update(sum(self.losses([_pair(*pair) for pair in replayed]).values()))
        self.follow()

    def losses(self, pairs: Sequence[Pair]) -> dict[str, Any]:
        """Of one group of frames."""
        losses: dict[str, Any] = self.fast(
            [to_tensor(picture) for picture, _ in pairs], [target for _, target in pairs]
        )
        return losses

    def update(self, loss: Any) -> None:
        """One of the optimiser."""
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def found(self, pictures: Sequence[Image.Image]) -> list[dict[str, Tensor]]:
        """Pseudo labels."""
        with torch.no_grad():
            found = self.slow([to_tensor(picture) for picture in pictures])
        sure = [{name: value[one["scores"] > SURE] for name, value in one.items()} for one in found]
        best = [batched_nms(one["boxes"], one["scores"], one["labels"], OVERLAP) for one in sure]
        return [
            {"boxes": one["boxes"][kept], "labels": one["labels"][kept]} for one, kept in zip(sure, best, strict=True)
        ]

    def augmented(self, picture: Image.Image, target: dict[str, Tensor]) -> Pair:
        """Crop, rotate, flip."""
        width, height = picture.size
        across, down = round(width * CROP), round(height * CROP)
        left, top = int(self.random.integers(width - across + 1)), int(self.random.integers(height - down + 1))
        angle = float(self.random.uniform(-DEGREES, DEGREES))
        picture = picture.crop((left, top, left + across, top + down)).rotate(angle, Image.Resampling.BILINEAR)
        boxes = target["boxes"].numpy() - np.array([left, top, left, top], np.float32)
        boxes = _turned(boxes.clip(0, [across, down, across, down]), angle, across, down)
        if self.random.random() < FLIP:
            picture = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
            boxes = np.stack([across - boxes[:, 2], boxes[:, 1], across - boxes[:, 0], boxes[:, 3]], axis=1)
        boxes = boxes.clip(0, [across, down, across, down]).astype(np.float32)
        kept = ((boxes[:, 2:] - boxes[:, :2]) >= 1).all(axis=1)
        return picture, {"boxes": torch.from_numpy(boxes[kept]), "labels": target["labels"][torch.from_numpy(kept)]}

    def follow(self) -> None:
        """The slow learner moves."""
        state, towards = copy.deepcopy(self.slow.state_dict()), self.fast.state_dict()
        for name, value in state.items():
            state[name] = KEEP * value + (1 - KEEP) * towards[name] if value.is_floating_point() else towards[name]
        self.slow.load_state_dict(state)


def in_torchvisions_parts(model: FasterRCNN) -> FasterRCNN:
    """With torchvision's RoIAlign and region head where this package has parts of its own."""
    heads = model.roi_heads
    pool, head = heads.box_roi_pool, heads.box_head
    if isinstance(head, RegionHead):
        heads.box_head = TwoMLPHead(head.fc6.in_features, head.fc6.out_features)
        heads.box_head.load_state_dict(head.state_dict())
    if pool.every > 1:
        # All bins are pooled, and the head's first convolutions leave three of four out.
        first = head.layer4[0]
        first.conv1.stride = first.downsample[0].stride = (pool.every, pool.every)
        pool = RoIAlign(pool.strides, pool.size, samples=pool.samples, aligned=pool.aligned)
    heads.box_roi_pool = pool.operator
    return model


def _pair(frame: Any, labels: Any) -> Pair:
    target = {"boxes": torch.tensor(labels.boxes), "labels": torch.tensor(labels.classes) + 1}
    return Image.fromarray(frame.image()), target


def _turned(boxes: NDArray[np.float32], angle: float, width: int, height: int) -> NDArray[np.float32]:
    """The boxes around boxes that were turned about the middle of the picture."""
    middle = np.array([width / 2, height / 2])
    corners = boxes[:, [[0, 1], [2, 1], [2, 3], [0, 3]]] - middle
    sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    turned = corners @ np.array([[cosine, -sine], [sine, cosine]]) + middle
    return np.concatenate([turned.min(axis=1), turned.max(axis=1)], axis=1).astype(np.float32)
