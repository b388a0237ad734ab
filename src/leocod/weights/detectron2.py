"""Detectron2's Faster R-CNN R50-C4, the paper's start: converts its names, its rows and its input to ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from leocod.errors import InvalidData
from leocod.networks.base import BaseDetector
from leocod.weights.fitting import LoadedWeights
from leocod.weights.names import BACKGROUND, COCO, VOC

ARCHITECTURE = "resnet50-c4"

CELL_ANCHORS = "proposal_generator.anchor_generator.cell_anchors.0"
PIXEL_MEAN = "pixel_mean"
PIXEL_STD = "pixel_std"
BESIDE = (CELL_ANCHORS, PIXEL_MEAN, PIXEL_STD)
"""In some files: no weights, but what the network around them must have."""

SCORES = "roi_heads.box_predictor.cls_score"
BOXES = "roi_heads.box_predictor.bbox_pred"
"""The class layers, under the same names there and here."""
_MODULES = {
    "backbone.stem": "backbone.body",
    "backbone.res2": "backbone.body.layer1",
    "backbone.res3": "backbone.body.layer2",
    "backbone.res4": "backbone.body.layer3",
    "roi_heads.res5": "roi_heads.box_head.layer4",
    "proposal_generator.rpn_head.conv": "rpn.head.conv.0.0",
    "proposal_generator.rpn_head.objectness_logits": "rpn.head.cls_logits",
    "proposal_generator.rpn_head.anchor_deltas": "rpn.head.bbox_pred",
    SCORES: SCORES,
    BOXES: BOXES,
}
_CONVOLUTION = re.compile(r"(?P<block>(?:\.\d+)?)\.(?P<layer>conv\d|shortcut)(?P<norm>\.norm)?\.(?P<kind>\w+)")
_STEM = "backbone.body.conv1.weight"


def is_detectron2(names: Mapping[str, Any]) -> bool:
    """Whether the tensors have names that only Detectron2 uses."""
    return any(name.startswith(("proposal_generator.", "backbone.res2.")) for name in names)


def translate(name: str) -> str:
    """The name of a Detectron2 tensor in our network. Other names stay as they are, and will not fit.

    >>> translate("backbone.res2.0.shortcut.norm.running_var")
    'backbone.body.layer1.0.downsample.1.running_var'
    """
    for module, ours in _MODULES.items():
        if name.startswith(f"{module}."):
            rest = name.removeprefix(module)
            if not (match := _CONVOLUTION.fullmatch(rest)):
                return ours + rest
            normalises = match["norm"] is not None
            if match["layer"] == "shortcut":
                layer = f"downsample.{int(normalises)}"
            else:
                layer = match["layer"].replace("conv", "bn") if normalises else match["layer"]
            return f"{ours}{match['block']}.{layer}.{match['kind']}"
    return name


def convert_detectron2(origin: str, content: Mapping[str, Tensor], names: Sequence[str] | None) -> LoadedWeights:
    """Convert to our names, colours with red first, and rows with the background first."""
    tensors = {translate(name): value for name, value in content.items() if name not in BESIDE}
    if (stem := tensors.get(_STEM)) is not None and stem.dim() == 4:
        # Detectron2 reads images blue first.
        tensors[_STEM] = stem.flip(1)
    for name in (f"{layer}.{kind}" for layer in (SCORES, BOXES) for kind in ("weight", "bias")):
        # A tensor without rows does not fit; the error comes later.
        if (rows := tensors.get(name)) is None or rows.dim() == 0:
            continue
        # Its background is the last class and has no box rows. Ours has some, which are never used.
        background = rows[-1:] if name.startswith(SCORES) else torch.zeros_like(rows[:4])
        tensors[name] = torch.cat([background, rows[:-1] if name.startswith(SCORES) else rows])
    beside = {name: content[name] for name in BESIDE if name in content}
    if f"{SCORES}.weight" not in tensors:
        raise InvalidData(f"{origin} has no {SCORES}.weight. It should be a whole Faster R-CNN R50-C4 of Detectron2.")
    scores = tensors[f"{SCORES}.weight"]
    count = len(scores) - 1 if scores.dim() else 0
    named = (BACKGROUND, *_name_classes(origin, max(count, 0), names))
    return LoadedWeights("Detectron2", origin, tensors, named, beside=beside, stride_in_1x1=True)


def _name_classes(origin: str, count: int, names: Sequence[str] | None) -> Sequence[str]:
    known = {len(VOC): VOC, len(COCO): COCO}
    if names is not None:
        return names
    if count not in known:
        raise InvalidData(
            f"{origin} does not name its {count} classes. Without names, only VOC's 20 and COCO's 80 are known. "
            "Name the classes: `leocod.weights.load_weights(..., names=[...])`."
        )
    return known[count]


def check_network(detector: BaseDetector, loaded: LoadedWeights) -> None:
    """Raise unless the detector is the network that the weights were trained in."""
    layout = detector.backbone_layout
    if layout is None or layout.architecture != ARCHITECTURE:
        architecture = layout.architecture if layout else type(detector).__name__
        raise InvalidData(
            f"{loaded.origin} is a Faster R-CNN R50-C4 of Detectron2, which {architecture} is not. "
            f"Set `detector.name=faster_rcnn` and `detector.backbone={ARCHITECTURE}`."
        )
    scale = torch.tensor([255.0])
    wanted = {
        PIXEL_MEAN: torch.tensor(layout.image_mean).flip(0) * scale,
        PIXEL_STD: torch.tensor(layout.image_std).flip(0) * scale,
        CELL_ANCHORS: detector.model.rpn.anchor_generator.cell_anchors[0],
    }
    for name, value in loaded.beside.items():
        own = wanted[name].float()
        if value.numel() != own.numel() or not torch.allclose(value.float().reshape(own.shape), own, atol=1e-2):
            raise InvalidData(
                f"{loaded.origin} was trained with {name} {_shorten(value)}, and this network has {_shorten(own)}: "
                "its weights would mean something else here. Use a file of the standard R50-C4 configuration."
            )


def _shorten(value: Tensor) -> str:
    numbers = [f"{number:.4g}" for number in value.flatten()[:4].tolist()]
    return f"[{', '.join(numbers)}{', ...' if value.numel() > 4 else ''}]"
