"""Detectron2's Faster R-CNN R50-C4, the paper's start: its names, its rows and its input in terms of ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from leocod.errors import InvalidData
from leocod.weights.fitting import BOXES, SCORES, LoadedWeights, count_rows
from leocod.weights.names import BACKGROUND, VOC, coco

ARCHITECTURE = "resnet50-c4"

CELL_ANCHORS = "proposal_generator.anchor_generator.cell_anchors.0"
PIXEL_MEAN = "pixel_mean"
PIXEL_STD = "pixel_std"
BESIDE = (CELL_ANCHORS, PIXEL_MEAN, PIXEL_STD)
"""In some files: no weights, but what the network around them must be."""

_PARTS = {
    "backbone.stem": "backbone.body",
    "backbone.res2": "backbone.body.layer1",
    "backbone.res3": "backbone.body.layer2",
    "backbone.res4": "backbone.body.layer3",
    "roi_heads.res5": "roi_heads.box_head.layer4",
    "proposal_generator.rpn_head.conv": "rpn.head.conv.0.0",
    "proposal_generator.rpn_head.objectness_logits": "rpn.head.cls_logits",
    "proposal_generator.rpn_head.anchor_deltas": "rpn.head.bbox_pred",
    "roi_heads.box_predictor.cls_score": SCORES,
    "roi_heads.box_predictor.bbox_pred": BOXES,
}
_CONVOLUTION = re.compile(r"(?P<block>(?:\.\d+)?)\.(?P<layer>conv\d|shortcut)(?P<norm>\.norm)?\.(?P<kind>\w+)")
_STEM = "backbone.body.conv1.weight"


def is_detectron2(names: Mapping[str, Any]) -> bool:
    """By the names that only Detectron2 uses."""
    return any(name.startswith(("proposal_generator.", "backbone.res2.")) for name in names)


def our_name(theirs: str) -> str:
    """The name of a tensor in our network; one that is not Detectron2's stays, and will be told as unknown.

    >>> our_name("backbone.res2.0.shortcut.norm.running_var")
    'backbone.body.layer1.0.downsample.1.running_var'
    """
    for part, ours in _PARTS.items():
        if theirs.startswith(f"{part}."):
            rest = theirs.removeprefix(part)
            if not (found := _CONVOLUTION.fullmatch(rest)):
                return ours + rest
            normalises = found["norm"] is not None
            if found["layer"] == "shortcut":
                layer = f"downsample.{int(normalises)}"
            else:
                layer = found["layer"].replace("conv", "bn") if normalises else found["layer"]
            return f"{ours}{found['block']}.{layer}.{found['kind']}"
    return theirs


def from_detectron2(origin: str, content: Mapping[str, Tensor], names: Sequence[str] | None) -> LoadedWeights:
    """Red first, the background first."""
    tensors = {our_name(name): value for name, value in content.items() if name not in BESIDE}
    if (stem := tensors.get(_STEM)) is not None and stem.dim() == 4:
        # Detectron2 reads images blue first.
        tensors[_STEM] = stem.flip(1)
    for name in (f"{layer}.{kind}" for layer in (SCORES, BOXES) for kind in ("weight", "bias")):
        # What has no rows does not fit, and will be told so.
        if (rows := tensors.get(name)) is None or rows.dim() == 0:
            continue
        # Its background is the last class, and has no box: ours has one that is never looked at.
        background = rows[-1:] if name.startswith(SCORES) else torch.zeros_like(rows[:4])
        tensors[name] = torch.cat([background, rows[:-1] if name.startswith(SCORES) else rows])
    beside = {name: content[name] for name in BESIDE if name in content}
    if f"{SCORES}.weight" not in tensors:
        raise InvalidData(f"{origin} has no {SCORES}.weight. It should be a whole Faster R-CNN R50-C4 of Detectron2.")
    rows_named = (BACKGROUND, *_classes(origin, (count_rows(tensors) or 1) - 1, names))
    return LoadedWeights("Detectron2", origin, tensors, rows_named, beside=beside, stride_in_1x1=True)


def _classes(origin: str, count: int, names: Sequence[str] | None) -> Sequence[str]:
    known = {len(VOC): VOC, len(coco()): coco()}
    if names is not None:
        return names
    if count not in known:
        raise InvalidData(
            f"{origin} does not name its {count} classes. Known without names are VOC's 20 and COCO's 80: give them, "
            "`leocod.weights.start(..., names=[...])`."
        )
    return known[count]


def check_network(model: nn.Module, brought: LoadedWeights, *, architecture: str) -> None:
    """Raise unless the network around the weights is the one they were trained in."""
    if architecture != ARCHITECTURE:
        raise InvalidData(
            f"{brought.origin} is a Faster R-CNN R50-C4 of Detectron2, which {architecture} is not. "
            f"Set `detector.name=faster_rcnn` and `detector.backbone={ARCHITECTURE}`."
        )
    network: Any = model
    scale = torch.tensor([255.0])
    ours = {
        PIXEL_MEAN: torch.tensor(network.transform.image_mean).flip(0) * scale,
        PIXEL_STD: torch.tensor(network.transform.image_std).flip(0) * scale,
        CELL_ANCHORS: network.rpn.anchor_generator.cell_anchors[0],
    }
    for name, theirs in brought.beside.items():
        own = ours[name].float()
        if theirs.numel() != own.numel() or not torch.allclose(theirs.float().reshape(own.shape), own, atol=1e-2):
            raise InvalidData(
                f"{brought.origin} was trained with {name} {_short(theirs)}, and this network has {_short(own)}: "
                "its weights would mean something else here. Use a file of the standard R50-C4 configuration."
            )


def _short(value: Tensor) -> str:
    numbers = [f"{number:.4g}" for number in value.flatten()[:4].tolist()]
    return f"[{', '.join(numbers)}{', ...' if value.numel() > 4 else ''}]"
