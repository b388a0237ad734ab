"""Boxes that a person draws are checked."""

from __future__ import annotations

import pytest

from leocod.errors import InvalidLabels
from leocod.live.drawn import MOST_OBJECTS, DrawnObject, clip_boxes


def test_corners_are_put_in_order_and_clipped() -> None:
    assert clip_boxes([DrawnObject((40, 50, -5, 10.123), "mug")], (48, 64)) == [[0, 10.12, 40, 48]]


@pytest.mark.parametrize("box", [(1, 1, 1.5, 9), (70, 1, 90, 9), (1, 1, float("inf"), 9), (1, float("nan"), 5, 9)])
def test_a_box_that_cannot_be_is_refused_by_name(box: tuple[float, float, float, float]) -> None:
    with pytest.raises(InvalidLabels, match="A box of 'mug'"):
        clip_boxes([DrawnObject(box, "mug")], (48, 64))


def test_there_is_a_most() -> None:
    one = DrawnObject((1, 1, 9, 9), "mug")

    assert len(clip_boxes([one] * MOST_OBJECTS, (48, 64))) == MOST_OBJECTS
    with pytest.raises(InvalidLabels, match="301 boxes"):
        clip_boxes([one] * (MOST_OBJECTS + 1), (48, 64))
