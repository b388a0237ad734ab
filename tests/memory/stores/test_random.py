"""The store without class balance."""

from __future__ import annotations

import numpy as np

from leocod.memory.stores.random import ALL, Random


def test_a_random_store_has_as_many_places_and_keeps_what_is_frequent(a_memory, a_frame):
    memory = a_memory(store="random")

    memory.add([a_frame(number, (1 if number % 20 == 0 else 0,)) for number in range(400)])

    assert len(memory) == 10
    assert memory.count(0) > memory.count(1)
    assert memory.count(0) + memory.count(1) == 10


def test_a_random_store_keeps_old_and_new_alike_and_empty_frames_too(a_memory, ids, a_frame):
    kept = []
    for seed in range(60):
        memory = a_memory(seed=seed, store="random", classes=1)
        memory.add([a_frame(0, (0,)), *(a_frame(number, ()) for number in range(1, 60))])
        kept += ids(memory.frames)

    assert len(kept) == 60 * 5
    assert 25 < np.mean(kept) < 34


def test_a_random_store_draws_different_frames(a_memory, ids, a_frame):
    memory = a_memory(store="random", classes=1)
    memory.add([a_frame(number, (0,)) for number in range(5)])

    assert sorted(ids(memory.sample(5, per_class=1))) == [0, 1, 2, 3, 4]


def test_a_random_store_makes_no_room_for_a_new_class(a_memory, a_frame):
    """A class in 5 of 205 frames holds about 10 x 5 / 205 places, not as many as a balanced store would give it."""
    held = []
    for seed in range(100):
        memory = a_memory(seed=seed, store="random")
        memory.add([a_frame(number, (0,)) for number in range(100)])
        memory.add([a_frame(number, (1,)) for number in range(100, 105)])
        memory.add([a_frame(number, (0,)) for number in range(105, 205)])
        held.append(memory.count(1))

    assert np.mean(held) < 0.6


def test_every_frame_is_offered_to_the_one_shelf(a_newcomer):
    assert list(Random().choose_shelves(a_newcomer(classes=(2, 0)))) == [ALL]
    assert list(Random().choose_shelves(a_newcomer(classes=()))) == [ALL]


def test_its_shelf_has_the_places_of_all_classes_and_gives_whatever_it_has():
    assert Random().count_places(ALL, per_class=5, classes=20) == 100
    assert Random().limit_draw(2) is None


def test_more_classes_bring_more_places(a_memory, a_frame):
    memory = a_memory(per_class=1, classes=2, store="random", replacement="first")
    memory.add([a_frame(number) for number in range(4)])
    memory.classes = 3

    memory.add([a_frame(number) for number in range(4, 8)])

    assert [frame.id for frame, _ in memory.frames] == [0, 1, 4]
