from __future__ import annotations

import numpy as np

from leocod.world.pen import Pen, Traits
from leocod.world.strangers import draw_edge, draw_hand, draw_stranger


def outlines(*, instances: int, variation: float) -> set[bytes]:
    found = set()
    for instance in range(instances):
        pen = Pen(26, 26, pixels_per_unit=1)
        draw_stranger(pen, Traits(np.random.default_rng(instance), variation), 0.2)
        found.add(np.asarray(pen.mask).tobytes())
    return found


def test_strangers_come_in_many_builds() -> None:
    assert len(outlines(instances=40, variation=0.8)) > 30


def test_a_stranger_without_variation_is_still_no_template() -> None:
    assert len(outlines(instances=20, variation=0.0)) > 10


def test_occluders_reach_down_to_their_foot() -> None:
    for draw in (draw_hand, draw_edge):
        pen = Pen(30, 60, pixels_per_unit=1)
        draw(pen, Traits(np.random.default_rng(1), 0.8), 0.5)

        rows = np.flatnonzero(np.asarray(pen.mask).any(axis=1))
        assert rows[-1] >= pen.place((0, 1))[1] - 1
