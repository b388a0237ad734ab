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


def test_a_frame_with_several_objects_of_the_class_has_several_chances(a_shelf, a_newcomer):
    shelf = a_shelf(1, 2)
    shelf.key = 0

    def count_refused(classes):
        random = np.random.default_rng(0)
        return sum(Released().choose_place(shelf, a_newcomer(classes=classes), random) is None for _ in range(900))

    assert 260 < count_refused((0,)) < 340
    assert 260 < count_refused((0, 1, 1)) < 340
    assert 70 < count_refused((0, 0)) < 130
