"""Weights that leocod itself wrote: safetensors files with class names, checkpoints, run directories."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from leocod.errors import InvalidData
from leocod.rundir import RunDirectory
from leocod.weights.fitting import Brought, rows_for


def save_weights(path: Path, model: nn.Module, classes: Sequence[str], about: Mapping[str, str]) -> None:
    """Write a model's weights, its class names and how it was made."""
    tensors = {name: value.contiguous() for name, value in model.state_dict().items()}
    save_file(tensors, path, metadata={"classes": json.dumps(list(classes)), **about})


def read_weights(path: Path) -> tuple[dict[str, Tensor], tuple[str, ...]]:
    """The tensors and the class names of a safetensors file."""
    tensors, about = _read(path)
    return tensors, _classes(path, about)


def from_safetensors(path: Path) -> Brought:
    """A file that `save_weights` wrote."""
    tensors, about = _read(path)
    rows = rows_for(tensors, _classes(path, about))
    return Brought("leocod", str(path), tensors, rows, stride_in_1x1=_stride(about))


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    if not path.is_file():
        raise InvalidData(f"No weights file {path}. Check `detector.weights`.")
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
            return tensors, file.metadata() or {}
    except (SafetensorError, OSError) as problem:
        raise InvalidData(f"{path} is not a readable safetensors file: {problem}") from problem


def _classes(path: Path, about: Mapping[str, str]) -> tuple[str, ...]:
    try:
        names = json.loads(about["classes"])
    except (KeyError, ValueError) as error:
        raise InvalidData(
            f"{path} has no class names in its metadata. Make such a file with `leocod pretrain` or `leocod export`."
        ) from error
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InvalidData(f"{path} has class names in its metadata that are not a list of names.")
    return tuple(names)


def _stride(about: Mapping[str, str]) -> bool | None:
    """What an exported file says of its detector's options; a pre-trained one has no such option."""
    try:
        options = json.loads(about.get("options", "{}"))
    except ValueError:
        return None
    return options.get("stride_in_1x1") if isinstance(options, dict) else None


def from_run(path: Path) -> Brought:
    """The newest checkpoint of a run directory."""
    checkpoint = RunDirectory.open(path).newest_checkpoint()
    return from_checkpoint(checkpoint, load_tensors(checkpoint))


def from_checkpoint(path: Path, state: Mapping[str, Any]) -> Brought:
    """The detector that people use: the slow learner, or the only one."""
    try:
        learner = state["learner"]
        detector = learner["slow"] if "slow" in learner else learner["detector"]
        tensors = dict(detector["weights"])
        # A learner whose class list grows knows more of them than its run began with.
        classes = tuple(detector.get("classes", state["classes"]))
        stride = state["config"]["detector"].get("stride_in_1x1")
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidData(f"{path} is a checkpoint without weights of a detector ({error}).") from error
    return Brought("leocod", str(path), tensors, rows_for(tensors, classes), stride_in_1x1=stride)


def load_tensors(path: Path) -> dict[str, Any]:
    """The content of a file that `torch.save` wrote: tensors and plain values. Anything else is refused, not run."""
    if not path.is_file():
        raise InvalidData(f"No weights file {path}. Check `detector.weights`.")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except (
        pickle.UnpicklingError, RuntimeError, EOFError, OSError, ValueError, TypeError, KeyError, IndexError,
        AttributeError, AssertionError,
    ) as error:  # fmt: skip
        reason = (str(error).splitlines() or [""])[0][:200]
        raise InvalidData(f"{path} cannot be read as tensors ({type(error).__name__}: {reason}).") from error
    if not isinstance(content, dict):
        raise InvalidData(f"{path} holds a {type(content).__name__}; expected a dict of tensors. Save its state dict.")
    return content
