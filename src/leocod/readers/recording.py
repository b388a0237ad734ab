"""What a reader makes of files: frames in order, with their labels, divided into steps and test frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from leocod.errors import InvalidData
from leocod.text import one_line
from leocod.types import Labels

Kind = Literal[
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
    "path",
    "crowd",
    "unlabelled frame",
    "unused class",
    "no test frame",
    "other",
]
"""What `leocod data check` counts problems by."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a data set."""

    file: Path
    record: str
    """Which record of the file, in words: "image 17", "annotation 3 of image 17", "row 12"; empty for the whole."""
    what: str
    """What is wrong with it, and what it should be."""
    breaks: bool = True
    """Whether the frame, or all of the data, cannot be used. Otherwise it is used all the same."""
    frame: int | None = None
    """The frame that is lost, when it is one."""
    kind: Kind = "other"
    """Of what kind it is: a damaged file, a damaged picture, an impossible box, ..."""
    fatal: bool = False
    """Whether it ends every run, also one that leaves broken frames out: which frames there are, or whose labels these
    are, is not known."""

    def __str__(self) -> str:
        return one_line(f"{self.file}{f', {self.record}' if self.record else ''}: {self.what}")


Report = Callable[[Problem], None]
"""Whoever reads is told of problems as they are met. Returning from it means: leave that frame out and go on."""


def stop(problem: Problem) -> None:
    """The strictest listener: the first problem that breaks something ends the reading."""
    if problem.breaks:
        raise InvalidData(str(problem))


@dataclass
class FrameProblems:
    """Tells of what is wrong with one frame, and remembers whether the frame is lost by it."""

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

    def __call__(self, part: str, what: str, kind: Kind, *, breaks: bool = True) -> None:
        """`part` is the record within the frame's own that is wrong; empty for the frame itself."""
        self.broken |= breaks
        record = " of ".join(name for name in (part, self.record) if name)
        self.report(Problem(self.file, record, what, breaks, self.frame if breaks else None, kind))


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
    """Its true labels. None: nobody has labelled it. Of a broken one only that matters: it has its turn in the draw."""
    step: int = -1
    """The step that it belongs to."""
    held_out: bool = False
    """A test frame."""
    broken: bool = False
    """It was met, and has its place, but cannot be used."""
    record: str = ""
    """Where it is described, for messages: the file, and which record in it."""


@dataclass(frozen=True)
class Recording:
    """All of it, in order. Broken frames keep their place, so that the others keep theirs."""

    classes: tuple[str, ...]
    entries: tuple[Entry, ...]
    given: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """Frames labelled a step -> ids of the frames that a published choice labels at that cost."""


def split(entries: Iterable[Entry], *, frames_per_step: int, held_out: int) -> tuple[Entry, ...]:
    """The 16 + 1 split: so many frames in a row are a step, the next ones are held out for testing, and so on.

    A last, shorter step is kept. Ids, videos and order stay as they are.
    """
    if frames_per_step < 1 or held_out < 0:
        raise ValueError(f"frames_per_step={frames_per_step}, held_out={held_out}: at least 1, and at least 0.")
    group = frames_per_step + held_out
    return tuple(
        replace(entry, step=number // group, held_out=number % group >= frames_per_step)
        for number, entry in enumerate(entries)
    )


def up_to(steps: int | None, recording: Recording) -> Recording:
    """The first steps of a recording with their test frames; all of it when `steps` is None."""
    if steps is None:
        return recording
    return replace(recording, entries=tuple(entry for entry in recording.entries if entry.step < steps))


def steps_of(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Training frames by step, in order, broken ones in their places."""
    steps: list[list[Entry]] = []
    for entry in entries:
        if not entry.held_out:
            steps += [[] for _ in range(entry.step + 1 - len(steps))]
            steps[entry.step].append(entry)
    return steps


def only_layout(asked: str, there: Mapping[str, bool], root: Path) -> str:
    """The layout to read: the one that is asked for, or, with `auto`, the only one that is there."""
    if not root.is_dir():
        raise InvalidData(f"{one_line(root)}: no such folder. Name the one that holds the data set as `root`.")
    if asked != "auto":
        return asked
    found = [name for name, is_there in there.items() if is_there]
    if len(found) == 1:
        return found[0]
    what = "holds none of the layouts" if not found else "holds more than one layout:"
    raise InvalidData(f"{one_line(root)} {what} {', '.join(found or there)}. Check `root`, or choose with `layout`.")
