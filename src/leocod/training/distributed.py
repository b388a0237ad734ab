"""Several processes that train as one, started by torchrun. Without torchrun there is one process.

Every process has the whole stream, labels and memory, and draws the same numbers; each takes a part of the frames of
every batch and of everything that is detected in. Gradients are added up, so all have the same weights at all times.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

import torch
from torch import distributed as processes
from torch import nn

from leocod.errors import Disagreement, InvalidConfig, LeocodError
from leocod.training.gradients import flatten_gradient, set_gradient
from leocod.types import Detections, Images

Value = TypeVar("Value")


def size() -> int:
    """How many processes there are."""
    return processes.get_world_size() if processes.is_available() and processes.is_initialized() else 1


def rank() -> int:
    """Which one this is, from 0. The first one prints and writes for all."""
    return processes.get_rank() if size() > 1 else 0


def choose_device(device: str) -> str:
    """The device of this process: with several GPUs in a machine, each process has its own."""
    if size() > 1 and device.startswith("cuda:"):
        raise InvalidConfig(f"device is '{device}': it should be cuda, so that each process has a GPU of its own.")
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if device == "cuda" and size() > 1 else device


@contextmanager
def process_group(device: str) -> Iterator[None]:
    """Join the processes that torchrun has started; without torchrun, do nothing."""
    if int(os.environ.get("WORLD_SIZE", "1")) < 2:
        yield
        return
    processes.init_process_group("cpu:gloo,cuda:nccl" if device.startswith("cuda") else "gloo")
    try:
        if device.startswith("cuda"):
            torch.cuda.set_device(choose_device(device))
        yield
    finally:
        processes.destroy_process_group()


def check_on_rank0(check: Callable[[], None]) -> None:
    """Run a check in the first process only. If it fails, all processes raise its error."""
    refusal: str | None = None
    if rank() == 0:
        try:
            check()
        except LeocodError as error:
            if size() == 1:
                raise
            refusal = str(error)
    if size() > 1 and (message := _gather(refusal)[0]) is not None:
        raise LeocodError(message)


def add_up(losses: Mapping[str, float], weights: Sequence[nn.Parameter]) -> dict[str, float]:
    """Add up the gradients of all processes, in place, and their losses by name, which may differ."""
    if size() == 1:
        return dict(losses)
    _add_gradients(weights)
    values = _gather(dict(losses))
    names = dict.fromkeys(name for one in values for name in one)
    return {name: sum(one.get(name, 0.0) for one in values) for name in names}


def _add_gradients(weights: Sequence[nn.Parameter]) -> None:
    """A weight that no process has a gradient for keeps none: an optimiser leaves it alone, but moves one with zero."""
    has = torch.tensor([float(one.grad is not None) for one in weights], device=weights[0].device)
    total = flatten_gradient(weights)
    with _explain_lost_process():
        processes.all_reduce(has)
        processes.all_reduce(total)
    set_gradient(weights, total)
    for one, count in zip(weights, has.tolist(), strict=True):
        if not count:
            one.grad = None


def predict_sharded(predict: Callable[[Images], list[Detections]], images: Images) -> list[Detections]:
    """Predict a part of the images in each process. All processes get all detections."""
    if size() == 1:
        return predict(images)
    found: list[Detections] = [None] * len(images)  # type: ignore[list-item]
    for number, part in enumerate(_gather(predict(images[rank() :: size()]))):
        found[number :: size()] = part
    return found


def any_of(one: Value | None) -> Value | None:
    """The first value that is not None in any process. All processes must call this."""
    if size() == 1:
        return one
    return next((value for value in _gather(one) if value is not None), None)


def agree(what: str, digest: Callable[[], str]) -> None:
    """Raise unless all processes have the same digest."""
    if size() > 1:
        values = _gather(own := digest())
        others = [number for number, one in enumerate(values) if one != own]
        if others:
            raise Disagreement(
                f"{what}: process {rank()} differs from {', '.join(map(str, others))}. All processes need the same "
                "data, config, code and versions."
            )


def _gather(one: Value) -> list[Value]:
    """The value of each process, in order."""
    values: list[Value] = [one] * size()
    with _explain_lost_process():
        processes.all_gather_object(values, one)
    return values


@contextmanager
def _explain_lost_process() -> Iterator[None]:
    """Torch raises a RuntimeError when another process has ended."""
    try:
        yield
    except RuntimeError as error:
        first = str(error).splitlines()[0][:200]
        raise Disagreement(f"Another process has ended; see its message. ({first})") from error
