"""A profile of a stream: the figures that decide how a method fares on it, from its labels and frames alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from leocod.benchmarks.base import Benchmark
from leocod.data.novelty import Novelty, StepInstances, collect_instances, measure_novelty
from leocod.data.overview import ClassOverview, count_classes, keep_labelled
from leocod.errors import InvalidFrame
from leocod.evaluation.evaluator import spread_evenly
from leocod.readers.image_checks import BrokenImage
from leocod.settings import Settings
from leocod.types import LabelledFrame
from leocod.weights.names import find_row

THUMBNAIL = (64, 48)
"""Width and height at which frames are compared."""
STEPS_COMPARED = 40
"""Steps whose frames are compared, at most: enough for a mean, and quick."""
RANDOM_PAIRS = 500
"""Pairs of frames from anywhere, at most."""
BORDER = 1.0
"""A box touches the border where it is nearer than this many pixels: files round."""

Choose = Callable[[int, Sequence[LabelledFrame]], Collection[int]]
"""Step and its frames -> ids of the frames that the labeller chooses."""


class Density(Settings):
    """How much there is to see in the frames that somebody has labelled."""

    labelled_frames: int
    objects_per_frame: float | None = None
    classes_per_frame: float | None = None
    """Different classes in a frame, on average."""
    classes_per_step: float | None = None
    """Different classes in the frames of a step together, on average."""
    empty_frames: float | None = None
    """Share of frames without any object."""


class BoxSizes(Settings):
    """The root of a box's area, as a share of the short side of its frame."""

    lower_quartile: float | None = None
    median: float | None = None
    upper_quartile: float | None = None
    at_border: float | None = None
    """Share of boxes that touch the border of their frame."""


class Revisits(Settings):
    """When classes come, go and come back, and how unevenly. A visit is a stretch of steps that all show the class."""

    classes: int
    """Classes that appear."""
    visits_per_class: float | None = None
    median_gap: float | None = None
    """Steps from one visit of a class to its next."""
    longest_gap: int | None = None
    frequent_fifth: float | None = None
    """Share of boxes of the most frequent fifth of the classes."""


class Start(Settings):
    """What the starting weights know: shares of boxes whose class is among their classes."""

    classes: int
    """Classes of the stream that they know."""
    known: float | None = None
    known_first_third: float | None = None
    """In the first third of the steps."""
    known_last_third: float | None = None
    """In the last third of the steps."""


class Motion(Settings):
    """Mean absolute difference of grey pixels, from 0 to 255, of frames made 64 x 48 small."""

    neighbours: float | None = None
    """Between a frame and the next one of its step and video."""
    random_frames: float | None = None
    """Between two frames from anywhere in the stream."""


class Profile(Settings):
    """The figures of a stream. Frames are training frames unless a name says test; null is not known, or undefined."""

    steps: int
    frames: int
    test_frames: int
    density: Density
    boxes: BoxSizes
    revisits: Revisits
    start: Start
    motion: Motion
    novelty: Novelty | None = None
    """Null where the benchmark does not know which thing a box shows."""


@dataclass(frozen=True)
class StepFacts:
    """What the profile needs to know of one step."""

    frames: int
    labelled: int
    empty: int
    kinds: int
    """Classes of each labelled frame, summed up."""
    boxes: NDArray[np.int64]
    """Boxes of each class."""
    present: NDArray[np.int64]
    """Frames that show each class."""
    sizes: NDArray[np.float64]
    at_border: int
    instances: StepInstances | None


def measure_profile(
    benchmark: Benchmark, known: Sequence[str], choose: Choose, progress: Callable[[], None] = lambda: None
) -> Profile:
    """Measure a stream in one pass. `known` are the classes of the starting weights; `progress` follows each step."""
    compared = set(spread_evenly(benchmark.steps, STEPS_COMPARED))
    facts: list[StepFacts] = []
    thumbnails: list[list[tuple[str, NDArray[np.float32]]]] = []
    for step in range(benchmark.steps):
        pairs = benchmark.frames_of(step)
        facts.append(_look_at_step(benchmark, step, pairs, choose))
        if step in compared:
            thumbnails.append(list(_make_thumbnails(benchmark, pairs)))
        progress()
    instances = [step.instances for step in facts if step.instances is not None]
    return Profile(
        steps=benchmark.steps,
        frames=sum(step.frames for step in facts),
        test_frames=len(benchmark.test),
        density=_measure_density(facts),
        boxes=_measure_boxes(facts),
        revisits=_measure_revisits(facts, benchmark.classes),
        start=_measure_start(facts, benchmark.classes, known),
        motion=_measure_motion(thumbnails),
        # Where one step is not known, shares of the whole cannot be told.
        novelty=measure_novelty(instances) if instances and len(instances) == len(facts) else None,
    )


def _look_at_step(benchmark: Benchmark, step: int, pairs: Sequence[LabelledFrame], choose: Choose) -> StepFacts:
    usable = [pair for pair in pairs if not isinstance(pair[0].content, BrokenImage)]
    known = keep_labelled(usable)
    boxes, present = count_classes(known, len(benchmark.classes))
    sizes, at_border = _measure_sizes(known)
    ids = benchmark.instances_of(step)
    return StepFacts(
        frames=len(usable),
        labelled=len(known),
        empty=sum(len(labels) == 0 for _, labels in known),
        kinds=sum(len(np.unique(labels.classes)) for _, labels in known),
        boxes=boxes,
        present=present,
        sizes=sizes,
        at_border=at_border,
        instances=None if ids is None else collect_instances(pairs, ids, choose(step, pairs)),
    )


def _measure_sizes(pairs: Sequence[LabelledFrame]) -> tuple[NDArray[np.float64], int]:
    """The relative size of each box, and how many boxes touch the border."""
    sizes, touching = [np.zeros(0)], 0
    for frame, labels in pairs:
        (height, width), boxes = frame.size, labels.boxes.astype(np.float64)
        sides = boxes[:, 2:] - boxes[:, :2]
        sizes.append(np.sqrt(sides[:, 0] * sides[:, 1]) / min(height, width))
        near = (boxes[:, :2] < BORDER).any(axis=1) | (boxes[:, 2:] > np.array([width, height]) - BORDER).any(axis=1)
        touching += int(near.sum())
    return np.concatenate(sizes), touching


def _make_thumbnails(benchmark: Benchmark, pairs: Iterable[LabelledFrame]) -> Iterable[tuple[str, NDArray[np.float32]]]:
    """The video and the small grey picture of each frame that can be read."""
    for frame, _ in pairs:
        try:
            pixels = frame.image()
        except InvalidFrame as error:
            if benchmark.on_bad_frame == "stop":
                raise benchmark.fault(frame, error) from error.__cause__
            continue
        small = Image.fromarray(pixels).convert("L").resize(THUMBNAIL, Image.Resampling.BOX)
        yield frame.video, np.asarray(small, np.float32)


def _measure_density(facts: Sequence[StepFacts]) -> Density:
    labelled = sum(step.labelled for step in facts)
    looked_at = [step for step in facts if step.labelled]
    if not looked_at:
        return Density(labelled_frames=0)
    return Density(
        labelled_frames=labelled,
        objects_per_frame=_count_boxes(facts) / labelled,
        classes_per_frame=sum(step.kinds for step in facts) / labelled,
        classes_per_step=float(np.mean([(step.present > 0).sum() for step in looked_at])),
        empty_frames=sum(step.empty for step in facts) / labelled,
    )


def _measure_boxes(facts: Sequence[StepFacts]) -> BoxSizes:
    sizes = np.concatenate([np.zeros(0), *(step.sizes for step in facts)])
    if not len(sizes):
        return BoxSizes()
    lower, median, upper = np.percentile(sizes, [25, 50, 75]).tolist()
    touching = sum(step.at_border for step in facts)
    return BoxSizes(lower_quartile=lower, median=median, upper_quartile=upper, at_border=touching / len(sizes))


def _measure_revisits(facts: Sequence[StepFacts], names: Sequence[str]) -> Revisits:
    boxes = sum((step.boxes for step in facts), np.zeros(len(names), np.int64))
    timelines = np.array([step.present for step in facts]).reshape(len(facts), len(names)).T.tolist()
    there = [
        ClassOverview(name, boxes=int(count), test_boxes=0, test_frames=0, present=tuple(timeline))
        for name, count, timeline in zip(names, boxes, timelines, strict=True)
        if count
    ]
    if not there:
        return Revisits(classes=0)
    gaps = [gap for kind in there for gap in kind.gaps]
    most_frequent = sorted((kind.boxes for kind in there), reverse=True)[: ceil(len(there) / 5)]
    return Revisits(
        classes=len(there),
        visits_per_class=float(np.mean([kind.visits for kind in there])),
        median_gap=float(np.median(gaps)) if gaps else None,
        longest_gap=max(gaps, default=None),
        frequent_fifth=sum(most_frequent) / int(boxes.sum()),
    )


def _measure_start(facts: Sequence[StepFacts], names: Sequence[str], known: Sequence[str]) -> Start:
    # As the weights are loaded: by name, and by other names for the same.
    is_known = np.array([find_row(name, known) is not None for name in names], bool)

    def share(part: Sequence[StepFacts]) -> float | None:
        boxes = _count_boxes(part)
        return sum(int(step.boxes[is_known].sum()) for step in part) / boxes if boxes else None

    third = len(facts) // 3
    return Start(
        classes=int(is_known.sum()),
        known=share(facts),
        known_first_third=share(facts[:third]),
        known_last_third=share(facts[len(facts) - third :]),
    )


def _measure_motion(steps: Sequence[Sequence[tuple[str, NDArray[np.float32]]]]) -> Motion:
    neighbours = [
        _compare(here, there)
        for step in steps
        for (video, here), (next_video, there) in pairwise(step)
        if video == next_video
    ]
    frames = [picture for step in steps for _, picture in step]
    # The same stream has the same figure.
    random = np.random.default_rng(0)
    pairs = [random.choice(len(frames), 2, replace=False) for _ in range(RANDOM_PAIRS)] if len(frames) > 1 else []
    return Motion(
        neighbours=float(np.mean(neighbours)) if neighbours else None,
        random_frames=float(np.mean([_compare(frames[a], frames[b]) for a, b in pairs])) if pairs else None,
    )


def _compare(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    return float(np.abs(first - second).mean())


def _count_boxes(facts: Sequence[StepFacts]) -> int:
    return sum(int(step.boxes.sum()) for step in facts)
