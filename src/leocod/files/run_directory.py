"""The layout of a run directory, and who may write into it.

config.yaml                 the complete configuration, defaults included
environment.json            versions, machine, source state, command line, digest of the starting weights
events.jsonl                what happened, one JSON object a line
events/until_09999.jsonl.gz the same of a long run's earlier steps
labels.json                 which frames were labelled
given.json                  fingerprints of their labels, by which a later run knows what is new
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

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from leocod.errors import InvalidConfig, InvalidRun, RunExists, RunInUse
from leocod.files.documents import read_yaml
from leocod.text import describe_plugin, natural_key, one_line, pluralize


class RunDirectory:
    """Where each file of a run is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.yaml"
        self.environment = path / "environment.json"
        self.events = path / "events.jsonl"
        self.earlier_events = path / "events"
        self.labels = path / "labels.json"
        self.given = path / "given.json"
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
        """Make a new directory, or take an empty one. Two runs are never mixed."""
        refuse_if_taken(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidRun(f"{path} cannot be made ({error.strerror}). Choose another --out.") from error
        return cls(path)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Be the only process that writes here. The system frees the lock when the process ends, however it ends."""
        lock = FileLock(self.path / ".lock", timeout=0, fallback_to_soft=False)
        try:
            lock.acquire()
        except Timeout as error:
            raise RunInUse(f"{self.path} is in use: another process runs there. Wait for it, or end it.") from error
        except OSError as error:
            raise InvalidRun(f"{self.path} cannot be written to ({error.strerror}). Fix this and retry.") from error
        try:
            yield
        finally:
            lock.release()

    def wait_until_free(self) -> None:
        """Wait while another process writes here."""
        if self.path.is_dir():
            with FileLock(self.path / ".lock", fallback_to_soft=False).acquire(poll_interval=0.5):
                pass

    def sweep(self) -> None:
        """Remove half-written files of a process that was killed. Only the holder of the lock may call this."""
        for folder in (self.path, self.earlier_events, self.detections, self.checkpoints, self.samples):
            for leftover in folder.glob(".*.part"):
                leftover.unlink(missing_ok=True)

    @classmethod
    def open(cls, path: Path) -> RunDirectory:
        """Open a directory that holds a run."""
        if not (path / "config.yaml").is_file():
            raise InvalidRun(
                f"{one_line(path)} is not a run directory: it has no config.yaml. Give one that `leocod run` wrote."
            )
        return cls(path)

    @property
    def has_finished(self) -> bool:
        """Whether the run has come to its end. A live run never does."""
        return self.results.exists() and self.memory.exists()

    def require_finished(self) -> None:
        """Raise if there is a run that has not come to its end, with how to bring it there."""
        if (self.path / "journal.jsonl").exists():
            raise InvalidRun(f"{one_line(self.path)} is a live run. It has no end, and so no results.")
        if self.config.is_file() and not self.has_finished:
            command = f"leocod run --resume {shlex.quote(str(self.path))}"
            raise InvalidRun(
                f"{one_line(self.path)} has not finished: it has no results yet. Finish it with: {command}"
            )

    def describe_progress(self) -> str | None:
        """Say after which step a run that has not finished was saved; None for one that has, and for a live run."""
        saved = list_numbered(self.checkpoints, "step_", ".pt")
        if self.has_finished or not saved or (self.path / "journal.jsonl").exists():
            return None
        return f"{one_line(self.path)} has not finished: this is what it had learnt after step {saved[-1][0] + 1}."

    def set_aside(self, used: Path | None, step: int) -> None:
        """Move files out of the way that are later than the checkpoint in use.

        Later checkpoints are damaged. Detections after this step will be made again.
        """
        saved = list_by_step(self.checkpoints, ".pt")
        for later in saved[saved.index(used) + 1 :] if used else []:
            later.replace(later.with_name(f"{later.name}.damaged"))
        for evaluated, later in list_numbered(self.detections, "step_", ".json"):
            if evaluated > step:
                later.unlink()


def list_runs(folder: Path) -> list[Path]:
    """The run directories in a folder, in natural order; none where it is a run directory itself, or no folder."""
    if not folder.is_dir() or (folder / "config.yaml").exists() or (folder / "results.json").exists():
        return []
    runs = [path for path in folder.iterdir() if (path / "config.yaml").is_file()]
    return sorted(runs, key=lambda path: natural_key(path.name))


def refuse_if_taken(path: Path) -> None:
    """Raise unless nothing is there, or only an empty directory. Hidden files do not count, such as a lock."""
    if path.is_dir():
        if any(not file.name.startswith(".") for file in path.iterdir()):
            what = _describe_content(path)
            raise RunExists(f"{path} already holds {what}. Choose another --out, or remove it first.")
    elif path.exists():
        raise RunExists(f"{path} is a file. Choose another --out.")


def find_free_path(path: Path) -> Path:
    """Return the path itself, or the first of path-2, path-3, ... that is free; a file keeps its ending."""
    # A dot in a run's name, as in module.Class, is no ending.
    ending = path.suffix if path.suffix in (".png", ".html") else ""
    stem = path.name.removesuffix(ending)
    candidates = (path if number == 1 else path.with_name(f"{stem}-{number}{ending}") for number in count(1))
    return next(candidate for candidate in candidates if not candidate.exists())


def format_step(step: int) -> str:
    """The name of a step's file without its ending; such names sort by step.

    >>> format_step(99)
    'step_00099'
    """
    return f"step_{step:05d}"


def list_numbered(folder: Path, start: str, ending: str) -> list[tuple[int, Path]]:
    """List the files named start + step + ending, ordered by step whatever its number of digits."""
    steps = {path: path.name.removeprefix(start).removesuffix(ending) for path in folder.glob(f"{start}*{ending}")}
    return sorted(((int(step), path) for path, step in steps.items() if step.isdecimal()), key=lambda pair: pair[0])


def list_by_step(folder: Path, ending: str) -> list[Path]:
    """List the files of a folder that `format_step` named, oldest first."""
    return [path for _, path in list_numbered(folder, "step_", ending)]


def packed_path(folder: Path, step: int) -> Path:
    """Where the events up to a step are packed."""
    return folder / f"until_{step:05d}.jsonl.gz"


def list_packed_events(folder: Path) -> dict[int, Path]:
    """Map the last step of each packed file of events to the file, in order."""
    return dict(list_numbered(folder, "until_", ".jsonl.gz"))


def _describe_content(path: Path) -> str:
    """Say what a directory holds, in the user's words."""
    try:
        config = read_yaml(path / "config.yaml")
        options = config["efficient_cls"] or {"ema": False, "pseudo_labels": False}
        plug_in = describe_plugin(ema=options["ema"], pseudo_labels=options["pseudo_labels"])
        return (
            f"a run ({config['benchmark']['name']}, {config['strategy']['name']} {plug_in}, "
            f"{_describe_labels(config['labels'])}, seed {config['seed']})"
        )
    except (InvalidConfig, KeyError, TypeError):
        return "other files"


def _describe_labels(labels: Mapping[str, Any]) -> str:
    """Say how many frames of a step are labelled, where the budget is for a step."""
    per_step = labels["per_step"]
    return "labels by another budget" if per_step is None else f"{pluralize(per_step, 'labelled frame')} a step"
