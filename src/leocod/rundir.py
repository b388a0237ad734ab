"""Layout of a run directory, and writing into it so that a reader never meets half a file.

config.yaml                 the complete configuration, defaults included
environment.json            versions, machine, source state, command line
events.jsonl                what happened, one JSON object a line
labels.json                 which frames were labelled
test.json                   the test frames and their true boxes, COCO form
detections/step_00099.json  what was found in them after a step, COCO results form
checkpoints/step_00099.pt   the learner after a step
tensorboard/                curves
samples/                    frames worth looking at, and samples.json about them
memory.json                 what the replay memory held at the end
results.json                the figures
report.html                 all of it to look at
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import yaml

from leocod.errors import InvalidRun, RunExists


class RunDirectory:
    """Where each file of a run is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.yaml"
        self.environment = path / "environment.json"
        self.events = path / "events.jsonl"
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

    @classmethod
    def open(cls, path: Path) -> RunDirectory:
        """A directory that holds a run."""
        if not (path / "config.yaml").is_file():
            raise InvalidRun(f"{path} is not a run directory: it has no config.yaml. Give one that `leocod run` wrote.")
        return cls(path)

    def newest_checkpoint(self) -> Path:
        """The learner as it was saved last."""
        saved = by_step(self.checkpoints)
        if not saved:
            raise InvalidRun(f"{self.path} has no checkpoint yet. The first one comes after `checkpoint.every` steps.")
        return saved[-1]


def refuse_if_taken(path: Path) -> None:
    """Raise unless nothing is there, or only an empty directory."""
    if path.is_dir():
        if any(path.iterdir()):
            raise RunExists(f"{path} already holds {_content(path)}. Choose another --out, or remove it first.")
    elif path.exists():
        raise RunExists(f"{path} is a file. Choose another --out.")


def free_path(path: Path) -> Path:
    """The path itself, or the first of path-2, path-3, ... that is not taken; a file keeps its ending."""
    # A dot in a run's name, as in module.Class, is no ending.
    ending = path.suffix if path.suffix == ".png" else ""
    stem = path.name.removesuffix(ending)
    candidates = (path if number == 1 else path.with_name(f"{stem}-{number}{ending}") for number in count(1))
    return next(candidate for candidate in candidates if not candidate.exists())


def step_name(step: int) -> str:
    """Sorts by step.

    >>> step_name(99)
    'step_00099'
    """
    return f"step_{step:05d}"


def by_step(folder: Path) -> list[Path]:
    """The checkpoints in a folder, oldest first, also where a step has more digits than its name was made for."""
    return sorted(folder.glob("step_*.pt"), key=lambda path: int(path.stem.removeprefix("step_")))


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside the real one, which it replaces at the end; on an error the real one stays as it was."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def appearing(folder: Path) -> Iterator[Path]:
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


def write_text(path: Path, text: str) -> None:
    """The whole text, or nothing."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any, *, indent: int | None = None) -> None:
    """JSON that every reader accepts: no NaN."""
    write_text(path, json.dumps(value, indent=indent, allow_nan=False) + "\n")


def plug_in_words(*, ema: bool, pseudo_labels: bool) -> str:
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
        config = yaml.safe_load((path / "config.yaml").read_text(encoding="utf-8"))
        options = config["efficient_cls"] or {"ema": False, "pseudo_labels": False}
        plug_in = plug_in_words(ema=options["ema"], pseudo_labels=options["pseudo_labels"])
        return (
            f"a run ({config['benchmark']['name']}, {config['strategy']['name']} {plug_in}, "
            f"{config['labels']['per_step']} labelled frames a step, seed {config['seed']})"
        )
    except (OSError, yaml.YAMLError, KeyError, TypeError, UnicodeDecodeError):
        return "other files"
