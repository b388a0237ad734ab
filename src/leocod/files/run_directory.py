"""Layout of a run directory, and writing into it so that a reader never meets half a file.

config.yaml                 the complete configuration, defaults included
environment.json            versions, machine, source state, command line
events.jsonl                what happened, one JSON object a line
events/until_09999.jsonl.gz the same of a long run's earlier steps
labels.json                 which frames were labelled
test.json                   the test frames and their true boxes, COCO form
detections/step_00099.json  what was found in them after a step, COCO results form
checkpoints/step_00099.pt   the learner after a step
tensorboard/                curves
samples/                    frames worth looking at, and samples.json about them
memory.json                 what the replay memory held at the end
results.json                the figures
report.html                 all of it to look at
.lock                       held by the process that runs
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from leocod.errors import InvalidConfig, InvalidRun, RunExists, RunInUse
from leocod.files.documents import read_yaml
from leocod.text import one_line


class RunDirectory:
    """Where each file of a run is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.yaml"
        self.environment = path / "environment.json"
        self.events = path / "events.jsonl"
        self.earlier_events = path / "events"
        self.labels = path / "labels.json"
        self.test = path / "test.json"
        self.detections = path / "detections"
        self.checkpoints = path / "checkpoints"
        self.tensorboard = path / "tensorboard"
        self.samples = path / "samples"
        self.memory = path / "memory.json"
        self.results = path / "results.json"
        self.report = path / "report.html"

    @classmethod
    def create(cls, path: Path) -> RunDirectory:
        """A new directory, or an empty one that is there. Refuses to mix two runs."""
        refuse_if_taken(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidRun(f"{path} cannot be made ({error.strerror}). Choose another --out.") from error
        return cls(path)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Be the only process that writes here. The system lets go of the lock with the process, however it ends."""
        lock = FileLock(self.path / ".lock", timeout=0, fallback_to_soft=False)
        try:
            lock.acquire()
        except Timeout as error:
            raise RunInUse(f"{self.path} is in use: another process runs there. Wait for it, or end it.") from error
        except OSError as error:
            raise InvalidRun(f"{self.path} cannot be written to ({error.strerror}). Mend that first.") from error
        try:
            yield
        finally:
            lock.release()

    def wait_until_free(self) -> None:
        """As long as another process writes here."""
        if self.path.is_dir():
            with FileLock(self.path / ".lock", fallback_to_soft=False).acquire(poll_interval=0.5):
                pass

    def sweep(self) -> None:
        """Remove what a process that was killed has left half-written. For the one that holds the lock."""
        for folder in (self.path, self.earlier_events, self.detections, self.checkpoints, self.samples):
            for leftover in folder.glob(".*.part"):
                leftover.unlink(missing_ok=True)

    @classmethod
    def open(cls, path: Path) -> RunDirectory:
        """A directory that holds a run."""
        if not (path / "config.yaml").is_file():
            raise InvalidRun(
                f"{one_line(path)} is not a run directory: it has no config.yaml. Give one that `leocod run` wrote."
            )
        return cls(path)

    def set_aside(self, used: Path | None, step: int) -> None:
        """Take what is later than the checkpoint that is used out of the way.

        Later checkpoints are damaged; detections of later steps than this one will be made again.
        """
        saved = list_by_step(self.checkpoints, ".pt")
        for later in saved[saved.index(used) + 1 :] if used else []:
            later.replace(later.with_name(f"{later.name}.damaged"))
        for evaluated, later in list_numbered(self.detections, "step_", ".json"):
            if evaluated > step:
                later.unlink()


def refuse_if_taken(path: Path) -> None:
    """Raise unless nothing is there, or only an empty directory. Hidden files don't count: a lock, half of a file."""
    if path.is_dir():
        if any(not one.name.startswith(".") for one in path.iterdir()):
            raise RunExists(f"{path} already holds {_content(path)}. Choose another --out, or remove it first.")
    elif path.exists():
        raise RunExists(f"{path} is a file. Choose another --out.")


def find_free_path(path: Path) -> Path:
    """The path itself, or the first of path-2, path-3, ... that is not taken; a file keeps its ending."""
    # A dot in a run's name, as in module.Class, is no ending.
    ending = path.suffix if path.suffix == ".png" else ""
    stem = path.name.removesuffix(ending)
    candidates = (path if number == 1 else path.with_name(f"{stem}-{number}{ending}") for number in count(1))
    return next(candidate for candidate in candidates if not candidate.exists())


def format_step(step: int) -> str:
    """Sorts by step.

    >>> step_name(99)
    'step_00099'
    """
    return f"step_{step:05d}"


def list_numbered(folder: Path, start: str, ending: str) -> list[tuple[int, Path]]:
    """The files of a folder whose name has a step between this start and ending, by step, whatever its digits."""
    found = {path: path.name.removeprefix(start).removesuffix(ending) for path in folder.glob(f"{start}*{ending}")}
    return sorted(((int(step), path) for path, step in found.items() if step.isdecimal()), key=lambda one: one[0])


def list_by_step(folder: Path, ending: str) -> list[Path]:
    """The files of a folder that `step_name` named, oldest first."""
    return [path for _, path in list_numbered(folder, "step_", ending)]


def packed_path(folder: Path, step: int) -> Path:
    """Where the events up to a step are packed."""
    return folder / f"until_{step:05d}.jsonl.gz"


def list_packed_events(folder: Path) -> dict[int, Path]:
    """The packed events by their last step, in order."""
    return dict(list_numbered(folder, "until_", ".jsonl.gz"))


@contextmanager
def atomic_write(path: Path, *, lasting: bool = True) -> Iterator[Path]:
    """A temporary path beside the real one, which it replaces at the end; on an error the real one stays as it was.

    `lasting`: once it is there, a loss of power does not take it away.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield temporary
        if lasting:
            sync(temporary)
        temporary.replace(path)
        if lasting:
            sync(path.parent)
    except OSError as error:
        # By its real name: a failed write tells none, and the temporary one says nothing to anybody.
        if error.filename in (None, str(temporary)):
            error.filename = str(path)
        raise
    finally:
        # What went wrong is more interesting than what is left of it.
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk and not only on their way."""
    if path.is_dir() and os.name == "nt":
        return
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def append(file: int, data: bytes) -> None:
    """All of it at the end of an open file, or, on an error, nothing."""
    size = os.fstat(file).st_size
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(file, rest) :]
    except OSError:
        os.ftruncate(file, size)
        raise


@contextmanager
def atomic_directory(folder: Path) -> Iterator[Path]:
    """A temporary folder beside the real one, which it becomes at the end; on an error nothing is left.

    An empty folder may be there already.
    """
    folder = folder.resolve()
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    try:
        temporary.mkdir(parents=True)
        yield temporary
        if folder.exists():
            folder.rmdir()
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_text(path: Path, text: str, *, lasting: bool = True) -> None:
    """The whole text, or nothing."""
    with atomic_write(path, lasting=lasting) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any, *, indent: int | None = None, lasting: bool = True) -> None:
    """JSON that every reader accepts: no NaN."""
    write_text(path, json.dumps(value, indent=indent, allow_nan=False) + "\n", lasting=lasting)


def describe_plugin(*, ema: bool, pseudo_labels: bool) -> str:
    """How a run's plug-in is called, whole or the half that is on.

    >>> plug_in_words(ema=True, pseudo_labels=False)
    'with EMA only'
    """
    if ema and pseudo_labels:
        return "with Efficient-CLS"
    return "with EMA only" if ema else "with pseudo labels only" if pseudo_labels else "without Efficient-CLS"


def _content(path: Path) -> str:
    """What is in the way, in the user's words."""
    try:
        config = read_yaml(path / "config.yaml")
        options = config["efficient_cls"] or {"ema": False, "pseudo_labels": False}
        plug_in = describe_plugin(ema=options["ema"], pseudo_labels=options["pseudo_labels"])
        return (
            f"a run ({config['benchmark']['name']}, {config['strategy']['name']} {plug_in}, "
            f"{config['labels']['per_step']} labelled frames a step, seed {config['seed']})"
        )
    except (InvalidConfig, KeyError, TypeError):
        return "other files"
