"""What a `weights` string means, and starting a network from it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from leocod.errors import InvalidData
from leocod.text import one_line
from leocod.weights.detectron2 import ARCHITECTURE, check_network, from_detectron2, is_detectron2
from leocod.weights.fitting import LoadedWeights, copy_into
from leocod.weights.names import classes_of
from leocod.weights.pickles import read_arrays
from leocod.weights.saved import from_checkpoint, from_run, from_safetensors
from leocod.weights.torch_files import load_tensors
from leocod.weights.torchvision_files import (
    adapted,
    classes_of_weights,
    fetched,
    from_torchvision,
    is_named,
    is_torchvision,
    weights_of,
)


def start(
    model: nn.Module,
    classes: Sequence[str],
    source: str,
    *,
    architecture: str,
    names: Sequence[str] | None = None,
    stride_in_1x1: bool = True,
) -> None:
    """Fill a model in place from what `source` names.

    `names` are the classes of the source, where it does not say them itself. `stride_in_1x1` tells which convolution of
    a `resnet50-c4` block has the stride: no tensor shows it, and weights for the other one would be of no use.
    """
    brought = read(source, names=names)
    if architecture == ARCHITECTURE and brought.stride_in_1x1 not in (None, stride_in_1x1):
        where = "1x1" if brought.stride_in_1x1 else "3x3"
        raise InvalidData(
            f"{brought.origin} was trained with the stride in the {where} convolution of a block, and this network has "
            f"it in the other. Set `detector.stride_in_1x1={str(brought.stride_in_1x1).lower()}`."
        )
    if brought.maker == "Detectron2":
        check_network(model, brought, architecture=architecture)
    elif brought.maker == "torchvision":
        brought = adapted(brought, model)
    copy_into(model, classes, brought)


def known_classes(source: str | None, *, architecture: str, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """The classes that `start` would find in a source: none with a backbone, or with no source at all."""
    if source is None:
        return ()
    if is_named(source):
        return classes_of(classes_of_weights(weights_of(source)))
    return classes_of(read(source, names=names).rows)


def read(source: str, *, names: Sequence[str] | None = None) -> LoadedWeights:
    """What a source holds. Its ending tells how it is read, and the names in it what it is."""
    if is_named(source):
        return _from_tensors(fetched(weights_of(source)), names)
    path = Path(source)
    if path.is_dir():
        return from_run(path)
    if not path.is_file():
        raise InvalidData(f"No weights file {one_line(path)}. {_choices()}")
    ending = path.suffix.lower()
    if ending == ".safetensors":
        return from_safetensors(path)
    if ending in (".pt", ".pth"):
        return _from_tensors(path, names)
    if ending == ".pkl":
        arrays = {name: torch.tensor(value) for name, value in read_arrays(path).items()}
        if not is_detectron2(arrays):
            raise InvalidData(_unknown(path, arrays))
        return from_detectron2(one_line(path), arrays, names)
    raise InvalidData(f"{one_line(path)} has the unknown ending '{one_line(ending, 60)}'. {_choices()}")


def _from_tensors(path: Path, names: Sequence[str] | None) -> LoadedWeights:
    content = load_tensors(path)
    if "learner" in content:
        return from_checkpoint(path, content)
    tensors = _state_dict(path, content)
    if is_detectron2(tensors):
        return from_detectron2(one_line(path), tensors, names)
    if is_torchvision(tensors):
        return from_torchvision(path, tensors, names)
    raise InvalidData(_unknown(path, tensors))


def _state_dict(path: Path, content: dict[str, Any]) -> dict[str, Tensor]:
    """The tensors of a state dict, bare or under `model`, where training scripts save it beside their own state."""
    inner = content.get("model", content)
    if not isinstance(inner, dict) or not inner:
        raise InvalidData(f"{one_line(path)} holds no state dict, neither bare nor under 'model'.")
    strangers = [name for name, value in inner.items() if not isinstance(name, str) or not isinstance(value, Tensor)]
    if strangers:
        raise InvalidData(
            f"{one_line(path)}: '{one_line(strangers[0], 100)}' is not a tensor; expected a state dict, bare or under "
            "'model'."
        )
    return inner


def _unknown(path: Path, tensors: dict[str, Tensor]) -> str:
    such = one_line(next(iter(tensors)), 100)
    return f"{one_line(path)} holds tensors such as '{such}', of no network that is known here. {_choices()}"


def _choices() -> str:
    return (
        "`detector.weights` may be a .safetensors file, a run directory or its checkpoint, a .pkl of Detectron2's "
        "R50-C4, a .pth state dict of torchvision, or a name such as FasterRCNN_ResNet50_FPN_Weights.COCO_V1."
    )
