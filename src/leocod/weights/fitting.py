"""Fills a network from what a source brings, with every tensor accounted for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor, nn

from leocod.errors import InvalidData
from leocod.text import one_line
from leocod.weights.names import BACKGROUND, row_of

SCORES = "roi_heads.box_predictor.cls_score"
BOXES = "roi_heads.box_predictor.bbox_pred"
LOGITS = "head.classification_head.cls_logits"
BACKBONE = ("backbone.body.", "roi_heads.box_head.layer4.")
"""What an ImageNet classifier fills: all that it has been trained for. `layer4` is a C4 network's."""

SHOWN = 5
"""Tensors named in a message."""


@dataclass(frozen=True)
class LoadedWeights:
    """What a source brings: tensors under our names, and the class of each row of its last layer."""

    maker: Literal["leocod", "Detectron2", "torchvision"]
    origin: str
    """As a message names it."""
    tensors: Mapping[str, Tensor]
    rows: tuple[str, ...] = ()
    """The background is one of them, where it has a row."""
    is_backbone: bool = False
    """Whether it leaves all but the backbone as it was made."""
    beside: Mapping[str, Tensor] = field(default_factory=dict)
    """What it says of the network around the tensors: pixel means, anchors."""
    epsilon: float | None = None
    """Added to the variances when it was trained, where that is not what every network has."""
    stride_in_1x1: bool | None = None
    """Which convolution of a ResNet's block has the stride, where the source says it or its maker always does so."""


def rows_for(model_names: Mapping[str, Tensor], classes: Sequence[str]) -> tuple[str, ...]:
    """What each row of a last layer stands for in a network of these classes: two stages begin with the background."""
    return (BACKGROUND, *classes) if f"{SCORES}.weight" in model_names else tuple(classes)


def count_rows(tensors: Mapping[str, Tensor]) -> int | None:
    """How many classes, the background counted where it has a row, the last layer in a file tells apart."""
    if f"{SCORES}.weight" in tensors:
        return _rows(tensors[f"{SCORES}.weight"])
    if f"{LOGITS}.weight" in tensors:
        return _rows(tensors[f"{LOGITS}.weight"]) // max(1, _anchors(tensors))
    return None


def _rows(value: Tensor) -> int:
    # A single number, where a file has one in place of a layer, has none.
    return value.shape[0] if value.dim() else 0


@torch.no_grad()
def copy_into(model: nn.Module, classes: Sequence[str], brought: LoadedWeights) -> None:
    """Copy what was brought into the model: all of it, or the backbone; of class layers, rows of the same name."""
    own = model.state_dict()
    _check(own, brought)
    wanted = rows_for(own, classes)
    for name, value in own.items():
        if name not in brought.tensors:
            continue
        given = brought.tensors[name].to(value).contiguous()
        if not _is_class_layer(name):
            value.copy_(given)
            continue
        into, source = (_by_class(name, whole, anchors=_anchors(own)) for whole in (value, given))
        for number, label in enumerate(wanted):
            if (row := row_of(label, brought.rows)) is not None:
                into[number] = source[row]


def _is_class_layer(name: str) -> bool:
    return name.rsplit(".", 1)[0] in (SCORES, BOXES, LOGITS)


def _anchors(tensors: Mapping[str, Tensor]) -> int:
    """Anchors a cell of a one-stage head: it has four box outputs for each."""
    boxes = tensors.get("head.regression_head.bbox_reg.bias")
    return 0 if boxes is None else _rows(boxes) // 4


def _by_class(name: str, rows: Tensor, *, anchors: int) -> Tensor:
    """A view with the classes first. One stage has, for every anchor, all classes; two have all sides of a class."""
    if name.startswith(LOGITS):
        return rows.view(anchors, len(rows) // anchors, *rows.shape[1:]).transpose(0, 1)
    sides = 4 if name.startswith(BOXES) else 1
    return rows.view(len(rows) // sides, sides, *rows.shape[1:])


def _check(own: Mapping[str, Tensor], brought: LoadedWeights) -> None:
    given = brought.tensors
    expected = [name for name in own if name.startswith(BACKBONE) or not brought.is_backbone]
    problems = {
        "missing": [name for name in expected if name not in given],
        "unknown": [name for name in given if name not in own],
        "of another shape": [f"{name} {how}" for name in given if name in own and (how := _unlike(name, own, given))],
        "with values that are not finite numbers": [name for name in given if not _is_finite(given[name])],
    }
    told = [f"{what}: {', '.join(_shown(names))}" for what, names in problems.items() if names]
    if told:
        raise InvalidData(f"{brought.origin} does not fit this detector. Tensors {'; '.join(told)}.")
    if not brought.is_backbone:
        _check_rows(own, brought)


def _unlike(name: str, own: Mapping[str, Tensor], given: Mapping[str, Tensor]) -> str:
    """How a tensor differs from the network's, in words; nothing when it fits. Of class layers, but for the rows."""
    here, there = own[name], given[name]
    start = 1 if _is_class_layer(name) else 0
    if here.dim() == there.dim() and here.shape[start:] == there.shape[start:]:
        return ""
    return f"({_size(there)}, should be {_size(here)})"


def _check_rows(own: Mapping[str, Tensor], brought: LoadedWeights) -> None:
    """Every class layer has as many rows as the classes need."""
    each = {SCORES: 1, BOXES: 4, LOGITS: _anchors(own)}
    for name, value in brought.tensors.items():
        if _is_class_layer(name) and len(value) != len(brought.rows) * each[name.rsplit(".", 1)[0]]:
            rows = len(value) / max(1, each[name.rsplit(".", 1)[0]])
            raise InvalidData(
                f"{brought.origin}: {name} has rows for {rows:g} classes but there are {len(brought.rows)} names "
                f"({brought.rows[0]}, ...)."
            )


def _is_finite(value: Tensor) -> bool:
    return not value.is_floating_point() or bool(value.isfinite().all())


def _size(value: Tensor) -> str:
    return " x ".join(map(str, value.shape)) or "one number"


def _shown(names: Sequence[str]) -> Iterator[str]:
    yield from (one_line(name, 120) for name in names[:SHOWN])
    if len(names) > SHOWN:
        yield f"and {len(names) - SHOWN} more"
