"""Weights that leocod wrote: safetensors files with class names, checkpoints, run directories."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from leocod.errors import InvalidData, InvalidRun
from leocod.files.checkpoint import read_newest_checkpoint
from leocod.files.documents import parse_json
from leocod.files.paths import explain_absence
from leocod.files.run_directory import RunDirectory
from leocod.readers.classes import MOST, check_names
from leocod.text import one_line
from leocod.weights.fitting import LoadedWeights
from leocod.weights.torch_files import explain_unusable


def save_weights(path: Path, model: nn.Module, classes: Sequence[str], about: Mapping[str, str]) -> None:
    """Write a model's weights, its class names and how it was made."""
    tensors = {name: value.contiguous() for name, value in model.state_dict().items()}
    save_file(tensors, path, metadata={"classes": json.dumps(list(classes)), **about})


def read_weights(path: Path) -> tuple[dict[str, Tensor], tuple[str, ...]]:
    """The tensors and the class names of a safetensors file."""
    tensors, about = _read(path)
    return tensors, _read_classes(path, about)


def read_safetensors(path: Path) -> LoadedWeights:
    """Read a file that `save_weights` wrote."""
    tensors, about = _read(path)
    return LoadedWeights(
        "leocod", one_line(path), tensors, _read_classes(path, about), stride_in_1x1=_read_stride(about)
    )


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    if absent := explain_absence(path):
        raise InvalidData(f"No weights file {one_line(path)}: {absent}. Check `detector.weights`.")
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
            about = file.metadata() or {}
    # Numbers of kinds that torch does not have raise errors of many kinds.
    except Exception as problem:
        reason = one_line(problem, 200) or type(problem).__name__
        raise InvalidData(f"{one_line(path)} is not a readable safetensors file: {reason}") from problem
    for name, tensor in tensors.items():
        if unusable := explain_unusable(tensor):
            raise InvalidData(f"{one_line(path)}: tensor '{one_line(name, 100)}' {unusable}. Save it as float32.")
    return tensors, about


def _read_classes(path: Path, about: Mapping[str, str]) -> tuple[str, ...]:
    try:
        names = parse_json(about["classes"])
    except (KeyError, ValueError) as error:
        raise InvalidData(
            f"{one_line(path)} has no class names in its metadata. Make such a file with `leocod pretrain` or "
            "`leocod export`."
        ) from error
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InvalidData(f"{one_line(path)} has class names in its metadata that are not a list of names.")
    if len(names) > MOST:
        raise InvalidData(f"{one_line(path)} has {len(names)} class names in its metadata: at most {MOST} are read.")
    check_names(names, path)
    return tuple(names)


def _read_stride(about: Mapping[str, str]) -> bool | None:
    """The option of the exported detector; None where a file does not say it."""
    try:
        options = parse_json(about.get("options", "{}"))
    except ValueError:
        return None
    stride = options.get("stride_in_1x1") if isinstance(options, dict) else None
    return stride if isinstance(stride, bool) else None


def read_run(path: Path) -> LoadedWeights:
    """Read the newest checkpoint of a run directory."""
    newest = read_newest_checkpoint(RunDirectory.open(path).checkpoints)
    if newest is None:
        raise InvalidRun(
            f"{one_line(path)} has no checkpoint yet. The first one is written after `checkpoint.every` steps, or "
            "`checkpoint.minutes` minutes."
        )
    return read_checkpoint(*newest)


def find_deployed(state: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The state of the deployed detector in a checkpoint; None where only the learner itself finds it."""
    learner = state["learner"]
    if "deployed" in state:
        name = state["deployed"]
    else:
        # Earlier versions did not say it. These are all places that their learners had.
        name = next((name for name in ("slow", "stable", "detector") if name in learner), None)
    return None if name is None else learner[name]


def read_checkpoint(path: Path, state: Mapping[str, Any]) -> LoadedWeights:
    """Take the weights of the deployed detector from a checkpoint: the slow learner's where there is one."""
    try:
        detector = find_deployed(state) or state["learner"]["detector"]
        tensors = dict(detector["weights"])
        # A learner whose class list grows has more classes than its run began with.
        classes = tuple(detector.get("classes", state["classes"]))
        stride = state["config"]["detector"].get("stride_in_1x1")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = one_line(error, 200)
        raise InvalidData(f"{one_line(path)} is a checkpoint without weights of a detector ({reason}).") from error
    whole = all(isinstance(name, str) and isinstance(value, Tensor) for name, value in tensors.items())
    if not whole or not all(isinstance(name, str) for name in classes):
        raise InvalidData(f"{one_line(path)} is a checkpoint whose weights or class names are something else.")
    known_stride = stride if isinstance(stride, bool) else None
    return LoadedWeights("leocod", one_line(path), tensors, classes, stride_in_1x1=known_stride)
