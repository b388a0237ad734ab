"""A benchmark in figures: what it holds, and in which steps each class appears."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from leocod.benchmarks.base import Benchmark
from leocod.readers.image_checks import BrokenImage
from leocod.text import one_line, pluralize
from leocod.types import LabelledFrame

LEVELS = "▁▂▃▄▅▆▇█"
ABSENT = "·"
COLUMNS = 60
"""Columns of a timeline, at most."""
VIDEOS_NAMED = 8
LONGEST_NAME = 60
"""Letters of a name in a terminal."""


@dataclass(frozen=True)
class ClassOverview:
    """How often a class is seen, and when."""

    name: str
    boxes: int
    test_boxes: int
    test_frames: int
    present: tuple[int, ...]
    """For each step: the number of training frames that show it."""

    @property
    def frames(self) -> int:
        """Number of training frames that show it."""
        return sum(self.present)

    @property
    def steps(self) -> list[int]:
        """The steps that show it."""
        return [step for step, frames in enumerate(self.present) if frames]

    @property
    def gaps(self) -> list[int]:
        """How many steps it was absent, each time before it came back."""
        return [there - here - 1 for here, there in pairwise(self.steps) if there > here + 1]

    @property
    def visits(self) -> int:
        """How many times it came: stretches of steps that all show it."""
        return len(self.gaps) + 1 if self.steps else 0


@dataclass(frozen=True)
class Overview:
    """What a benchmark holds. Frames are training frames unless a name says test."""

    name: str
    videos: tuple[str, ...]
    """In the order in which they come."""
    frames: tuple[int, ...]
    """Number of frames of each step."""
    labelled: int
    """Frames that somebody has labelled."""
    empty: int
    """Labelled frames without any object."""
    test_frames: int
    classes: tuple[ClassOverview, ...]
    lost: int = 0
    """Frames, test frames too, that were found broken and are counted nowhere else."""
    untested: int = 0
    """Held-out frames that nobody has labelled: nothing can be tested on them."""

    @property
    def boxes(self) -> int:
        """Objects in all labelled frames."""
        return sum(overview.boxes for overview in self.classes)

    def sort_by_frequency(self) -> list[ClassOverview]:
        """The classes, those with most boxes first."""
        return sorted(self.classes, key=lambda overview: (-overview.boxes, -overview.test_boxes))

    def lines(self) -> list[str]:
        """Describe counts, order and density of labels."""
        counts = (
            f"{_show_name(self.name)}: {pluralize(len(self.frames), 'step')}, {sum(self.frames)} training and "
            f"{pluralize(self.test_frames, 'test frame')}, {pluralize(len(self.classes), 'class')}."
        )
        named = ", ".join(map(_show_name, self.videos[:VIDEOS_NAMED]))
        more = f" and {len(self.videos) - VIDEOS_NAMED} more" if len(self.videos) > VIDEOS_NAMED else ""
        order = f"In order: {pluralize(len(self.videos), 'video')} ({named}{more})."
        known = "" if self.labelled == sum(self.frames) else f" {self.labelled} of {sum(self.frames)} frames labelled;"
        density = (
            f"Labels:{known} {self.boxes / max(1, self.labelled):.1f} objects a frame, "
            f"{100 * self.empty / max(1, self.labelled):.0f} % of frames without any."
        )
        lost = [f"Left out, because they cannot be used: {pluralize(self.lost, 'frame')}."] if self.lost else []
        held_out = (
            f"Held out, but not tested on, because nobody has labelled them: {pluralize(self.untested, 'frame')}."
        )
        untested = [held_out] if self.untested else []
        return [counts, order, density, *lost, *untested]


def survey(benchmark: Benchmark, progress: Callable[[], None] = lambda: None) -> Overview:
    """Count the labels of every step and of the test frames; `progress` is called after each step."""
    shape = (benchmark.steps, len(benchmark.classes))
    boxes, present = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    videos: dict[str, None] = {}
    frames, labelled, empty, lost = [], 0, 0, benchmark.lost_test_frames
    for step in range(benchmark.steps):
        everything = benchmark.frames_of(step)
        pairs = [(frame, labels) for frame, labels in everything if not isinstance(frame.content, BrokenImage)]
        lost += len(everything) - len(pairs)
        known = keep_labelled(pairs)
        boxes[step], present[step] = count_classes(known, len(benchmark.classes))
        videos.update((frame.video, None) for frame, _ in pairs)
        frames.append(len(pairs))
        labelled += len(known)
        empty += sum(len(labels) == 0 for _, labels in known)
        progress()
    test_boxes, test_frames = count_classes(benchmark.test, len(benchmark.classes))
    return Overview(
        name=benchmark.name,
        videos=tuple(videos),
        frames=tuple(frames),
        labelled=labelled,
        empty=empty,
        test_frames=len(benchmark.test),
        classes=tuple(
            ClassOverview(
                name,
                boxes=int(boxes[:, number].sum()),
                test_boxes=int(test_boxes[number]),
                test_frames=int(test_frames[number]),
                present=tuple(present[:, number].tolist()),
            )
            for number, name in enumerate(benchmark.classes)
        ),
        lost=lost,
        untested=benchmark.unlabelled_test_frames,
    )


def draw_timeline(present: Sequence[int], frames: Sequence[int], columns: int = COLUMNS) -> str:
    """Draw in one line when a class appears: the share of frames that show it, in as many parts of the stream.

    >>> draw_timeline([0, 4, 1, 0], frames=[4, 4, 4, 2])
    '·█▂·'
    """
    columns = min(columns, len(frames))
    edges = [len(frames) * number // columns for number in range(columns + 1)] if columns else []
    marks = []
    for start, end in pairwise(edges):
        share = sum(present[start:end]) / max(1, sum(frames[start:end]))
        marks.append(LEVELS[ceil(share * len(LEVELS)) - 1] if share else ABSENT)
    return "".join(marks)


def make_class_table(overview: Overview, most: int) -> Table:
    """Tabulate how often and when the most frequent classes appear."""
    table = Table(*("class", "boxes", "frames", "test boxes", "test frames", "first step", "last step"), box=None)
    table.add_column("visits")
    table.add_column("longest gap")
    for column in table.columns[1:]:
        column.justify = "right"
    for kind in overview.sort_by_frequency()[:most]:
        counts = (kind.boxes, kind.frames, kind.test_boxes, kind.test_frames)
        ends = (kind.steps[0], kind.steps[-1]) if kind.steps else ("–", "–")
        row = (*counts, *ends, kind.visits, max(kind.gaps, default=0))
        table.add_row(Text(_show_name(kind.name)), *map(str, row))
    return table


def make_timeline_table(overview: Overview, most: int, columns: int = COLUMNS) -> Table:
    """Tabulate the timelines of the most frequent classes."""
    table = Table("class", f"step 0 to {len(overview.frames) - 1}", box=None)
    table.columns[1].no_wrap = True
    for kind in overview.sort_by_frequency()[:most]:
        table.add_row(Text(_show_name(kind.name)), draw_timeline(kind.present, overview.frames, columns))
    return table


def _show_name(name: str) -> str:
    """Make a name fit for a terminal: labels may come from anyone."""
    return one_line(name, LONGEST_NAME)


def keep_labelled(pairs: Sequence[LabelledFrame]) -> list[LabelledFrame]:
    """The frames that somebody has labelled."""
    return [(frame, labels) for frame, labels in pairs if labels.known]


def count_classes(pairs: Sequence[LabelledFrame], classes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the boxes of each class, and the frames that show it."""
    boxes, frames = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    for _, labels in pairs:
        shown = np.bincount(labels.classes, minlength=classes)
        boxes += shown
        frames += shown > 0
    return boxes, frames
