"""What a run has come to, as digests: two runs that did the same have the same, to the bit.

Times and RAM, which no two runs share, are left out, and so is what is made of them: the report, TensorBoard's files.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from leocod.files.checkpoint import read_newest_checkpoint
from leocod.files.run_directory import RunDirectory, list_packed_events

MEASURED = {"seconds", "seconds_by_part", "peak_ram_bytes"}


def digests(path: Path) -> dict[str, str]:
    """Of the learner (weights, optimiser, memory, generators), of what was told and of every figure and file."""
    directory = RunDirectory.open(path)
    found = read_newest_checkpoint(directory.checkpoints)
    if found is None:
        raise FileNotFoundError(f"{path} has no checkpoint.")
    state = found[1]
    learner = state["learner"]
    strategy = learner.get("strategy", learner)
    plain = [directory.labels, directory.test, directory.memory, directory.samples / "samples.json"]
    pictures = sorted([*directory.detections.glob("*.json"), *directory.samples.glob("*.png")])
    return {
        "weights": _digest([strategy["detector"], learner.get("slow")]),
        "memory": _digest(strategy["memory"]),
        "learner": _digest(learner),
        "random": _digest(state["torch_random"]),
        "step": str(state["step"]),
        "events": _digest(list(events(directory))),
        "metrics": _digest(_drop_measured(json.loads(directory.results.read_text()))),
        "files": _digest({str(file.relative_to(path)): file.read_bytes() for file in [*plain, *pictures]}),
    }


def events(directory: RunDirectory) -> Iterator[Any]:
    """What was told, in order, without times; the RunStarted that each packed file begins with counts once."""
    texts = [
        gzip.decompress(file.read_bytes()).decode() for file in list_packed_events(directory.earlier_events).values()
    ]
    started = False
    for line in "".join([*texts, directory.events.read_text()]).splitlines():
        event = _drop_measured(json.loads(line))
        if event["event"] == "RunStarted":
            # A run is named after its directory.
            event.pop("name")
            if started:
                continue
            started = True
        yield event


def _drop_measured(value: Any) -> Any:
    return {name: one for name, one in value.items() if name not in MEASURED}


def _digest(value: Any) -> str:
    held = hashlib.sha256()
    for piece in _pieces(value):
        held.update(piece)
    return held.hexdigest()[:16]


def _pieces(value: Any) -> Iterator[bytes]:
    """A value, however deep, as bytes that no other value has."""
    if isinstance(value, torch.Tensor):
        yield f"tensor {value.dtype} {tuple(value.shape)}".encode()
        yield value.contiguous().view(-1).view(torch.uint8).numpy().tobytes()
    elif isinstance(value, dict):
        yield f"dict {len(value)}".encode()
        for name, one in value.items():
            yield repr(name).encode()
            yield from _pieces(one)
    elif isinstance(value, list | tuple):
        yield f"list {len(value)}".encode()
        for one in value:
            yield from _pieces(one)
    else:
        yield repr(value).encode()
