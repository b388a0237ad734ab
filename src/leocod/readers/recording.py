"""What every reader returns: frames in order with their labels, divided into steps and test frames; and problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

from leocod.errors import InvalidData
from leocod.text import one_line
from leocod.types import Labels

ProblemKind = Literal[
    "file",
    "picture",
    "turned picture",
    "size",
    "box",
    "clipped box",
    "swapped box",
    "class",
    "duplicate id",
    "duplicate picture",
    "order",
    "stray annotation",
    "frame number",
    "shape",
    "path",
    "crowd",
    "unlabelled frame",
    "unused class",
    "no test frame",
    "few test frames",
    "untested classes",
    "other",
]
"""The kinds by which `leocod data check` counts problems."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a data set."""

    file: Path
    record: str
    """Which record of the file, in words: "image 17", "annotation 3 of image 17", "row 12"; empty for the whole."""
    what: str
    """What is wrong with it, and what it should be."""
    breaks: bool = True
    """Whether the frame, or all of the data, cannot be used. Otherwise it is used in spite of the problem."""
    frame: int | None = None
    """The frame that is lost, when it is one."""
    kind: ProblemKind = "other"
    """Such as a damaged file, a damaged picture, an impossible box."""
    fatal: bool = False
    """Whether it ends every run, even one that leaves broken frames out: it is not known which frames there are, or
    whose labels these are."""

    def __str__(self) -> str:
        return one_line(f"{self.file}{f', {self.record}' if self.record else ''}: {self.what}")


Report = Callable[[Problem], None]
"""Called by a reader for each problem. If it returns, the reader leaves that frame out and goes on."""


def raise_problem(problem: Problem) -> None:
    """The strictest report: the first problem that breaks something ends the reading."""
    if problem.breaks:
        raise InvalidData(str(problem))


class Problems(Protocol):
    """Takes the problems of one frame."""

    def add(self, part: str, what: str, kind: ProblemKind, *, breaks: bool = True) -> None: ...


@dataclass
class FrameProblems:
    """Reports the problems of one frame, and remembers whether one of them breaks the frame."""

    report: Report
    file: Path
    record: str
    """Which record of the file the frame is."""
    frame: int
    broken: bool = False

    @property
    def where(self) -> str:
        """The file and the record in it."""
        return f"{self.file}{f', {self.record}' if self.record else ''}"

    def add(self, part: str, what: str, kind: ProblemKind, *, breaks: bool = True) -> None:
        """Report a problem. `part` is the record within the frame's own that is wrong; empty for the frame itself."""
        self.broken |= breaks
        record = " of ".join(name for name in (part, self.record) if name)
        self.report(Problem(self.file, record, what, breaks, self.frame if breaks else None, kind))


Instance = tuple[str, int | str]
"""A thing: the video in which its name is its own, empty where that is the whole recording; and its name."""


@dataclass(frozen=True, eq=False)
class Entry:
    """One frame of a recording, as its files describe it."""

    id: int
    """Unique in the recording."""
    video: str
    index: int
    """Position in its video, or in the whole where there are no videos."""
    picture: Path
    """Where its pixels are: an image file, or the video that it is in."""
    size: tuple[int, int] | None
    """Height and width in pixels, where the files say; None: only the picture knows."""
    labels: Labels | None
    """Its true labels. None: nobody has labelled it. A broken frame that somebody has labelled has empty labels, so
    that it takes part in the draw of labels."""
    step: int = -1
    """The step that it belongs to."""
    held_out: bool = False
    """A test frame."""
    broken: bool = False
    """It cannot be used, but keeps its place."""
    record: str = ""
    """Where it is described, for messages: the file, and which record in it."""
    instances: tuple[Instance, ...] | None = None
    """Which thing each box of its labels shows. None: the files do not say."""


@dataclass(frozen=True)
class Recording:
    """All frames in order. Broken frames keep their places, so that the others keep theirs."""

    classes: tuple[str, ...]
    entries: tuple[Entry, ...]
    given: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """Labelled frames a step -> ids of the frames that a published choice labels at that cost."""


def split(entries: Iterable[Entry], *, frames_per_step: int, held_out: int) -> tuple[Entry, ...]:
    """Split as in the paper, 16 + 1: frames in a row are a step, the next ones are held out for testing, and so on.

    A last, shorter step is kept. Ids, videos and order stay as they are.
    """
    if frames_per_step < 1 or held_out < 0:
        raise ValueError(f"frames_per_step={frames_per_step}, held_out={held_out}: at least 1, and at least 0.")
    group = frames_per_step + held_out
    return tuple(
        replace(entry, step=number // group, held_out=number % group >= frames_per_step)
        for number, entry in enumerate(entries)
    )


TEST_EVERY = 5
"""Of sparse labels: so many labelled frames in a row give one test frame, unless an option says otherwise."""


def is_sparse(labelled: int, frames: int) -> bool:
    """Whether labels are sparse: more than one frame in ten has none."""
    return 10 * labelled < 9 * frames


def split_sparse(entries: Sequence[Entry], *, frames_per_step: int, test_every: int) -> tuple[Entry, ...]:
    """Split frames of which few are labelled: every so-many-th labelled frame is held out, the others make steps.

    Of each so many labelled frames in a row, it is the middle one. A test frame belongs to the step that it lies in.
    """
    divided, training, labelled = [], 0, 0
    for entry in entries:
        held_out = entry.labels is not None and labelled % test_every == test_every // 2
        labelled += entry.labels is not None
        step = (max(training - 1, 0) if held_out else training) // frames_per_step
        training += not held_out
        divided.append(replace(entry, step=step, held_out=held_out))
    return tuple(divided)


def divide(entries: Sequence[Entry], *, frames_per_step: int, hold_out: int, test_every: int) -> tuple[Entry, ...]:
    """Divide frames into steps and test frames: as in the paper, or by their labels where labels are sparse."""
    labelled = sum(entry.labels is not None for entry in entries)
    if hold_out and test_every and labelled and is_sparse(labelled, len(entries)):
        return split_sparse(entries, frames_per_step=frames_per_step, test_every=test_every)
    return split(entries, frames_per_step=frames_per_step, held_out=hold_out)


def limit_steps(recording: Recording, steps: int | None) -> Recording:
    """Keep the first steps of a recording with their test frames; all of it when `steps` is None."""
    if steps is None:
        return recording
    return replace(recording, entries=tuple(entry for entry in recording.entries if entry.step < steps))


def group_by_step(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Group the training frames by step, in order; broken ones keep their places."""
    steps: list[list[Entry]] = []
    for entry in entries:
        if not entry.held_out:
            steps += [[] for _ in range(entry.step + 1 - len(steps))]
            steps[entry.step].append(entry)
    return steps


def choose_layout(layout: str, is_there: Mapping[str, bool], root: Path) -> str:
    """Return the layout to read: the given one, or, with `auto`, the only one whose files are there."""
    if not root.is_dir():
        raise InvalidData(f"{one_line(root)}: no such folder. Name the one that holds the data set as `root`.")
    if layout != "auto":
        return layout
    there = [name for name, known in is_there.items() if known]
    if len(there) == 1:
        return there[0]
    what = "holds none of the layouts" if not there else "holds more than one layout:"
    raise InvalidData(f"{one_line(root)} {what} {', '.join(there or is_there)}. Check `root`, or choose with `layout`.")
