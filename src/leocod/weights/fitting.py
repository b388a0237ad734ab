"""Copies loaded weights into a detector, with every tensor accounted for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor

from leocod.errors import InvalidData
from leocod.networks.base import BACKGROUND_ROW, BaseDetector, ClassLayer
from leocod.text import one_line
from leocod.weights.names import BACKGROUND, find_row

LISTED = 5
"""Tensors named in a message."""


@dataclass(frozen=True)
class LoadedWeights:
    """Tensors from a source, under the names that the network has, and the classes of its class layers."""

    maker: Literal["leocod", "Detectron2", "torchvision"]
    origin: str
    """As a message names it."""
    tensors: Mapping[str, Tensor]
    rows: tuple[str, ...] = ()
    """The classes, in the order of the class layers; with the background where the source names it."""
    is_backbone: bool = False
    """Whether it is a classifier, which fills the backbone only."""
    beside: Mapping[str, Tensor] = field(default_factory=dict)
    """What the source says about the network around the tensors: pixel means, anchors."""
    epsilon: float | None = None
    """Added to the variances in training, where it is not the usual number."""
    stride_in_1x1: bool | None = None
    """Which convolution of a ResNet's block has the stride, where the source or its maker tells."""


@torch.no_grad()
def copy_into(detector: BaseDetector, loaded: LoadedWeights) -> None:
    """Copy all tensors, or those of the backbone, into the detector; of class layers, the rows of the same class."""
    state: dict[str, Tensor] = detector.model.state_dict()
    layers = {layer.name: layer for layer in detector.class_layers()}
    _check(detector, state, layers, loaded)
    for name, value in state.items():
        if name not in loaded.tensors:
            continue
        source = loaded.tensors[name].to(value).contiguous()
        if layer := layers.get(_parent_name(name)):
            _copy_rows(layer, value, detector.classes, source, loaded.rows)
        else:
            value.copy_(source)


def _copy_rows(
    layer: ClassLayer, value: Tensor, classes: Sequence[str], source: Tensor, source_rows: Sequence[str]
) -> None:
    source_classes = _drop_background(layer, source_rows)
    into, taken = [BACKGROUND_ROW], [BACKGROUND_ROW]
    for number, name in enumerate(classes):
        if (row := find_row(name, source_classes)) is not None:
            into.append(number)
            taken.append(row)
    value[layer.find_rows(into, len(classes))] = source[layer.find_rows(taken, len(source_classes))]


def _drop_background(layer: ClassLayer, rows: Sequence[str]) -> Sequence[str]:
    """The classes among named rows. Where a layer has no rows for the background, a row of that name is a class."""
    return rows[1:] if layer.background and rows[:1] == (BACKGROUND,) else rows


def _parent_name(name: str) -> str:
    return name.rpartition(".")[0]


def _check(
    detector: BaseDetector, state: Mapping[str, Tensor], layers: Mapping[str, ClassLayer], loaded: LoadedWeights
) -> None:
    """Raise unless the tensors are those of the detector; what differs is named."""
    tensors = loaded.tensors
    layout = detector.backbone_layout
    filled = tuple(layout.stages.values()) if loaded.is_backbone and layout else ("",)
    problems = {
        "missing": [name for name in state if name.startswith(filled) and name not in tensors],
        "unknown": [name for name in tensors if name not in state],
        "of another shape": [
            f"{name} ({_describe_shape(tensors[name])}, should be {_describe_shape(state[name])})"
            for name in tensors
            if name in state and not _fits(tensors[name], state[name], any_rows=_parent_name(name) in layers)
        ],
        "with values that are not finite numbers": [name for name in tensors if not _is_finite(tensors[name])],
    }
    sentences = [f"{problem}: {', '.join(_shorten(names))}" for problem, names in problems.items() if names]
    if sentences:
        raise InvalidData(f"{loaded.origin} does not fit this detector. Tensors {'; '.join(sentences)}.")
    if not loaded.is_backbone:
        _check_rows(layers, loaded)


def _fits(tensor: Tensor, wanted: Tensor, *, any_rows: bool) -> bool:
    first = 1 if any_rows else 0
    return tensor.dim() == wanted.dim() and tensor.shape[first:] == wanted.shape[first:]


def _check_rows(layers: Mapping[str, ClassLayer], loaded: LoadedWeights) -> None:
    """Raise unless every class layer has as many rows as there are names."""
    for name, value in loaded.tensors.items():
        if (layer := layers.get(_parent_name(name))) is None:
            continue
        names = _drop_background(layer, loaded.rows)
        if len(value) != layer.count_rows(len(names)):
            count = (len(value) / layer.groups - layer.background) / layer.each
            raise InvalidData(
                f"{loaded.origin}: {name} has rows for {count:g} classes but there are {len(names)} class names"
                f"{f' ({names[0]}, ...)' if names else ''}."
            )


def _is_finite(value: Tensor) -> bool:
    return not value.is_floating_point() or bool(value.isfinite().all())


def _describe_shape(value: Tensor) -> str:
    return " x ".join(map(str, value.shape)) or "one number"


def _shorten(names: Sequence[str]) -> Iterator[str]:
    yield from (one_line(name, 120) for name in names[:LISTED])
    if len(names) > LISTED:
        yield f"and {len(names) - LISTED} more"
