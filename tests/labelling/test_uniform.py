"""Frames at even distances."""

from __future__ import annotations

import pytest

from leocod.labelling.uniform import UniformLabeller, UniformOptions
from leocod.types import Labels


@pytest.mark.parametrize(
    ("most", "chosen"),
    [(0, []), (1, [8]), (2, [4, 12]), (4, [2, 6, 10, 14]), (16, list(range(16))), (99, [*range(16)])],
)
def test_each_frame_is_the_middle_of_its_part(pairs, request_for, most, chosen):
    labeller = UniformLabeller(UniformOptions(per_step=most))

    assert list(labeller.choose(request_for(0, pairs, most))) == chosen


def test_distances_are_counted_over_the_frames_that_can_be_labelled(pairs, request_for):
    known = [(frame, labels if frame.id >= 8 else Labels.unknown()) for frame, labels in pairs]

    assert list(UniformLabeller().choose(request_for(0, known, 2))) == [10, 14]
