"""Weights in a file that cannot run code: safetensors, with the class names beside the tensors."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from torchvision.models.detection import FasterRCNN

from leocod.errors import InvalidData

CLASS_ROWS = "roi_heads.box_predictor.cls_score."
BOX_ROWS = "roi_heads.box_predictor.bbox_pred."


def save_weights(path: Path, model: FasterRCNN, classes: Sequence[str], about: Mapping[str, str]) -> None:
    """Write a model's weights, its class names and how it was made."""
    tensors = {name: value.contiguous() for name, value in model.state_dict().items()}
    save_file(tensors, path, metadata={"classes": json.dumps(list(classes)), **about})


def read_weights(path: Path) -> tuple[dict[str, Tensor], tuple[str, ...]]:
    """The tensors and the class names of a file."""
    if not path.is_file():
        raise InvalidData(f"No weights file {path}. Check `detector.weights`.")
    try:
        with safe_open(path, framework="pt") as file:
            names = (file.metadata() or {}).get("classes")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except (SafetensorError, OSError) as problem:
        raise InvalidData(f"{path} is not a readable safetensors file: {problem}") from problem
    if names is None:
        raise InvalidData(f"{path} has no class names in its metadata. Make such a file with `leocod pretrain`.")
    return tensors, tuple(json.loads(names))


@torch.no_grad()
def load_weights(model: FasterRCNN, classes: Sequence[str], path: Path) -> None:
    """Start from a file: everything but the last layer as it is there; of that, the rows of classes of the same name.

    The background's row comes along. Classes that the file does not know keep the row they were made with.
    """
    tensors, known = read_weights(path)
    own = model.state_dict()
    _check_fit(path, own, tensors)
    if len(tensors[f"{CLASS_ROWS}weight"]) != len(known) + 1:
        rows = len(tensors[f"{CLASS_ROWS}weight"]) - 1
        raise InvalidData(f"{path} has rows for {rows} classes but names {len(known)}.")
    for name, value in own.items():
        if name.startswith((CLASS_ROWS, BOX_ROWS)):
            width = 4 if name.startswith(BOX_ROWS) else 1
            _copy_rows(value, tensors[name], width, 0, 0)
            for number, label in enumerate(classes):
                if label in known:
                    _copy_rows(value, tensors[name], width, number + 1, known.index(label) + 1)
        else:
            value.copy_(tensors[name])


def _copy_rows(into: Tensor, source: Tensor, width: int, to: int, origin: int) -> None:
    into[to * width : (to + 1) * width] = source[origin * width : (origin + 1) * width]


def _check_fit(path: Path, own: Mapping[str, Tensor], tensors: Mapping[str, Tensor]) -> None:
    def shape(name: str, value: Tensor) -> tuple[int, ...]:
        return tuple(value.shape[1:] if name.startswith((CLASS_ROWS, BOX_ROWS)) else value.shape)

    missing = sorted(set(own) - set(tensors))
    extra = sorted(set(tensors) - set(own))
    unlike = sorted(name for name in set(own) & set(tensors) if shape(name, own[name]) != shape(name, tensors[name]))
    problems = [
        f"{what}: {', '.join(names[:5])}{' ...' if len(names) > 5 else ''}"
        for what, names in (("missing", missing), ("unknown", extra), ("of another shape", unlike))
        if names
    ]
    if problems:
        raise InvalidData(f"{path} does not fit this detector. Tensors {'; '.join(problems)}.")
