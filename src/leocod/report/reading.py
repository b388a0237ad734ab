"""A run directory, read back."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import yaml
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from leocod.errors import InvalidRun
from leocod.evaluation.continual import presence_table
from leocod.evaluation.metrics import Metrics
from leocod.events import PseudoLabelAudit

Read = TypeVar("Read")


class _Stored(BaseModel):
    """Keys that a later version may add are none of this reader's business."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Evaluation(_Stored):
    """AP50 after one step, in points from 0 to 100."""

    step: int
    ap50: float | None
    ap50_by_class: dict[str, float | None]


class Results(_Stored):
    """What came out of a run; figures in points from 0 to 100."""

    benchmark: str
    detector: str
    strategy: str
    efficient_cls: bool
    ema: bool
    pseudo_labels: bool
    labels_per_step: int | None
    seed: int
    steps: int
    labelled_frames: int
    fap: float | None
    cap: float | None
    forgetfulness: float | None
    evaluations: list[Evaluation]
    seconds: float
    labels_nested: bool = False
    metrics: Metrics = Metrics()
    diagnosis: str | None = None
    seconds_by_part: dict[str, float] = {}
    memory_bytes: int | None = None


class Sample(_Stored):
    """A frame worth looking at, with its true boxes and the boxes that were given or found."""

    kind: str
    step: int
    frame: int
    file: str
    truth: list[tuple[float, float, float, float, int | str]] = []
    boxes: list[tuple[float, float, float, float, int | str, float]] = []


class Held(_Stored):
    """How much of one class the memory holds, and how many frames of it came by."""

    frames: int
    seen: int


class Memory(_Stored):
    """What was in the replay memory at the end."""

    bytes: int
    frames: int
    by_class: dict[str, Held] = {}


@dataclass(frozen=True)
class Run:
    """One run directory. Only config.yaml, results.json and events.jsonl must be there."""

    path: Path
    config: str
    """As it stands in the file."""
    results: Results
    classes: tuple[str, ...]
    present: Mapping[int, tuple[int, ...]]
    """Step -> classes in its frames, labelled or not."""
    labelled: Mapping[int, tuple[int, ...]]
    """Step -> classes in its labelled frames."""
    audits: Mapping[int, PseudoLabelAudit]
    """Step -> how right its pseudo labels were."""
    environment: Mapping[str, Any]
    samples: tuple[Sample, ...]
    memory: Memory | None

    @classmethod
    def load(cls, path: Path) -> Run:
        """Read a run directory, or say which file is wrong and what to do."""
        if not path.is_dir():
            raise InvalidRun(f"{path} is not a directory. Give the directory that `leocod run` wrote.")
        results = _read(path / "results.json", Results)
        told = _read_events(path / "events.jsonl")
        return cls(
            path=path,
            config=_config(path / "config.yaml"),
            results=results,
            classes=told.classes,
            present=told.present,
            labelled=told.labelled,
            audits=told.audits,
            environment=_read_optional(path / "environment.json", dict[str, Any]) or {},
            samples=tuple(_read_optional(path / "samples" / "samples.json", list[Sample]) or ()),
            memory=_read_optional(path / "memory.json", Memory),
        )

    @property
    def name(self) -> str:
        """The directory's name, which is the run's."""
        return self.path.resolve().name

    @property
    def evaluated_steps(self) -> list[int]:
        """Steps after which there was an evaluation."""
        return [evaluation.step for evaluation in self.results.evaluations]

    @cached_property
    def table(self) -> NDArray[np.float64]:
        """AP50 in points: evaluations x classes; NaN for a class without a test box."""
        rows = [
            [np.nan if (value := one.ap50_by_class.get(name)) is None else value for name in self.classes]
            for one in self.results.evaluations
        ]
        return np.array(rows, np.float64).reshape(len(rows), len(self.classes))

    @cached_property
    def presence(self) -> NDArray[np.bool_]:
        """Which class was in the training stream at which step: steps x classes."""
        return self._over_steps(self.present)

    @cached_property
    def counted_presence(self) -> NDArray[np.bool_]:
        """Which class counts as present at which step when forgetting is measured: steps x classes."""
        return self._over_steps(self.results.metrics.seen(self.present, self.labelled))

    def _over_steps(self, seen: Mapping[int, tuple[int, ...]]) -> NDArray[np.bool_]:
        steps = max([self.results.steps, *(step + 1 for step in [*self.present, *self.evaluated_steps])])
        return presence_table(seen, steps=steps, classes=len(self.classes))

    @property
    def can_forget(self) -> bool:
        """Whether forgetfulness means anything here; offline training, for one, has no time that passes."""
        return bool(self.present) and self.results.forgetfulness is not None

    @property
    def command(self) -> str | None:
        """The command line that started the run, ready to be pasted."""
        for key in ("command", "command_line", "argv"):
            if key in self.environment:
                command = self.environment[key]
                return shlex.join(map(str, command)) if isinstance(command, list) else str(command)
        return None


def ap_name(runs: Sequence[Run]) -> str:
    """What AP50 is called where these runs are shown together."""
    return " / ".join(dict.fromkeys(run.results.metrics.ap_name for run in runs))


def last_seen(runs: Sequence[Run]) -> str:
    """What the time away of a class is counted from where these runs are shown together."""
    return " / ".join(dict.fromkeys(run.results.metrics.last_seen for run in runs))


def _text(file: Path) -> str:
    if not file.is_file():
        raise InvalidRun(
            f"{file} is missing. Give the directory of a run that has finished; some files are written at its end."
        )
    return file.read_text(encoding="utf-8")


def _read(file: Path, kind: type[Read]) -> Read:
    text = _text(file)
    try:
        return TypeAdapter(kind).validate_python(json.loads(text))
    except json.JSONDecodeError as error:
        raise _damaged(file, f"line {error.lineno}: {error.msg}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise _damaged(file, f"{'.'.join(map(str, first['loc'])) or 'content'}: {first['msg']}") from error


def _read_optional(file: Path, kind: type[Read]) -> Read | None:
    return _read(file, kind) if file.exists() else None


def _damaged(file: Path, what: str) -> InvalidRun:
    return InvalidRun(f"{file} cannot be read ({what}). Restore it from a backup, or run again into a new directory.")


def _config(file: Path) -> str:
    text = _text(file)
    try:
        yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise _damaged(file, str(error).replace("\n", " ")) from error
    return text


@dataclass
class _Told:
    """Class names, and what the report needs from each step."""

    classes: tuple[str, ...] = ()
    present: dict[int, tuple[int, ...]] = field(default_factory=dict)
    labelled: dict[int, tuple[int, ...]] = field(default_factory=dict)
    audits: dict[int, PseudoLabelAudit] = field(default_factory=dict)


def _read_events(file: Path) -> _Told:
    """A step told twice (a resumed run) counts as told last."""
    told = _Told()
    for number, line in enumerate(_text(file).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
            if event["event"] == "RunStarted":
                told.classes = tuple(event["classes"])
            elif event["event"] == "StepLearned":
                step = int(event["step"])
                told.present[step] = tuple(event["present"])
                told.labelled[step] = tuple(event["labelled"])
                told.audits.pop(step, None)
                if event.get("audit"):
                    told.audits[step] = PseudoLabelAudit(**event["audit"])
        except (ValueError, KeyError, TypeError) as error:
            raise _damaged(file, f"line {number}: {type(error).__name__} {error}") from error
    if not told.classes:
        raise _damaged(file, "no RunStarted with class names")
    stranger = max((max(one, default=0) for one in [*told.present.values(), *told.labelled.values()]), default=0)
    if stranger >= len(told.classes):
        raise _damaged(file, f"class {stranger}, but there are {len(told.classes)} classes")
    return told
