"""Reservoir sampling."""

from __future__ import annotations

import numpy as np

from leocod.memory.replacements.reservoir import Reservoir


def test_the_chance_to_enter_falls_with_the_frames_offered(a_shelf, a_newcomer):
    random = np.random.default_rng(0)

    places = [Reservoir().choose_place(a_shelf(1, 2, offered=8), a_newcomer(), random) for _ in range(800)]

    assert set(places) == {0, 1, None}
    assert 150 < sum(place is not None for place in places) < 250
