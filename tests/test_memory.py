"""The replay memory: what it keeps, what it lets go, and what it draws."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from leocod.memory import MemoryOptions, ReplayMemory
from leocod.types import Frame


def a_memory(seed=0, **options):
    return ReplayMemory(MemoryOptions(**options), seed=seed)


def ids(pairs):
    return [frame.id for frame, _ in pairs]


def test_each_class_has_its_own_slots(a_frame):
    memory = a_memory(per_class=2)

    memory.add([a_frame(number, (0,)) for number in range(10)])
    memory.add([a_frame(100, (1,))])

    assert len(memory.slots[0]) == 2
    assert memory.slots[1] == [100]
    assert dict(memory.seen) == {0: 10, 1: 1}


def test_a_frame_of_two_classes_is_held_once_and_goes_when_the_last_slot_lets_it_go(a_frame):
    memory = a_memory(per_class=1, replacement="released")
    memory.add([a_frame(1, (0, 1))])
    assert len(memory) == 1
    assert memory.bytes == 48 * 64 * 3 + 2 * (16 + 8)

    newcomers = iter(range(2, 1000))
    while memory.slots[0] == [1]:
        memory.add([a_frame(next(newcomers), (0,))])
    assert 1 in ids(memory.frames)
    while memory.slots[1] == [1]:
        memory.add([a_frame(next(newcomers), (1,))])
    assert 1 not in ids(memory.frames)


def test_a_frame_without_objects_takes_no_slot(a_frame):
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
            kept += memory.slots[0]
        mean_id[rule] = np.mean(kept)

    assert 26 < mean_id["reservoir"] < 33
    assert mean_id["released"] > 50


def test_a_draw_takes_at_most_two_of_each_class(a_frame):
    memory = a_memory()
    memory.add([a_frame(number, (0,)) for number in range(5)] + [a_frame(10 + number, (1,)) for number in range(5)])

    drawn = ids(memory.sample(4))

    assert len(set(drawn)) == 4
    assert sum(number < 10 for number in drawn) == 2


def test_a_draw_repeats_when_there_are_fewer_frames_than_asked(a_frame):
    memory = a_memory()
    memory.add([a_frame(1, (0,)), a_frame(2, (1,))])

    drawn = ids(memory.sample(16))

    assert len(drawn) == 16
    assert drawn.count(1) == drawn.count(2) == 8


def test_an_empty_memory_draws_nothing():
    assert a_memory().sample(16) == []


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

    assert ids(memory.sample(8)) == ids(twin.sample(8))
    assert memory.slots == twin.slots
    assert ids(memory.frames) == ids(twin.frames)
    assert memory.bytes == twin.bytes


def test_no_slots_at_all_is_refused():
    with pytest.raises(ValidationError, match="per_class"):
        MemoryOptions(per_class=0)
