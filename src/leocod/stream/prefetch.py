"""Worker processes that prepare the next items while this one is used, and hand them over in order."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar, cast

from leocod.ctrl_c import hold_ctrl_c
from leocod.errors import LeocodError, SourceAway

Item = TypeVar("Item")

END = object()

EACH_AHEAD = 2
"""Items that each process has ready at most. This bounds the memory."""


def prefetch(make: Callable[[int], Item], numbers: Sequence[int], *, workers: int) -> Iterator[Item]:
    """`make` of each number, in order. Worker processes make them before they are needed; with no worker, in place."""
    if not workers:
        yield from map(make, numbers)
        return
    # Torch is slow to import, and a benchmark works without it.
    from torch import Generator
    from torch.utils.data import DataLoader

    loader: DataLoader[Any] = DataLoader(
        cast(Any, _Items(make, numbers)),
        batch_size=None,
        num_workers=workers,
        prefetch_factor=EACH_AHEAD,
        collate_fn=_keep,
        # The loader draws a seed for its workers. It must not draw from torch's global generator.
        generator=Generator(),
        worker_init_fn=_ignore_ctrl_c,
        # A forked process would inherit locks of threads that it does not have, such as a video decoder's.
        multiprocessing_context="spawn",
    )
    items = _start_workers(loader)
    while (item := _next(items)) is not END:
        if isinstance(item, LeocodError):
            raise item
        yield item


def _start_workers(loader: Iterable[Item]) -> Iterator[Item]:
    """Start the workers so that only this process answers a signal that is sent to all of them."""
    with hold_ctrl_c():
        # Windows has no such signal.
        if not hasattr(signal, "SIGCHLD"):
            return iter(loader)
        handler = signal.getsignal(signal.SIGCHLD)
        try:
            return iter(loader)
        finally:
            # Torch's handler raises at any moment when a worker ends. Without it, torch notices when it next waits.
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGCHLD, handler)


def _next(items: Iterator[Any]) -> Any:
    try:
        return next(items, END)
    except RuntimeError as error:
        # What torch says of a worker that was killed, for example because memory ran out.
        if "exited unexpectedly" not in str(error):
            raise
        raise SourceAway(f"A process that prefetches frames has ended ({str(error).splitlines()[0]}).") from error


class _Items:
    """The items by number, as torch's loader wants them."""

    def __init__(self, make: Callable[[int], Any], numbers: Sequence[int]) -> None:
        self.make = make
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, position: int) -> Any:
        try:
            return self.make(self.numbers[position])
        # Returned, not raised: the loader would turn it into a traceback.
        except LeocodError as error:
            return error


def _keep(item: Any) -> Any:
    return item


def _ignore_ctrl_c(worker: int) -> None:
    """For systems on which a worker inherits no blocked signal."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
