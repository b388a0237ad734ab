"""Cells in processes of their own on this machine. What one does, or how it dies, is no matter to the others."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from leocod.errors import Interrupted, LeocodError
from leocod.paper.cells import Cell

TICK = 1.0
"""Seconds after which whoever watches hears that nothing has happened."""

PATIENCE = 300.0
"""Seconds that a cell which was asked to stop has to end its step and save itself."""


@dataclass(frozen=True)
class Ended:
    """A cell that has come to its end, or has failed."""

    cell: Cell
    failure: str | None = None


Told = Generator[Ended | None, None, None]
"""Each cell that has ended, and None while there is nothing to tell. Closed early, what runs is stopped."""


def run_cells(cells: Iterable[Cell], *, jobs: int, threads: int, logs: Path) -> Told:
    """So many cells at a time, each with so many threads, in the order in which they are given."""
    waiting = iter(cells)
    running: dict[SpawnProcess, Cell] = {}
    try:
        while True:
            while len(running) < jobs and (cell := next(waiting, None)) is not None:
                running[_started(cell, threads, logs)] = cell
            if not running:
                return
            wait([process.sentinel for process in running], timeout=TICK)
            ended = [process for process in running if process.exitcode is not None]
            for process in ended:
                cell = running.pop(process)
                yield Ended(cell, _failure(process, log_of(cell, logs)))
            if not ended:
                yield None
    finally:
        _stop(running)


def log_of(cell: Cell, logs: Path) -> Path:
    """Where everything goes that a cell says."""
    return logs / f"{cell.name}.log"


def work(cell: Cell, threads: int, log: Path) -> None:
    """What a process does: one cell. It ends with the exit code, so that nothing is left of it."""
    _speak_into(log)
    try:
        cell.run(threads)
    except (LeocodError, Interrupted) as error:
        print(f"leocod: {error}", file=sys.stderr, flush=True)  # noqa: T201
        sys.exit(2)
    except BaseException:
        traceback.print_exc()
        sys.exit(1)


def _started(cell: Cell, threads: int, logs: Path) -> SpawnProcess:
    process = multiprocessing.get_context("spawn").Process(
        target=_alone, args=(cell, threads, log_of(cell, logs)), name=cell.name
    )
    process.start()
    return process


def _alone(cell: Cell, threads: int, log: Path) -> None:
    """In a process of our own that ends when the one that started it is gone."""
    # Ctrl-C is for the one that started us; it asks us to stop, once.
    if hasattr(os, "setpgrp"):
        os.setpgrp()
    threading.Thread(target=_follow_parent, daemon=True).start()
    work(cell, threads, log)


def _follow_parent() -> None:
    """Killed, the parent can tell nobody. Then a run saves itself, and whoever starts again goes on from there."""
    if (parent := multiprocessing.parent_process()) is not None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)


def _speak_into(log: Path) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as opened:
        for stream in (1, 2):
            os.dup2(opened.fileno(), stream)


def _failure(process: SpawnProcess, log: Path) -> str | None:
    if process.exitcode == 0:
        return None
    if process.exitcode is not None and process.exitcode < 0:
        ended_by = signal.Signals(-process.exitcode)
        return f"ended by {ended_by.name}{'; was there enough memory?' if ended_by == signal.SIGKILL else ''}"
    return last_word(log)


def last_word(log: Path) -> str:
    """What a cell that failed said last, and where the rest is."""
    try:
        lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    except OSError:
        lines = []
    return f"{lines[-1].removeprefix('leocod: ') if lines else 'no word'} ({log})"


def _stop(running: Iterable[SpawnProcess]) -> None:
    for process in (processes := list(running)):
        process.terminate()
    for process in processes:
        process.join(PATIENCE)
        if process.exitcode is None:
            process.kill()
            process.join()
