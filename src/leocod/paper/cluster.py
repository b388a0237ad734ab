"""Cells on a Ray cluster: each is a task in a process of its own, on any machine that has room for it."""

from __future__ import annotations

import logging
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any
from uuid import uuid4

from leocod.errors import InvalidConfig, LeocodError
from leocod.paper.cells import Cell
from leocod.paper.processes import STOP_TIMEOUT, TICK, Ended, Progress, log_path, read_last_line, run_and_exit
from leocod.run.config import load_mapping
from leocod.run.interruption import SIGNALS

logger = logging.getLogger(__name__)

ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",
    "RAY_worker_niceness": "0",
}
"""Ray sends no usage statistics, writes only to its own logs, and gives cells the usual priority."""

CONNECT_TIMEOUT = 30.0
"""Seconds that a cluster has to answer. Ray itself would wait for a quarter of an hour."""

ATTEMPTS = 3
"""How often a cell is tried when its process or machine is lost. It resumes from its last checkpoint elsewhere."""

FOLDER_DELAY = 60.0
"""Seconds until a network folder shows on one machine what another has written."""

SHARED = "--out must be in a folder that all machines of the cluster share"


@dataclass(frozen=True)
class Task:
    """What is sent to a machine: plain values, which can be read there before the user's own modules are found."""

    config: Mapping[str, Any]
    path: Path
    log: Path
    threads: int
    marker: Path
    """A file in the shared folder while the command runs. A machine that does not see it would write elsewhere."""
    folder: Path
    """Where the command was started. Paths in the config are relative to it."""
    python_path: tuple[str, ...]
    command: tuple[str, ...]
    """The command that a run records beside its results."""

    def run(self) -> str | None:
        """Run the cell to its end. Returns why it failed, if it did."""
        if not self.marker.exists():
            return f"{platform.node()} does not see {self.marker.parent}: {SHARED}."
        # While it learns, a cell handles signals itself. Before and after, it has nothing to save, and an exception in
        # a handler may get lost in the library that it interrupts.
        for number in SIGNALS:
            signal.signal(number, _exit_at_once)
        sys.path.extend(path for path in self.python_path if path not in sys.path)
        sys.argv = list(self.command)
        if self.folder.is_dir():
            os.chdir(self.folder)
        try:
            run_and_exit(Cell(load_mapping(self.config), self.path), self.threads, self.log)
        except LeocodError as error:
            return str(error)
        # Ray would take it for a lost process.
        except SystemExit:
            return read_last_line(self.log)
        return None


def _exit_at_once(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)


def run_on_ray(cells: Iterable[Cell], *, address: str, threads: int, logs: Path) -> Progress:
    """Run as many cells at a time as the cluster has CPUs for, or GPUs if they need one; each with so many threads.

    `address` is that of a cluster, or "auto": the cluster of this machine, or else a new one for this command. A
    cluster that this process is already connected to is used in any case, and left running.
    """
    ray, waiting = _import_ray(), list(cells)
    with _connect(ray, address) as is_new, _place_marker(logs.absolute()) as marker:
        for resources in {tuple(_count_resources(cell, threads).items()) for cell in waiting}:
            _check_room(ray, dict(resources), is_new=is_new)
        losses: Counter[str] = Counter()
        running = {_start(ray, cell, threads, marker): cell for cell in waiting}
        try:
            while running:
                ended, _ = ray.wait(list(running), timeout=TICK)
                for task in ended:
                    cell = running.pop(task)
                    try:
                        failure = ray.get(task)
                    except _list_losses(ray) as error:
                        losses[cell.name] += 1
                        if losses[cell.name] < ATTEMPTS:
                            running[_start(ray, cell, threads, marker)] = cell
                            continue
                        failure = f"lost {ATTEMPTS} times ({_last_line(error)}); was there enough memory?"
                    except ray.exceptions.RayError as error:
                        failure = f"{_last_line(error)}. Is the same leocod installed on all machines of the cluster?"
                    yield Ended(cell, failure or (yield from _wait_for_files(cell)))
                if not ended:
                    yield None
        finally:
            _stop(ray, list(running))


def _import_ray() -> Any:
    """Ray reads its environment variables only while it is imported."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise InvalidConfig("--ray needs Ray: pip install 'leocod[ray]'.") from error
    return ray


def _list_losses(ray: Any) -> tuple[type[Exception], ...]:
    """Errors after which a cell may be tried again: its process was killed, or its machine is gone or out of memory."""
    known = ray.exceptions
    return known.WorkerCrashedError, known.NodeDiedError, known.OutOfMemoryError, known.LocalRayletDiedError


def _last_line(error: Exception) -> str:
    return str(error).strip().splitlines()[-1].rstrip(".")


@contextmanager
def _connect(ray: Any, address: str) -> Iterator[bool]:
    """Yields whether a new cluster was started, which ends with the connection."""
    if ray.is_initialized():
        yield False
        return
    resolved = _resolve(address)
    before = signal.getsignal(signal.SIGTERM)
    try:
        try:
            ray.init(address=resolved, include_dashboard=False, log_to_driver=False, logging_level=logging.CRITICAL)
        except Exception as error:
            raise InvalidConfig(f"Ray cannot be used here: {_last_line(error)}.") from error
        # Ray handles SIGTERM itself, with a long message.
        _handle_sigterm(_exit if before is signal.SIG_DFL else before)
        yield resolved == "local"
    finally:
        ray.shutdown()
        _handle_sigterm(before)


def _handle_sigterm(handler: Any) -> None:
    # Python allows it in the main thread only.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)


def _exit(number: int, frame: FrameType | None) -> None:
    """Leave through the `finally` clauses, which ask the cells to stop."""
    sys.exit(128 + number)


def _resolve(address: str) -> str | None:
    """As Ray takes it: an address that answers, None for the cluster of this machine, "local" for a new one."""
    named = os.environ.get("RAY_ADDRESS") or None if address == "auto" else address
    if named is None:
        # `ray start` leaves this file, also when the cluster has crashed since.
        home = os.environ.get("RAY_TMPDIR") or ("/tmp" if os.name == "posix" else tempfile.gettempdir())
        return None if Path(home, "ray", "ray_current_cluster").is_file() and not _try_connecting(None) else "local"
    if problem := _try_connecting(named):
        raise InvalidConfig(
            f"No Ray cluster can be reached at '{named}' ({problem}). Give the address that `ray start --head` "
            "printed, or auto. A cluster with token authentication also needs RAY_AUTH_MODE=token."
        )
    return named


def _try_connecting(address: str | None) -> str | None:
    """Why a cluster cannot be reached. Tried in a process that can be ended, since Ray itself has no timeout."""
    script = f"import ray; ray.init(address={address!r}, log_to_driver=False, logging_level='CRITICAL')"
    try:
        command = [sys.executable, "-c", script]
        subprocess.run(command, timeout=CONNECT_TIMEOUT, check=True, capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        return f"no answer in {CONNECT_TIMEOUT:g} s"
    except subprocess.CalledProcessError as error:
        lines = [line for line in error.stderr.splitlines() if line.strip()]
        return lines[-1].rstrip(".") if lines else f"exit code {error.returncode}"
    return None


@contextmanager
def _place_marker(logs: Path) -> Iterator[Path]:
    """A file that only machines see which share this folder."""
    marker = logs / f".shared-{uuid4().hex}"
    try:
        logs.mkdir(parents=True, exist_ok=True)
        marker.touch()
    except OSError as error:
        raise InvalidConfig(f"{logs} cannot be written to ({error.strerror}). Choose another --out.") from error
    try:
        yield marker
    finally:
        marker.unlink(missing_ok=True)


def _count_resources(cell: Cell, threads: int) -> dict[str, int]:
    return {"num_cpus": threads, "num_gpus": int(cell.config.device.startswith("cuda"))}


def _check_room(ray: Any, resources: Mapping[str, int], *, is_new: bool) -> None:
    """Tell if no machine is large enough: Ray would wait in silence. Another may join, but not a cluster of our own."""
    needed = {"CPU": resources["num_cpus"], "GPU": resources["num_gpus"]}
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if not any(all(machine.get(kind, 0) >= number for kind, number in needed.items()) for machine in machines):
        lacks = "No machine of the Ray cluster has " + " and ".join(f"{n} {kind}" for kind, n in needed.items() if n)
        if is_new:
            raise InvalidConfig(f"{lacks}, which a cell needs. Choose another device, or more --jobs.")
        logger.warning("%s, which a cell needs: it waits until one joins.", lacks)


def _start(ray: Any, cell: Cell, threads: int, marker: Path) -> Any:
    """Send a cell to the cluster. Its process ends with it, which frees torch's memory and the lock of the run."""
    resources = _count_resources(cell, threads)
    # Ray chooses the GPU, and shows the process no other.
    config = cell.config.model_copy(update={"device": "cuda"}) if resources["num_gpus"] else cell.config
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    task = Task(
        config=config.model_dump(mode="json"),
        path=cell.path.absolute(),
        log=log_path(cell, marker.parent),
        threads=threads,
        marker=marker,
        folder=Path.cwd(),
        python_path=tuple(str(Path(path).absolute()) for path in paths if path),
        command=tuple(sys.argv),
    )
    # Losses are counted here: Ray would start a cell that is too large for a machine again and again.
    remote = ray.remote(max_calls=1, max_retries=0, **resources)(Task.run)
    return remote.options(name=cell.name).remote(task)


def _wait_for_files(cell: Cell) -> Generator[None, None, str | None]:
    """Wait until the files of a finished cell can be seen here. Returns what is wrong if they cannot."""
    deadline = time.monotonic() + FOLDER_DELAY
    while cell.state != "finished":
        if time.monotonic() > deadline:
            return f"it ended on another machine, and {cell.path} is not finished here: {SHARED}."
        yield None
        time.sleep(TICK)
    return None


def _stop(ray: Any, tasks: list[Any]) -> None:
    """Ask all cells to save and stop. Cells that have not begun, or do not react, are ended."""
    for task in tasks:
        ray.cancel(task)
    if tasks:
        _, deaf = ray.wait(tasks, num_returns=len(tasks), timeout=STOP_TIMEOUT)
        for task in deaf:
            ray.cancel(task, force=True)
