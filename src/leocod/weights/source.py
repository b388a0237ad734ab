"""What a `weights` string means, and loading a detector's weights from it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from leocod.errors import InvalidData
from leocod.networks.base import BaseDetector
from leocod.text import one_line
from leocod.weights.detectron2 import check_network, convert_detectron2, is_detectron2
from leocod.weights.fitting import LoadedWeights, copy_into
from leocod.weights.names import select_classes
from leocod.weights.pickles import read_arrays
from leocod.weights.saved import read_checkpoint, read_run, read_safetensors
from leocod.weights.torch_files import load_tensors
from leocod.weights.torchvision_files import (
    adapt,
    convert_torchvision,
    download,
    find_weights,
    is_torchvision,
    is_weights_name,
    read_rows,
)

CHOICES = (
    "`detector.weights` may be a .safetensors file, a run directory or its checkpoint, a .pkl of Detectron2's "
    "R50-C4, a .pth state dict of torchvision, or a name such as FasterRCNN_ResNet50_FPN_Weights.COCO_V1."
)


def load_weights(detector: BaseDetector, source: str, *, names: Sequence[str] | None = None) -> None:
    """Load the weights that `source` names into a detector, in place.

    `names`: the classes of the source, where it does not name them itself.
    """
    loaded = read_source(source, names=names)
    layout = detector.backbone_layout
    # No tensor shows which convolution has the stride, and weights for the other one would be of no use.
    if layout and layout.stride_in_1x1 is not None and loaded.stride_in_1x1 not in (None, layout.stride_in_1x1):
        where = "1x1" if loaded.stride_in_1x1 else "3x3"
        raise InvalidData(
            f"{loaded.origin} was trained with the stride in the {where} convolution of a block, and this network has "
            f"it in the other. Set `detector.stride_in_1x1={str(loaded.stride_in_1x1).lower()}`."
        )
    if loaded.maker == "Detectron2":
        check_network(detector, loaded)
    elif loaded.maker == "torchvision":
        loaded = adapt(loaded, detector)
    copy_into(detector, loaded)


def read_classes(source: str | None, *, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """The classes that a source has weights for: none for a classifier, or without a source."""
    if source is None:
        return ()
    if is_weights_name(source):
        return select_classes(read_rows(find_weights(source)))
    return select_classes(read_source(source, names=names).rows)


def read_source(source: str, *, names: Sequence[str] | None = None) -> LoadedWeights:
    """Read a source. Its ending decides how it is read, and the names of its tensors what it is."""
    if is_weights_name(source):
        return _read_tensors(download(find_weights(source)), names)
    path = Path(source)
    if path.is_dir():
        return read_run(path)
    if not path.is_file():
        raise InvalidData(f"No weights file {one_line(path)}. {CHOICES}")
    ending = path.suffix.lower()
    if ending == ".safetensors":
        return read_safetensors(path)
    if ending in (".pt", ".pth"):
        return _read_tensors(path, names)
    if ending == ".pkl":
        arrays = {name: torch.tensor(value) for name, value in read_arrays(path).items()}
        if not is_detectron2(arrays):
            raise _unknown_network(path, arrays)
        return convert_detectron2(one_line(path), arrays, names)
    raise InvalidData(f"{one_line(path)} has the unknown ending '{one_line(ending, 60)}'. {CHOICES}")


def _read_tensors(path: Path, names: Sequence[str] | None) -> LoadedWeights:
    content = load_tensors(path)
    if "learner" in content:
        return read_checkpoint(path, content)
    tensors = _find_state_dict(path, content)
    if is_detectron2(tensors):
        return convert_detectron2(one_line(path), tensors, names)
    if is_torchvision(tensors):
        return convert_torchvision(path, tensors, names)
    raise _unknown_network(path, tensors)


def _find_state_dict(path: Path, content: dict[str, Any]) -> dict[str, Tensor]:
    """The tensors of a state dict, bare or under `model`, where training scripts save it beside their own state."""
    state = content.get("model", content)
    if not isinstance(state, dict) or not state:
        raise InvalidData(f"{one_line(path)} holds no state dict, neither bare nor under 'model'.")
    wrong = [name for name, value in state.items() if not isinstance(name, str) or not isinstance(value, Tensor)]
    if wrong:
        raise InvalidData(
            f"{one_line(path)}: '{one_line(wrong[0], 100)}' is not a tensor; expected a state dict, bare or under "
            "'model'."
        )
    return state


def _unknown_network(path: Path, tensors: dict[str, Tensor]) -> InvalidData:
    example = one_line(next(iter(tensors)), 100)
    return InvalidData(f"{one_line(path)} holds tensors such as '{example}', of no known network. {CHOICES}")
