"""The rule of the authors' released code."""

from __future__ import annotations

import numpy as np

from leocod.memory.replacements.released import Released


def test_released_lets_a_newcomer_in_with_chance_n_of_n_plus_1(a_memory, ids, a_frame):
    came = 0
    for seed in range(200):
        memory = a_memory(seed=seed, per_class=5, replacement="released")
        memory.add([a_frame(number, (0,)) for number in range(6)])
        came += 5 in ids(memory.frames)

    assert 145 < came < 187


def test_it_overwrites_any_place_or_none(a_shelf, a_newcomer):
    random = np.random.default_rng(0)

    places = [Released().choose_place(a_shelf(1, 2), a_newcomer(), random) for _ in range(50)]

    assert set(places) == {0, 1, None}
