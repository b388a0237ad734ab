"""Things to try properties on: boxes, labels, detections, pictures and frames, as small and as odd as they may be."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as some
from hypothesis.strategies import SearchStrategy
from numpy.typing import NDArray

from leocod.types import Detections, Frame, LabelledFrame, Labels, LossWeights

SIZE = (24, 32)
"""Height and width of a frame, where it does not matter."""
CLASSES = 3

fewer = settings(max_examples=max(settings.default.max_examples // 2, 1))
"""For properties whose examples take long to make or to try."""

Box = tuple[float, float, float, float]

sizes = some.tuples(some.integers(1, 40), some.integers(1, 40))
seeds = some.integers(0, 2**32 - 1)
scores = some.floats(0, 1, width=32)
tied_scores = some.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9])


def sides(length: int) -> SearchStrategy[tuple[float, float]]:
    """Where a box begins and ends in one direction: on quarters of a pixel, or, a little smaller, somewhere between.

    Read off a single number: hypothesis takes most of a test's time, and takes it by the number it draws.
    """
    points = 4 * length

    def read_off(number: int) -> tuple[float, float]:
        number, is_between = divmod(number, 2)
        first, second = sorted(divmod(number, points))
        scale = 0.2497 if is_between else 0.25
        return first * scale, (second + 1) * scale

    return some.integers(0, 2 * points * points - 1).map(read_off)


def boxes(size: tuple[int, int] = SIZE) -> SearchStrategy[Box]:
    """A box inside a frame, of a quarter of a pixel or more."""
    return some.tuples(sides(size[1]), sides(size[0])).map(lambda two: (two[0][0], two[1][0], two[0][1], two[1][1]))


def whole_boxes(size: tuple[int, int] = SIZE, *, smallest: int = 1) -> SearchStrategy[Box]:
    """A box of whole pixels inside a frame."""

    def ends(length: int) -> SearchStrategy[tuple[int, int]]:
        return some.integers(0, length - smallest).flatmap(
            lambda first: some.tuples(some.just(first), some.integers(first + smallest, length))
        )

    return some.tuples(ends(size[1]), ends(size[0])).map(lambda two: (two[0][0], two[1][0], two[0][1], two[1][1]))


def array(rows: Any) -> NDArray[np.float32]:
    """Boxes as an array, also none."""
    return np.array(rows, np.float32).reshape(-1, 4)


@some.composite
def labels(draw: Any, size: tuple[int, int] = SIZE, *, most: int = 4, classes: int = CLASSES) -> Labels:
    """Labels with all that they may have: boxes, classes, a source, weights, what is unsure, logits."""
    marks = draw(some.lists(some.tuples(boxes(size), some.integers(0, classes - 1)), max_size=most))
    logits = np.arange(len(marks) * (classes + 1), dtype=np.float32).reshape(len(marks), classes + 1)
    return Labels(
        array([box for box, _ in marks]),
        np.array([name for _, name in marks], np.int64),
        draw(some.sampled_from(["human", "pseudo"])),
        draw(some.sampled_from([LossWeights(), LossWeights(0, 0.5, 2), LossWeights.all(0.25, background=0)])),
        array(draw(some.lists(boxes(size), max_size=2))),
        logits if draw(some.booleans()) else None,
    )


@some.composite
def truths(draw: Any, size: tuple[int, int] = SIZE, *, most: int = 4, classes: int = CLASSES) -> Labels:
    """What a person says is there: boxes and classes, nothing else."""
    marks = draw(some.lists(some.tuples(boxes(size), some.integers(0, classes - 1)), max_size=most))
    return Labels(array([box for box, _ in marks]), np.array([name for _, name in marks], np.int64))


@some.composite
def detections(
    draw: Any,
    size: tuple[int, int] = SIZE,
    *,
    most: int = 8,
    classes: int = CLASSES,
    score: SearchStrategy[float] = scores,
    unique: bool = False,
) -> Detections:
    """What a detector found, in any order; `unique`: no two have the same score."""
    marks = draw(
        some.lists(
            some.tuples(boxes(size), some.integers(0, classes - 1), score),
            max_size=most,
            unique_by=(lambda mark: mark[2]) if unique else None,
        )
    )
    return Detections(
        array([box for box, _, _ in marks]),
        np.array([name for _, name, _ in marks], np.int64),
        np.array([chance for _, _, chance in marks], np.float32),
    )


def reordered(found: Detections, order: Any) -> Detections:
    """The same detections in another order, or some of them."""
    chosen = np.array(order, np.int64)
    return Detections(found.boxes[chosen], found.classes[chosen], found.scores[chosen])


def joined(one: Detections, two: Detections) -> Detections:
    """The detections of both."""
    return Detections(*(np.concatenate([getattr(each, part) for each in (one, two)]) for part in vars(one)))


def picture(seed: int, size: tuple[int, int] = SIZE) -> NDArray[np.uint8]:
    """Noise."""
    return np.random.default_rng(seed).integers(0, 256, (*size, 3), dtype=np.uint8)


@cache
def frame(number: int, size: tuple[int, int] = (2, 3)) -> Frame:
    """A frame of noise, the same whenever it is asked for."""
    return Frame(number, "video", number, size, picture(number, size))


@some.composite
def labelled_frames(draw: Any, size: tuple[int, int] = SIZE) -> LabelledFrame:
    """A frame of noise with labels that fit into it."""
    return frame(draw(some.integers(0, 1000)), size), draw(labels(size))
