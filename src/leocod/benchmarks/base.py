"""A benchmark: an ordered video with true labels, held-out test frames and class names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from leocod.errors import InvalidData, InvalidFrame
from leocod.files.images import Upright, read_orientation, read_size
from leocod.find import Kind
from leocod.readers.classes import explain_bad_list
from leocod.readers.image_checks import BrokenImage, explain_size_mismatch, find_faults
from leocod.readers.recording import (
    Entry,
    Instance,
    Problem,
    Recording,
    Report,
    group_by_step,
    limit_steps,
    raise_problem,
    split,
)
from leocod.settings import Settings
from leocod.text import one_line
from leocod.types import Frame, LabelledFrame, Labels, Picture

OnBadFrame = Literal["stop", "skip"]
"""An error, or one frame less, which is counted."""


class Benchmark(ABC):
    """What is learnt, and how it is tested. It knows the true labels, so no learner ever holds one.

    A stream uses `steps`, `frames_of`, `on_bad_frame` and `fault`; the labeller `fixed` uses `given`; the evaluator
    uses `classes`, `test` and `test_steps`. Only `frames_of` and `test` must be written, and `name`, `classes` and
    `steps` be set. A subclass also has `Options`, a Settings class, and is built as `Subclass(options, seed=...)`. It
    is chosen as `benchmark: {name: ...}` by the name of its file in `benchmarks/`, or as `module:Class`.
    """

    Options: ClassVar[type[Settings]]

    name: str
    classes: tuple[str, ...]
    """The class list; labels hold positions in it."""
    steps: int
    """How many steps the stream has."""
    on_bad_frame: OnBadFrame = "stop"
    """What a stream does when the pixels of a frame cannot be read."""

    def __init__(self, options: Any, *, seed: int = 0) -> None:  # noqa: B027
        """A subclass does here what it needs."""

    @property
    def lost_test_frames(self) -> int:
        """Held-out frames that somebody has labelled but that cannot be used: the test is shorter by them."""
        return 0

    @property
    def unlabelled_test_frames(self) -> int:
        """Held-out frames that nobody has labelled: they cannot test anything."""
        return 0

    @property
    def warnings(self) -> Sequence[str]:
        """What a run says once, when it starts: labels that are there and are not used."""
        return ()

    @abstractmethod
    def frames_of(self, step: int) -> Sequence[LabelledFrame]:
        """The training frames of one step, in order, each with its true labels. Steps may be asked for in any order.

        A source that cannot be reached right now raises SourceAway; one that has no more frames raises SourceEnded.
        """

    @property
    @abstractmethod
    def test(self) -> Sequence[LabelledFrame]:
        """The held-out frames with their true labels."""

    def published_frames(self, per_step: int) -> frozenset[int] | None:
        """Ids of the frames that a published choice labels at this cost; None: there is no such choice."""
        return None

    def instances_of(self, step: int) -> Sequence[NDArray[np.int64]] | None:
        """Which thing each box of a step shows: an id for each box, in one array for each training frame.

        Frames and boxes are in the order of `frames_of`. The same thing has the same id in the whole stream. None:
        nobody knows.
        """
        return None

    def fault(self, frame: Frame, error: InvalidFrame) -> InvalidFrame:
        """The error about a frame whose pixels cannot be read, with all that the benchmark knows about the frame."""
        return error

    def test_steps(self) -> Sequence[int]:
        """The step that each test frame was held out from; evenly spread unless a subclass knows better."""
        return [position * self.steps // len(self.test) for position in range(len(self.test))]


BENCHMARKS: Kind[Benchmark] = Kind("benchmark", "leocod.benchmarks", ("frames_of", "test"))


class RecordedOptions(Settings):
    """Options of every benchmark that is read from files."""

    classes: tuple[str, ...] | None = None
    """Names of the classes that take part, in this order; objects of others are left unlabelled. Null: all."""

    steps: int | None = Field(None, ge=1)
    """Use the first so many steps only. Null: all."""

    on_bad_frame: OnBadFrame = "stop"
    """`stop`: the first frame that cannot be used is an error. `skip`: such frames are left out and counted."""

    @field_validator("classes")
    @classmethod
    def _check_names(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if names is not None and (problem := explain_bad_list(names)):
            raise ValueError(problem)
        return names


class SplitOptions(RecordedOptions):
    """Options of benchmarks whose frames are still to be divided into steps."""

    frames_per_step: int = Field(16, ge=1)
    """Frames in a row that make a step."""

    hold_out: int = Field(1, ge=0)
    """Frames held out for testing after each step."""


class Recorded(Benchmark):
    """A benchmark read from files. A subclass says how, in `record`; frames are decoded when they are used.

    With `on_bad_frame: skip`, a broken frame stays in its step until a stream tries to load it. So it takes part in the
    draw of labels, and the other frames get the labels that they would get without the damage.
    """

    options: RecordedOptions
    upright: bool = False
    """Whether pictures are turned as their EXIF notes say, or used as they are stored."""

    def __init__(self, options: RecordedOptions, *, seed: int) -> None:
        """The seed is not used: nothing in a recording is random."""
        self.options = options
        self.on_bad_frame = options.on_bad_frame
        self.problems: list[Problem] = []
        """Problems in the files that did not end the reading."""
        self._reasons: dict[int, str] = {}
        recording = limit_steps(self._read(), options.steps)
        self.classes = recording.classes
        self._given = recording.given
        self._steps = group_by_step(recording.entries)
        self._held_out = [entry for entry in recording.entries if entry.held_out]
        self._records = {entry.id: entry.record for entry in recording.entries}
        self.steps = len(self._steps)
        if not any(not entry.broken for entries in self._steps for entry in entries):
            raise InvalidData(f"{self.name}: no frame that can be used{self._describe_first()}.")

    @abstractmethod
    def record(self, report: Report) -> Recording:
        """Read the files: frames in order, with their labels; call `report` for each problem.

        Frames that have no step yet are divided by the options `frames_per_step` and `hold_out`.
        """

    def _read(self) -> Recording:
        recording, options = self.record(self._add_problem), self.options
        if not isinstance(options, SplitOptions) or any(entry.step >= 0 for entry in recording.entries):
            return recording
        return replace(recording, entries=self.divide(recording.entries, options))

    def divide(self, entries: Sequence[Entry], options: SplitOptions) -> tuple[Entry, ...]:
        """Divide frames that have no step yet into steps and test frames."""
        return split(entries, frames_per_step=options.frames_per_step, held_out=options.hold_out)

    def picture(self, entry: Entry) -> Path | Picture:
        """Return where the pixels of a frame come from."""
        if self.upright and read_orientation(entry.picture) != 1:
            return Upright(entry.picture)
        return entry.picture

    def frames_of(self, step: int) -> Sequence[LabelledFrame]:
        if not 0 <= step < self.steps:
            raise IndexError(f"Step {step} of {self.name}, which has {self.steps} steps.")
        return [self._make_frame(entry) for entry in self._steps[step]]

    @cached_property
    def test(self) -> Sequence[LabelledFrame]:
        """The held-out frames that somebody has labelled.

        The first use decodes each once, so that damage is found at the start of a run and not at its first evaluation.
        """
        pairs = [self._make_frame(entry) for entry in self._held_out if entry.labels is not None and not entry.broken]
        with closing(find_faults([frame for frame, _ in pairs])) as faults:
            return tuple(pair for pair, fault in zip(pairs, faults, strict=True) if not self._is_lost(pair[0], fault))

    @property
    def lost_test_frames(self) -> int:
        labelled = sum(entry.labels is not None for entry in self._held_out)
        return labelled - len(self.test)

    @property
    def unlabelled_test_frames(self) -> int:
        return sum(entry.labels is None for entry in self._held_out)

    @property
    def warnings(self) -> Sequence[str]:
        unused = ("stray annotation", "frame number", "shape")
        return [str(problem) for problem in self.problems if problem.kind in unused and not problem.breaks]

    def published_frames(self, per_step: int) -> frozenset[int] | None:
        return self._given.get(per_step)

    def instances_of(self, step: int) -> Sequence[NDArray[np.int64]] | None:
        found = []
        for entry in self._steps[step]:
            if entry.instances is None and entry.labels is not None and len(entry.labels):
                return None
            found.append(np.asarray([self._instances[one] for one in entry.instances or ()], np.int64))
        return found

    @cached_property
    def _instances(self) -> Mapping[Instance, int]:
        """A number for each thing, in the order in which things appear."""
        named = (one for entries in self._steps for entry in entries for one in entry.instances or ())
        return {instance: number for number, instance in enumerate(dict.fromkeys(named))}

    def test_steps(self) -> Sequence[int]:
        steps = {entry.id: entry.step for entry in self._held_out}
        return [steps[frame.id] for frame, _ in self.test]

    def fault(self, frame: Frame, error: InvalidFrame) -> InvalidFrame:
        return explain_size_mismatch(error, frame, self._records[frame.id], upright=self.upright)

    def _make_frame(self, entry: Entry) -> LabelledFrame:
        size, content = entry.size, self._find_content(entry)
        if size is None and not isinstance(content, BrokenImage):
            size = read_size(entry.picture, upright=self.upright)
        labels = Labels.unknown() if entry.labels is None else entry.labels
        return Frame(entry.id, entry.video, entry.index, size or (0, 0), content), labels

    def _find_content(self, entry: Entry) -> Path | Picture:
        if entry.broken:
            return BrokenImage(self._reasons.get(entry.id, f"{one_line(entry.picture)} cannot be used."))
        try:
            if entry.size is None:
                read_size(entry.picture)
            return self.picture(entry)
        except InvalidFrame as error:
            return BrokenImage(str(error))

    def _is_lost(self, frame: Frame, fault: InvalidFrame | None) -> bool:
        if fault is None:
            return False
        fault = self.fault(frame, fault)
        if self.on_bad_frame == "stop":
            raise fault
        where = frame.content if isinstance(frame.content, Path) else Path(frame.video)
        self.problems.append(Problem(where, f"test frame {frame.id}", str(fault), frame=frame.id))
        return True

    def _add_problem(self, problem: Problem) -> None:
        if self.on_bad_frame == "stop" or problem.fatal:
            raise_problem(problem)
        self.problems.append(problem)
        if problem.breaks and problem.frame is not None:
            self._reasons[problem.frame] = str(problem)

    def _describe_first(self) -> str:
        return next((f" ({problem})" for problem in self.problems if problem.breaks), "")
