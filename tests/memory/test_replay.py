"""The replay memory: what it keeps, what it lets go, and what it draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from leocod.memory.replay import ReplayMemory
from leocod.types import Frame, Labels, LossWeights


def a_memory(seed=0, **options):
    return ReplayMemory(**{"total": 10, **options}, seed=seed)


def ids(pairs):
    return [frame.id for frame, _ in pairs]


def test_each_class_has_a_shelf_of_its_own(a_frame):
    memory = a_memory(per_class=2)

    memory.add([a_frame(number, (0,)) for number in range(10)])
    memory.add([a_frame(100, (1,))])

    assert memory.count(0) == 2
    assert memory.count(1) == 1
    assert dict(memory.seen) == {0: 10, 1: 1}


def test_a_frame_of_two_classes_is_held_once_and_goes_when_the_last_shelf_lets_it_go(a_frame):
    memory = a_memory(per_class=1, replacement="released")
    memory.add([a_frame(1, (0, 1))])
    assert len(memory) == 1
    assert memory.bytes == 48 * 64 * 3 + 2 * (16 + 8)

    newcomers = iter(range(2, 1000))
    while memory.shelves[0] == memory.shelves[1]:
        memory.add([a_frame(next(newcomers), (0,))])
    assert 1 in ids(memory.frames)
    while len(memory) == 2 and 1 in ids(memory.frames):
        memory.add([a_frame(next(newcomers), (1,))])
    assert 1 not in ids(memory.frames)


def test_a_frame_without_objects_takes_no_place(a_frame):
    memory = a_memory()

    memory.add([a_frame(1, ())])

    assert len(memory) == 0


def test_reservoir_keeps_old_and_new_frames_alike_and_released_only_recent_ones(a_frame):
    frames = [a_frame(number, (0,)) for number in range(60)]
    mean_id = {}
    for rule in ("reservoir", "released"):
        kept = []
        for seed in range(60):
            memory = a_memory(seed=seed, per_class=5, replacement=rule)
            memory.add(frames)
            kept += ids(memory.frames)
        mean_id[rule] = np.mean(kept)

    assert 26 < mean_id["reservoir"] < 33
    assert mean_id["released"] > 50


def test_a_draw_takes_at_most_two_of_each_class(a_frame):
    memory = a_memory()
    memory.add([a_frame(number, (0,)) for number in range(5)] + [a_frame(10 + number, (1,)) for number in range(5)])

    drawn = ids(memory.sample(4, per_class=2))

    assert len(set(drawn)) == 4
    assert sum(number < 10 for number in drawn) == 2


def test_a_draw_repeats_when_there_are_fewer_frames_than_asked(a_frame):
    memory = a_memory()
    memory.add([a_frame(1, (0,)), a_frame(2, (1,))])

    drawn = ids(memory.sample(16, per_class=2))

    assert len(drawn) == 16
    assert drawn.count(1) == drawn.count(2) == 8


def test_an_empty_memory_draws_nothing():
    assert a_memory().sample(16, per_class=2) == []


def test_the_memory_holds_its_own_pixels(a_frame):
    pixels = np.full((48, 64, 3), 7, np.uint8)
    memory = a_memory()
    memory.add([(Frame(1, "video", 0, (48, 64), pixels), a_frame(1, (0,))[1])])

    pixels[:] = 0

    assert (memory.frames[0][0].image() == 7).all()


def test_saved_and_loaded_it_goes_on_the_same(a_frame):
    memory = a_memory(per_class=2)
    memory.add([a_frame(number, (number % 3, 1)) for number in range(12)])
    twin = a_memory(per_class=2, seed=99).load_state_dict(memory.state_dict())

    for one in (memory, twin):
        one.add([a_frame(100 + number, (number % 3,)) for number in range(9)])

    assert ids(memory.sample(8, per_class=2)) == ids(twin.sample(8, per_class=2))
    assert memory.shelves == twin.shelves
    assert ids(memory.frames) == ids(twin.frames)
    assert memory.bytes == twin.bytes


@pytest.mark.parametrize("rule", ["reservoir", "released", "first"])
@pytest.mark.parametrize("store", ["balanced", "random"])
def test_bytes_are_those_of_what_is_held(a_frame, store, rule):
    memory = a_memory(per_class=2, store=store, replacement=rule)

    memory.add([a_frame(number, (number % 3, 1 + number % 2)) for number in range(30)])

    frames = {frame.id: frame for frame, _ in memory.frames}
    pixels = sum(frame.image().nbytes for frame in frames.values())
    assert len(memory) == len(frames)
    assert memory.bytes == pixels + sum(labels.bytes for _, labels in memory.frames)


def test_first_keeps_those_that_came_first(a_frame):
    memory = a_memory(per_class=3, replacement="first")

    memory.add([a_frame(number, (0,)) for number in range(20)])

    assert ids(memory.frames) == [0, 1, 2]


def test_a_frame_with_other_labels_is_another_entry_of_the_same_pixels(a_frame):
    frame, labels = a_frame(1, (0, 1))
    single = [(frame, Labels(labels.boxes[number], labels.classes[number])) for number in (0, 1)]
    memory = a_memory(per_class=1)

    memory.add(single)

    assert [one.classes.tolist() for _, one in memory.frames] == [[0], [1]]
    assert memory.frames[0][0] is memory.frames[1][0]
    assert memory.bytes == frame.image().nbytes + 2 * (16 + 8)


def test_a_random_store_has_as_many_places_and_keeps_what_is_frequent(a_frame):
    memory = a_memory(total=10, store="random")

    memory.add([a_frame(number, (1 if number % 20 == 0 else 0,)) for number in range(400)])

    assert len(memory) == 10
    assert memory.count(0) > memory.count(1)
    assert memory.count(0) + memory.count(1) == 10


def test_a_random_store_keeps_old_and_new_alike_and_empty_frames_too(a_frame):
    kept = []
    for seed in range(60):
        memory = a_memory(seed=seed, store="random", total=5)
        memory.add([a_frame(0, (0,)), *(a_frame(number, ()) for number in range(1, 60))])
        kept += ids(memory.frames)

    assert len(kept) == 60 * 5
    assert 25 < np.mean(kept) < 34


def test_a_random_store_draws_different_frames(a_frame):
    memory = a_memory(store="random", total=5)
    memory.add([a_frame(number, (0,)) for number in range(5)])

    assert sorted(ids(memory.sample(5, per_class=1))) == [0, 1, 2, 3, 4]


def test_every_frame_of_a_class_is_drawn_as_often(a_frame):
    memory = a_memory()
    memory.add([a_frame(number, (number // 5,)) for number in range(15)])

    drawn = np.bincount([one for _ in range(500) for one in ids(memory.sample(4, per_class=2))], minlength=15)

    assert drawn.min() > 95
    assert drawn.max() < 175


def test_one_of_each_is_one_of_each(a_frame):
    memory = a_memory()
    memory.add([a_frame(number, (number % 3,)) for number in range(30)])

    assert [int(labels.classes[0]) for _, labels in memory.one_of_each()] == [0, 1, 2]


def test_a_draw_looks_only_at_what_it_draws(a_frame):
    """A draw of 16 from a hundred times the classes takes as many random numbers and touches as many shelves."""

    class Watched(dict):
        looks = 0

        def __getitem__(self, key):
            Watched.looks += 1
            return super().__getitem__(key)

    looks = {}
    for classes in (50, 5000):
        memory = a_memory()
        pair = a_frame(0, (0,))
        memory.add([(pair[0], Labels(pair[1].boxes, np.array([name]))) for name in range(classes)])
        memory.shelves, Watched.looks = Watched(memory.shelves), 0

        memory.sample(16, per_class=1)

        looks[classes] = Watched.looks

    assert looks == {50: 16, 5000: 16}


def test_stored_logits_come_back_with_the_frame(a_frame):
    frame, labels = a_frame(1, (0, 2))
    logits = np.arange(8, dtype=np.float32).reshape(2, 4)
    memory = a_memory()
    memory.add([(frame, replace(labels, logits=logits))])

    twin = a_memory().load_state_dict(memory.state_dict())

    ((_, kept),) = twin.frames
    np.testing.assert_array_equal(kept.logits, logits)
    assert twin.bytes == memory.bytes == frame.image().nbytes + labels.bytes + logits.nbytes


def test_a_random_store_makes_no_room_for_a_new_class(a_frame):
    """A class in 5 of 205 frames holds about 10 x 5 / 205 places, not as many as a balanced store would give it."""
    held = []
    for seed in range(100):
        memory = a_memory(seed=seed, store="random", total=10)
        memory.add([a_frame(number, (0,)) for number in range(100)])
        memory.add([a_frame(number, (1,)) for number in range(100, 105)])
        memory.add([a_frame(number, (0,)) for number in range(105, 205)])
        held.append(memory.count(1))

    assert np.mean(held) < 0.6


def test_released_lets_a_newcomer_in_with_chance_n_of_n_plus_1(a_frame):
    came = 0
    for seed in range(200):
        memory = a_memory(seed=seed, per_class=5, replacement="released")
        memory.add([a_frame(number, (0,)) for number in range(6)])
        came += 5 in ids(memory.frames)

    assert 145 < came < 187


def test_labels_come_back_from_a_state_with_all_they_had(a_frame):
    frame, labels = a_frame(1, (0,))
    told = replace(labels, weights=LossWeights(0.5, 0.25, 2.0, 0.0), unsure=np.array([[1.0, 2.0, 9.0, 9.0]]))
    memory = a_memory()
    memory.add([(frame, told)])

    ((_, kept),) = a_memory().load_state_dict(memory.state_dict()).frames

    assert kept.weights == told.weights
    np.testing.assert_array_equal(kept.unsure, told.unsure)


def test_pseudo_labels_are_refused(a_frame):
    frame, labels = a_frame(1, (0,))

    with pytest.raises(ValueError, match="only a person's are remembered"):
        a_memory().add([(frame, replace(labels, source="pseudo"))])
