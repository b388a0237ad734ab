"""Augmented frames: what holds of every draw, and of the draws whose result is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import arbitrary
import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from leocod.plugins import augmentation
from leocod.plugins.augmentation import DEGREES
from leocod.types import Frame, LabelledFrame, Labels

FRAME = (60, 80)


@dataclass(frozen=True)
class Dealt:
    """Stands in for the random generator: every number that is asked for is known."""

    corner: float = 0.0
    angle: float = 0.0
    flip: bool = False

    def integers(self, choices: int) -> int:
        return int(self.corner * (choices - 1))

    def uniform(self, low: float, high: float) -> float:
        return self.angle

    def random(self) -> float:
        return 0.0 if self.flip else 0.99


any_deal = some.builds(Dealt, some.floats(0, 1), some.floats(-DEGREES, DEGREES), some.booleans())
pairs = arbitrary.sizes.flatmap(arbitrary.labelled_frames)


def augmented(pair: LabelledFrame, random: Any) -> LabelledFrame:
    """One frame."""
    return augmentation.augment([pair], random)[0]


def whole(pair: LabelledFrame, deal: Dealt) -> LabelledFrame:
    """Augmented without being cropped."""
    with patch.object(augmentation, "CROP", 1.0):
        return augmented(pair, deal)


def large(boxes: Any) -> Any:
    """Which boxes have a pixel in both directions: smaller ones are dropped."""
    return ((boxes[:, 2:] - boxes[:, :2]) >= 1).all(axis=1)


def painted(box: Any, size: tuple[int, int] = FRAME) -> LabelledFrame:
    """A white box on black."""
    pixels = np.zeros((*size, 3), np.uint8)
    x1, y1, x2, y2 = box
    pixels[y1:y2, x1:x2] = 255
    return Frame(1, "video", 0, size, pixels), Labels([box], [2])


def extent(there: Any) -> Any:
    """The box around what is there."""
    rows, columns = np.nonzero(there)
    return np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1])


@given(pairs, arbitrary.seeds)
def test_whatever_is_drawn_boxes_are_inside_and_have_extent_and_classes_go_with_them(
    pair: LabelledFrame, seed: int
) -> None:
    frame, before = pair

    shown, labels = augmented(pair, np.random.default_rng(seed))

    height, width = shown.image().shape[:2]
    assert shown.size == (height, width) == (round(frame.size[0] * 0.9), round(frame.size[1] * 0.9))
    for boxes in (labels.boxes, labels.unsure):
        assert ((boxes >= 0) & (boxes <= [width, height, width, height])).all()
        assert large(boxes).all()
    assert len(labels.unsure) <= len(before.unsure)
    assert (labels.source, labels.weights) == (before.source, before.weights)
    left = before.classes.tolist()
    for name in labels.classes.tolist():
        # In the same order: each is found after the one before it.
        left = left[left.index(name) + 1 :]


@given(pairs, arbitrary.seeds)
def test_the_same_draw_gives_the_same_and_nothing_that_was_given_changes(pair: LabelledFrame, seed: int) -> None:
    frame, labels = pair
    pixels, boxes = frame.image().copy(), labels.boxes.copy()

    one, two = (augmented(pair, np.random.default_rng(seed)) for _ in range(2))

    np.testing.assert_array_equal(one[0].image(), two[0].image())
    np.testing.assert_array_equal(one[1].boxes, two[1].boxes)
    np.testing.assert_array_equal(frame.image(), pixels)
    np.testing.assert_array_equal(labels.boxes, boxes)
    assert (one[0].id, one[0].video, one[0].index) == (frame.id, frame.video, frame.index)


@given(pairs)
def test_no_crop_no_turn_and_no_mirror_is_the_frame_itself(pair: LabelledFrame) -> None:
    frame, labels = pair
    kept = large(labels.boxes)

    shown, same = whole(pair, Dealt())

    np.testing.assert_array_equal(shown.image(), frame.image())
    np.testing.assert_allclose(same.boxes, labels.boxes[kept], atol=1e-4)
    assert same.classes.tolist() == labels.classes[kept].tolist()
    np.testing.assert_allclose(same.unsure, labels.unsure[large(labels.unsure)], atol=1e-4)


@given(pairs)
def test_logits_stay_with_the_boxes_that_they_were_said_of(pair: LabelledFrame) -> None:
    _, labels = pair

    _, same = whole(pair, Dealt())

    assert (same.logits is None) == (labels.logits is None)
    if labels.logits is not None:
        np.testing.assert_array_equal(same.logits, labels.logits[large(labels.boxes)])


@given(pairs)
def test_mirrored_twice_is_not_mirrored(pair: LabelledFrame) -> None:
    frame, labels = pair

    once = whole(pair, Dealt(flip=True))
    twice = whole(once, Dealt(flip=True))

    np.testing.assert_array_equal(once[0].image(), frame.image()[:, ::-1])
    np.testing.assert_array_equal(twice[0].image(), frame.image())
    np.testing.assert_allclose(twice[1].boxes, labels.boxes[large(labels.boxes)], atol=1e-4)


@given(arbitrary.whole_boxes(FRAME), some.floats(0, 1), some.booleans())
def test_without_a_turn_a_box_is_exactly_around_its_pixels(box: Any, corner: float, flip: bool) -> None:
    frame, labels = augmented(painted(box), Dealt(corner, 0.0, flip))

    there = frame.image()[..., 0] == 255
    assert len(labels) == bool(there.any())
    if there.any():
        np.testing.assert_allclose(labels.boxes[0], extent(there), atol=1e-4)


@given(arbitrary.whole_boxes(FRAME, smallest=4), any_deal)
def test_no_pixel_of_an_object_is_outside_its_box(box: Any, deal: Dealt) -> None:
    frame, labels = augmented(painted(box), deal)

    there = frame.image()[..., 0] > 127
    if not len(labels):
        # Dropped: nothing is left, or a rim of a pixel.
        assert not there.any() or min(np.diff(extent(there).reshape(2, 2), axis=0)[0]) <= 2
        return
    if there.any():
        x1, y1, x2, y2 = extent(there)
        assert labels.boxes[0, 0] - 1 <= x1
        assert labels.boxes[0, 1] - 1 <= y1
        assert labels.boxes[0, 2] + 1 >= x2
        assert labels.boxes[0, 3] + 1 >= y2


@given(arbitrary.whole_boxes(FRAME, smallest=4), any_deal)
def test_a_box_that_touches_no_border_is_tight_around_its_pixels(box: Any, deal: Dealt) -> None:
    frame, labels = augmented(painted(box), deal)

    inside = [one for one in labels.boxes if (one[:2] > 0).all() and (one[2:] < frame.size[::-1]).all()]
    for one in inside:
        assert np.abs(one - extent(frame.image()[..., 0] > 63)).max() < 1.5


@some.composite
def strips(draw: Any) -> Any:
    """A box along a border of the frame, so thin that a crop may take all of it."""
    height, width = FRAME
    thickness = draw(some.integers(1, 8))
    x1, y1, x2, y2 = draw(arbitrary.whole_boxes(FRAME, smallest=4))
    upright = [(0, y1, thickness, y2), (width - thickness, y1, width, y2)]
    flat = [(x1, 0, x2, thickness), (x1, height - thickness, x2, height)]
    return draw(some.sampled_from([*upright, *flat]))


@given(strips(), any_deal)
def test_no_box_that_stays_is_around_nothing(box: Any, deal: Dealt) -> None:
    frame, labels = augmented(painted(box), deal)

    for x1, y1, x2, y2 in labels.boxes:
        inside = frame.image()[int(y1) : int(np.ceil(y2)), int(x1) : int(np.ceil(x2))]
        assert inside.max() > 0
