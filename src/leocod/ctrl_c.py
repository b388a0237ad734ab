"""Ctrl-C in a terminal reaches every process of a command. One of them answers it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.resource_tracker import ensure_running


@contextmanager
def hold_ctrl_c() -> Iterator[None]:
    """Hold Ctrl-C back. A process that is started meanwhile never gets it; this one gets it at the end."""
    # Windows has none. A process there has to ignore Ctrl-C by itself, once it runs.
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Started first, because it unblocks all signals.
    ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
