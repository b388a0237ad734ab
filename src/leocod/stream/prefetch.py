"""Do the next things while this one is used: processes that work ahead, and hand over in order."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing.resource_tracker import ensure_running
from typing import Any, TypeVar, cast

from leocod.errors import LeocodError, SourceAway

Thing = TypeVar("Thing")

END = object()

EACH_AHEAD = 2
"""Things that each process has ready at most: what bounds the memory."""


def prefetch(make: Callable[[int], Thing], numbers: Sequence[int], *, workers: int) -> Iterator[Thing]:
    """`make` of each number, in order; made by so many processes ahead of their use, or right then by none."""
    if not workers:
        yield from map(make, numbers)
        return
    # Torch is slow to import, and a benchmark does without it.
    from torch import Generator
    from torch.utils.data import DataLoader

    made: DataLoader[Any] = DataLoader(
        cast(Any, _Made(make, numbers)),
        batch_size=None,
        num_workers=workers,
        prefetch_factor=EACH_AHEAD,
        collate_fn=_as_it_is,
        # It draws a seed for its processes, and would take it from everybody's generator.
        generator=Generator(),
        # A process that is forked has the locks of threads that it does not have, of a video decoder for example.
        multiprocessing_context="spawn",
    )
    things = _started(made)
    while (thing := _next(things)) is not END:
        if isinstance(thing, LeocodError):
            raise thing
        yield thing


def _started(made: Iterable[Thing]) -> Iterator[Thing]:
    """Have the processes started, so that a signal to all of them is for this one alone to answer."""
    # First, because it lets all signals through.
    ensure_running()
    # Ctrl-C in a terminal reaches them, too. They inherit that it is held back; here it is let through again.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    heard = signal.getsignal(signal.SIGCHLD)
    try:
        return iter(made)
    finally:
        # Torch would raise in the middle of anything when one of them ends; it finds out when it next waits, as well.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGCHLD, heard)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _next(things: Iterator[Any]) -> Any:
    try:
        return next(things, END)
    except RuntimeError as error:
        # Torch's word for a process that was killed, for the memory that it took for example.
        if "exited unexpectedly" not in str(error):
            raise
        raise SourceAway(f"A process that reads ahead has ended ({str(error).splitlines()[0]}).") from error


class _Made:
    """The things by number, as torch's loader wants them."""

    def __init__(self, make: Callable[[int], Any], numbers: Sequence[int]) -> None:
        self.make = make
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, position: int) -> Any:
        try:
            return self.make(self.numbers[position])
        # Handed over as it is: the loader would make a traceback of it.
        except LeocodError as error:
            return error


def _as_it_is(thing: Any) -> Any:
    return thing
