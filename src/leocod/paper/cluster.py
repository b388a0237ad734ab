"""Cells on a Ray cluster: each is a task in a process of its own, on whichever machine has room for it."""

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
from leocod.paper.processes import PATIENCE, TICK, Ended, Told, last_word, log_of, work
from leocod.run.config import load_mapping
from leocod.run.interruption import SIGNALS

logger = logging.getLogger(__name__)

SURROUNDINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",
    "RAY_worker_niceness": "0",
}
"""Ray tells nobody how it is used, keeps what it says to its own logs, and does not run cells after everything else."""

ANSWER = 30.0
"""Seconds that a cluster has to answer. Ray itself would ask for a quarter of an hour."""

TRIES = 3
"""So often a cell may lose its process or machine, less one: it goes on from its last checkpoint on another."""

DELAY = 60.0
"""Seconds until a network folder shows on one machine what another has written."""

SHARED = "--out must lie in a folder that all machines of the cluster share"


@dataclass(frozen=True)
class Task:
    """What is sent to a machine: plain values, so that it can be read there before anything of the user's is found."""

    config: Mapping[str, Any]
    path: Path
    log: Path
    threads: int
    sign: Path
    """Lies in the shared folder while the command runs. A machine that does not see it would write elsewhere."""
    folder: Path
    """In which the command was started; paths in the config begin there."""
    python_path: tuple[str, ...]
    command: tuple[str, ...]
    """Which a run notes beside its results."""

    def run(self) -> str | None:
        """The cell, to its end; why it failed, if it did."""
        if not self.sign.exists():
            return f"{platform.node()} does not see {self.sign.parent}: {SHARED}."
        # While it learns, a cell listens itself. Before and after it has nothing to save, and what a handler raises may
        # get lost in the library that it interrupts.
        for one in SIGNALS:
            signal.signal(one, _end)
        sys.path.extend(path for path in self.python_path if path not in sys.path)
        sys.argv = list(self.command)
        if self.folder.is_dir():
            os.chdir(self.folder)
        try:
            work(Cell(load_mapping(self.config), self.path), self.threads, self.log)
        except LeocodError as error:
            return str(error)
        # Ray would take it for a process that is lost.
        except SystemExit:
            return last_word(self.log)
        return None


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)


def run_on_ray(cells: Iterable[Cell], *, address: str, threads: int, logs: Path) -> Told:
    """As many cells at a time as the cluster has CPUs for, or GPUs if they need one; each with so many threads.

    `address` is that of a cluster, or "auto": one that runs on this machine, else one that runs for as long as this
    takes. A cluster that this process is connected to already is used in any case, and stays.
    """
    ray, waiting = _ray(), list(cells)
    with _connected(ray, address) as ours, _sign(logs.absolute()) as sign:
        for needs in {tuple(_needs(cell, threads).items()) for cell in waiting}:
            _look_for_room(ray, dict(needs), ours=ours)
        lost: Counter[str] = Counter()
        running = {_started(ray, cell, threads, sign): cell for cell in waiting}
        try:
            while running:
                ended, _ = ray.wait(list(running), timeout=TICK)
                for task in ended:
                    cell = running.pop(task)
                    try:
                        failure = ray.get(task)
                    except _losses(ray) as error:
                        lost[cell.name] += 1
                        if lost[cell.name] < TRIES:
                            running[_started(ray, cell, threads, sign)] = cell
                            continue
                        failure = f"lost {TRIES} times ({_last_line(error)}); was there enough memory?"
                    except ray.exceptions.RayError as error:
                        failure = f"{_last_line(error)}. Is the same leocod installed on all machines of the cluster?"
                    yield Ended(cell, failure or (yield from _not_here(cell)))
                if not ended:
                    yield None
        finally:
            _stop(ray, list(running))


def _ray() -> Any:
    """The library, told how to behave before it is imported: later it does not listen."""
    for name, value in SURROUNDINGS.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise InvalidConfig("--ray needs Ray: pip install 'leocod[ray]'.") from error
    return ray


def _losses(ray: Any) -> tuple[type[Exception], ...]:
    """What a process that was killed, a machine that is gone or out of memory, looks like from here."""
    known = ray.exceptions
    return known.WorkerCrashedError, known.NodeDiedError, known.OutOfMemoryError, known.LocalRayletDiedError


def _last_line(error: Exception) -> str:
    return str(error).strip().splitlines()[-1].rstrip(".")


@contextmanager
def _connected(ray: Any, address: str) -> Iterator[bool]:
    """Whether the cluster was started here; then it ends here."""
    if ray.is_initialized():
        yield False
        return
    where = _found(address)
    before = signal.getsignal(signal.SIGTERM)
    try:
        try:
            ray.init(address=where, include_dashboard=False, log_to_driver=False, logging_level=logging.CRITICAL)
        except Exception as error:
            raise InvalidConfig(f"Ray cannot be used here: {_last_line(error)}.") from error
        # Ray has taken SIGTERM for itself, and would have much to say.
        _at_sigterm(_leave if before is signal.SIG_DFL else before)
        yield where == "local"
    finally:
        ray.shutdown()
        _at_sigterm(before)


def _at_sigterm(handler: Any) -> None:
    # Python allows it there only.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)


def _leave(number: int, frame: FrameType | None) -> None:
    """A command that is asked to stop asks its cells first, on its way out."""
    sys.exit(128 + number)


def _found(address: str) -> str | None:
    """As Ray wants to be told: an address that answers, None for the cluster of this machine, "local" for a new one."""
    named = os.environ.get("RAY_ADDRESS") or None if address == "auto" else address
    if named is None:
        # `ray start` leaves a note, which may be about a cluster that has crashed since.
        home = os.environ.get("RAY_TMPDIR") or ("/tmp" if os.name == "posix" else tempfile.gettempdir())
        return None if Path(home, "ray", "ray_current_cluster").is_file() and not _complaint(None) else "local"
    if complaint := _complaint(named):
        raise InvalidConfig(
            f"No Ray cluster can be reached at '{named}' ({complaint}). Give the one that `ray start --head` told, or "
            "auto; one that asks for a token also needs RAY_AUTH_MODE=token."
        )
    return named


def _complaint(address: str | None) -> str | None:
    """What keeps us from a cluster. Asked for in a process that can be ended: Ray cannot be told to give up."""
    asks = f"import ray; ray.init(address={address!r}, log_to_driver=False, logging_level='CRITICAL')"
    try:
        subprocess.run([sys.executable, "-c", asks], timeout=ANSWER, check=True, capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        return f"no answer in {ANSWER:g} s"
    except subprocess.CalledProcessError as error:
        said = [line for line in error.stderr.splitlines() if line.strip()]
        return said[-1].rstrip(".") if said else f"exit code {error.returncode}"
    return None


@contextmanager
def _sign(logs: Path) -> Iterator[Path]:
    """A file that only those see who share this folder."""
    sign = logs / f".shared-{uuid4().hex}"
    try:
        logs.mkdir(parents=True, exist_ok=True)
        sign.touch()
    except OSError as error:
        raise InvalidConfig(f"{logs} cannot be written to ({error.strerror}). Choose another --out.") from error
    try:
        yield sign
    finally:
        sign.unlink(missing_ok=True)


def _needs(cell: Cell, threads: int) -> dict[str, int]:
    return {"num_cpus": threads, "num_gpus": int(cell.config.device.startswith("cuda"))}


def _look_for_room(ray: Any, needs: Mapping[str, int], *, ours: bool) -> None:
    """Ray waits in silence for a machine that is large enough. A cluster may get one yet, ours will not."""
    wanted = {"CPU": needs["num_cpus"], "GPU": needs["num_gpus"]}
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if not any(all(machine.get(kind, 0) >= number for kind, number in wanted.items()) for machine in machines):
        lacks = "No machine of the Ray cluster has " + " and ".join(f"{n} {kind}" for kind, n in wanted.items() if n)
        if ours:
            raise InvalidConfig(f"{lacks}, which a cell needs. Choose another device, or more --jobs.")
        logger.warning("%s, which a cell needs: it waits until one joins.", lacks)


def _started(ray: Any, cell: Cell, threads: int, sign: Path) -> Any:
    """A cell on its way. The process ends with it, and with that all that torch and the lock of the run hold."""
    needs = _needs(cell, threads)
    # Ray chooses the GPU, and shows the process no other.
    config = cell.config.model_copy(update={"device": "cuda"}) if needs["num_gpus"] else cell.config
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    task = Task(
        config=config.model_dump(mode="json"),
        path=cell.path.absolute(),
        log=log_of(cell, sign.parent),
        threads=threads,
        sign=sign,
        folder=Path.cwd(),
        python_path=tuple(str(Path(path).absolute()) for path in paths if path),
        command=tuple(sys.argv),
    )
    # We count the losses ourselves: Ray would start a cell that is too large for a machine again without end.
    remote = ray.remote(max_calls=1, max_retries=0, **needs)(Task.run)
    return remote.options(name=cell.name).remote(task)


def _not_here(cell: Cell) -> Generator[None, None, str | None]:
    """A cell that has come to its end is so here too, at once or soon; else, what is wrong."""
    deadline = time.monotonic() + DELAY
    while cell.state != "finished":
        if time.monotonic() > deadline:
            return f"it ended on another machine, and {cell.path} is not finished here: {SHARED}."
        yield None
        time.sleep(TICK)
    return None


def _stop(ray: Any, tasks: list[Any]) -> None:
    """Ask all to save themselves. To those that have not begun, and those that do not listen, it is the end."""
    for task in tasks:
        ray.cancel(task)
    if tasks:
        _, deaf = ray.wait(tasks, num_returns=len(tasks), timeout=PATIENCE)
        for task in deaf:
            ray.cancel(task, force=True)
