"""Cells in processes of their own on this machine. A cell that fails or is killed does not disturb the others."""

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

from leocod.ctrl_c import hold_ctrl_c
from leocod.errors import Interrupted, LeocodError
from leocod.paper.cells import Cell

TICK = 1.0
"""Seconds between two signs of life while no cell ends."""

STOP_TIMEOUT = 300.0
"""Seconds that a cell has to finish its step and save, once it was asked to stop."""


@dataclass(frozen=True)
class Ended:
    """A cell that has finished or failed."""

    cell: Cell
    failure: str | None = None


Progress = Generator[Ended | None, None, None]
"""Each cell that has ended, and None at every tick without one. Closing it early stops the running cells."""


def run_cells(cells: Iterable[Cell], *, jobs: int, threads: int, logs: Path) -> Progress:
    """Run so many cells at a time, each with so many threads, in the given order."""
    waiting = iter(cells)
    running: dict[SpawnProcess, Cell] = {}
    try:
        while True:
            while len(running) < jobs and (cell := next(waiting, None)) is not None:
                running[_start(cell, threads, logs)] = cell
            if not running:
                return
            wait([process.sentinel for process in running], timeout=TICK)
            ended = [process for process in running if process.exitcode is not None]
            for process in ended:
                cell = running.pop(process)
                yield Ended(cell, describe_failure(process.exitcode, log_path(cell, logs)))
            if not ended:
                yield None
    finally:
        _stop(running)


def log_path(cell: Cell, logs: Path) -> Path:
    """The file with everything that a cell prints."""
    return logs / f"{cell.name}.log"


def run_and_exit(cell: Cell, threads: int, log: Path) -> None:
    """Run one cell in this process. A failure goes to the log and ends the process with an exit code."""
    _redirect_output(log)
    try:
        cell.run(threads)
    except (LeocodError, Interrupted) as error:
        print(f"leocod: {error}", file=sys.stderr, flush=True)  # noqa: T201
        sys.exit(2)
    except BaseException:
        traceback.print_exc()
        sys.exit(1)


def read_last_line(log: Path) -> str:
    """The last line that a failed cell printed, and where the others are."""
    try:
        lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    except OSError:
        lines = []
    return f"{lines[-1].removeprefix('leocod: ') if lines else 'it printed nothing'} ({log})"


def _start(cell: Cell, threads: int, logs: Path) -> SpawnProcess:
    process = multiprocessing.get_context("spawn").Process(
        target=_run_detached, args=(cell, threads, log_path(cell, logs)), name=cell.name
    )
    # Ctrl-C is for this process, which asks the cells to stop, once.
    with hold_ctrl_c():
        process.start()
    return process


def _run_detached(cell: Cell, threads: int, log: Path) -> None:
    """Run in a process group of its own, and end when the parent process is gone."""
    # For signals that are sent to the whole group, such as those of a batch system.
    if hasattr(os, "setpgrp"):
        os.setpgrp()
    threading.Thread(target=_follow_parent, daemon=True).start()
    run_and_exit(cell, threads, log)


def _follow_parent() -> None:
    """Stop when the parent is gone, for example killed. The run saves itself, and the next command resumes it."""
    if (parent := multiprocessing.parent_process()) is not None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)


def _redirect_output(log: Path) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as opened:
        for stream in (1, 2):
            os.dup2(opened.fileno(), stream)


def describe_failure(exit_code: int | None, log: Path) -> str | None:
    """Say why a process has failed; None if it has not."""
    if exit_code == 0:
        return None
    if exit_code is not None and exit_code < 0:
        ended_by = signal.Signals(-exit_code)
        return f"ended by {ended_by.name}{'; was there enough memory?' if ended_by.name == 'SIGKILL' else ''}"
    return read_last_line(log)


def _stop(running: Iterable[SpawnProcess]) -> None:
    for process in (processes := list(running)):
        process.terminate()
    for process in processes:
        process.join(STOP_TIMEOUT)
        if process.exitcode is None:
            process.kill()
            process.join()
