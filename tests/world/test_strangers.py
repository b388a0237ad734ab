from __future__ import annotations

import numpy as np

from leocod.world.pen import Pen, Traits
from leocod.world.strangers import edge, hand, stranger


def test_strangers_come_in_many_builds() -> None:
    outlines = set()

    for instance in range(40):
        pen = Pen(26, 26, pixels_per_unit=1)
        stranger(pen, Traits(np.random.default_rng(instance), 0.8), 0.2)
        outlines.add(np.asarray(pen.mask).tobytes())

    assert len(outlines) > 30


def test_a_stranger_without_variation_is_still_no_template() -> None:
    outlines = set()

    for instance in range(20):
        pen = Pen(26, 26, pixels_per_unit=1)
        stranger(pen, Traits(np.random.default_rng(instance), 0.0), 0.2)
        outlines.add(np.asarray(pen.mask).tobytes())

    assert len(outlines) > 10


def test_occluders_reach_down_to_their_foot() -> None:
    for draw in (hand, edge):
        pen = Pen(30, 60, pixels_per_unit=1)
        draw(pen, Traits(np.random.default_rng(1), 0.8), 0.5)

        rows = np.flatnonzero(np.asarray(pen.mask).any(axis=1))
        assert rows[-1] >= pen.place((0, 1))[1] - 1
