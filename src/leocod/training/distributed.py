"""Several processes that learn as one, started by torchrun. On its own, a process is a team of one.

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

Thing = TypeVar("Thing")


def size() -> int:
    """How many processes there are."""
    return processes.get_world_size() if processes.is_available() and processes.is_initialized() else 1


def rank() -> int:
    """Which one this is, from 0. The first one speaks and writes for all."""
    return processes.get_rank() if size() > 1 else 0


def choose_device(device: str) -> str:
    """The device of this process: with several GPUs in a machine, each process has its own."""
    if size() > 1 and device.startswith("cuda:"):
        raise InvalidConfig(f"device is '{device}': it should be cuda, so that each process has a GPU of its own.")
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if device == "cuda" and size() > 1 else device


@contextmanager
def process_group(device: str) -> Iterator[None]:
    """Be one of the processes that torchrun has started; without it, be alone."""
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
    """The first process looks whether something may be done; if not, all leave with what it says."""
    refusal: str | None = None
    if rank() == 0:
        try:
            check()
        except LeocodError as error:
            if size() == 1:
                raise
            refusal = str(error)
    if size() > 1 and (said := _gathered(refusal)[0]) is not None:
        raise LeocodError(said)


def add_up(losses: Mapping[str, float], weights: Sequence[nn.Parameter]) -> dict[str, float]:
    """Add up the gradients of all processes, in place, and their losses by name, which may differ."""
    if size() == 1:
        return dict(losses)
    _add_gradients(weights)
    said = _gathered(dict(losses))
    names = dict.fromkeys(name for one in said for name in one)
    return {name: sum(one.get(name, 0.0) for one in said) for name in names}


def _add_gradients(weights: Sequence[nn.Parameter]) -> None:
    """A weight that no process has a gradient for keeps none: an optimiser leaves it alone, but moves one with zero."""
    has = torch.tensor([float(one.grad is not None) for one in weights], device=weights[0].device)
    total = flatten_gradient(weights)
    with _all_there():
        processes.all_reduce(has)
        processes.all_reduce(total)
    set_gradient(weights, total)
    for one, count in zip(weights, has.tolist(), strict=True):
        if not count:
            one.grad = None


def predict_sharded(predict: Callable[[Images], list[Detections]], images: Images) -> list[Detections]:
    """What `predict` finds in the images, a part of them in each process; all get all of it."""
    if size() == 1:
        return predict(images)
    found: list[Detections] = [None] * len(images)  # type: ignore[list-item]
    for number, part in enumerate(_gathered(predict(images[rank() :: size()]))):
        found[number :: size()] = part
    return found


def any_of(one: Thing | None) -> Thing | None:
    """What any process has; None where none has anything. All of them ask."""
    if size() == 1:
        return one
    return next((said for said in _gathered(one) if said is not None), None)


def agree(what: str, digest: Callable[[], str]) -> None:
    """Raise unless all processes have the same."""
    if size() > 1:
        said = _gathered(own := digest())
        others = [number for number, one in enumerate(said) if one != own]
        if others:
            raise Disagreement(
                f"{what}: process {rank()} has something else than {', '.join(map(str, others))}. All need the same "
                "data, config, code and versions."
            )


def _gathered(one: Thing) -> list[Thing]:
    """What each process has, in order."""
    all_of_them: list[Thing] = [one] * size()
    with _all_there():
        processes.all_gather_object(all_of_them, one)
    return all_of_them


@contextmanager
def _all_there() -> Iterator[None]:
    """Torch's word for a process that has left the team is a RuntimeError."""
    try:
        yield
    except RuntimeError as error:
        first = str(error).splitlines()[0][:200]
        raise Disagreement(f"Another process of the team has ended; see what it said. ({first})") from error
