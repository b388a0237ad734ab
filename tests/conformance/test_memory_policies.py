"""What every memory must hold to, with each store and each replacement. A new file in either folder is found by itself.

Those of examples/ are among them.
"""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
import torch

from leocod.errors import InvalidLabels
from leocod.memory.encoding import JPEG, count_bytes, encode_frame
from leocod.memory.replacements.base import REPLACEMENTS
from leocod.memory.replay import ReplayMemory
from leocod.memory.shelf import MemoryEntry
from leocod.memory.stores.base import STORES
from leocod.types import Labels

ALL_STORES = [*STORES.names(), "own_memory_policy:BalancedWithEmpty"]
ALL_REPLACEMENTS = [*REPLACEMENTS.names(), "own_memory_policy:MostBoxes"]
POLICIES = [(store, replacement) for store in ALL_STORES for replacement in ALL_REPLACEMENTS]

CLASSES = 3
PER_CLASS = 2
FRAME = 48 * 64 * 3 + 2 * 24
"""Bytes of a raw frame with two boxes: none of the frames here has more."""

BUDGETS = {
    "frames": {"per_class": PER_CLASS},
    "frames and bytes": {"per_class": PER_CLASS, "max_bytes": int(2.5 * FRAME)},
    "bytes of JPEG": {"per_class": None, "max_bytes": 2 * FRAME, "encoding": JPEG(50)},
}


@pytest.fixture(params=POLICIES, ids=lambda policies: " ".join(name.rpartition(":")[2] for name in policies))
def policies(request):
    return dict(zip(("store", "replacement"), request.param, strict=True))


@pytest.fixture(params=BUDGETS.values(), ids=BUDGETS)
def make(request, policies):
    """Builds the memory anew."""

    def build(seed=0):
        return ReplayMemory(classes=CLASSES, **policies, **request.param, seed=seed)

    return build


@pytest.fixture
def pairs(a_frame):
    """Frames of one class, of two, of none, and some that come twice; frequent classes and a rare one."""
    shown = [(0,), (0, 1), (), (1,), (0,), (2, 0), (0,), (1, 0)]
    return [a_frame(number % 25, shown[number % 25 % len(shown)]) for number in range(40)]


def content(memory):
    """All that is in a memory, in order."""
    return [
        (frame.id, frame.image().tobytes(), labels.boxes.tobytes(), labels.classes.tobytes())
        for frame, labels in memory.frames
    ]


def shelves(memory):
    return {key: [entry.number for entry in shelf.entries] for key, shelf in memory.shelves.items()}


def through_a_file(state):
    """As a checkpoint does it: nothing in the file is run."""
    file = io.BytesIO()
    torch.save(state, file)
    return torch.load(io.BytesIO(file.getvalue()), weights_only=True)


def test_it_never_exceeds_its_budget_in_frames_and_bytes(make, pairs):
    memory = make()

    for pair in pairs:
        memory.add([pair])

        assert memory.max_bytes is None or memory.bytes <= memory.max_bytes
        for key, shelf in memory.shelves.items():
            if memory.per_class is not None:
                assert len(shelf.entries) <= memory.store.count_places(key, per_class=PER_CLASS, classes=CLASSES)
    assert len(memory)


def test_its_bytes_are_those_of_what_it_stores(make, pairs):
    memory = make()

    memory.add(pairs)

    frames = {frame.id: frame for frame, _ in memory.frames}
    stored = sum(count_bytes(frame) for frame in frames.values())
    assert memory.bytes == stored + sum(labels.bytes for _, labels in memory.frames)
    assert len(memory) == len(frames)


def test_pseudo_labels_are_refused(make, pairs):
    memory = make()
    frame, labels = pairs[0]

    with pytest.raises(InvalidLabels, match=r"only a person's are remembered.*step.labelled"):
        memory.add([(frame, replace(labels, source="pseudo"))])

    assert len(memory) == memory.bytes == 0


def test_every_frame_it_holds_was_offered_and_is_as_it_was_offered(make, pairs):
    memory = make()

    memory.add(pairs)

    offered = {frame.id: (frame, labels) for frame, labels in pairs}
    for frame, labels in memory.frames:
        given_frame, given_labels = offered[frame.id]
        np.testing.assert_array_equal(frame.image(), encode_frame(given_frame, memory.encoding).image())
        np.testing.assert_array_equal(labels.boxes, given_labels.boxes)
        np.testing.assert_array_equal(labels.classes, given_labels.classes)
        assert labels.source == "human"


def test_pixels_of_a_frame_are_held_once(make, pairs):
    memory = make()

    memory.add(pairs)

    assert len({id(frame) for frame, _ in memory.frames}) == len({frame.id for frame, _ in memory.frames})


def test_every_entry_stands_on_shelves_that_it_was_offered_to(make, pairs):
    memory = make()

    memory.add(pairs)

    standing = {entry.number: entry for shelf in memory.shelves.values() for entry in shelf.entries}
    assert len(standing) == len(memory.frames)
    for entry in standing.values():
        on = [key for key, shelf in memory.shelves.items() if entry in shelf.entries]
        assert sorted(entry.shelves) == sorted(on)
        assert set(on) <= set(memory.store.choose_shelves(entry))


def test_a_draw_has_as_many_frames_as_asked_and_all_are_held(make, pairs):
    memory = make()
    memory.add(pairs)
    remembered = {frame.id for frame, _ in memory.frames}

    draws = {count: memory.sample(count, per_class=2) for count in (1, 5, 16)}

    assert {count: len(drawn) for count, drawn in draws.items()} == {1: 1, 5: 5, 16: 16}
    for drawn in (*draws.values(), memory.one_of_each()):
        assert {frame.id for frame, _ in drawn} <= remembered


def test_an_empty_memory_draws_nothing(make):
    assert make().sample(16, per_class=2) == []
    assert make().one_of_each() == []


def test_saved_and_loaded_it_continues_identically(make, pairs):
    one, two = make(), make(seed=9)
    one.add(pairs[:20])
    two.load_state_dict(through_a_file(one.state_dict()))

    assert content(one) == content(two)
    for memory in (one, two):
        memory.add(pairs[20:])
    drawn = [[frame.image().tobytes() for frame, _ in memory.sample(8, per_class=2)] for memory in (one, two)]

    assert drawn[0] == drawn[1]
    assert content(one) == content(two)
    assert list(shelves(one).items()) == list(shelves(two).items())
    assert (one.bytes, one.seen) == (two.bytes, two.seen)


def test_a_snapshot_is_not_changed_by_what_comes_later(make, pairs):
    memory = make()
    memory.add(pairs[:20])
    state, before = memory.state_dict(), content(memory)

    memory.add(pairs[20:])

    assert content(make().load_state_dict(state)) == before


def test_equal_seeds_give_equal_content(make, pairs):
    one, two = make(seed=3), make(seed=3)

    for memory in (one, two):
        memory.add(pairs)

    assert content(one) == content(two)
    assert shelves(one) == shelves(two)


def test_frames_with_nothing_in_them_are_kept_only_by_a_store_with_a_shelf_for_them(make, a_frame):
    memory = make()
    empty = [(a_frame(number)[0], Labels.none()) for number in range(20)]

    memory.add(empty)

    has_shelf = bool(memory.store.choose_shelves(MemoryEntry(0, *empty[0])))
    assert (len(memory) > 0) == has_shelf
    assert len(memory.sample(4, per_class=2)) == (4 if has_shelf else 0)
    assert memory.seen == {}


@pytest.mark.parametrize("replacement", ALL_REPLACEMENTS)
def test_a_shelf_without_places_stays_empty(replacement, pairs):
    """A random store of a learner that knows no class yet."""
    memory = ReplayMemory(classes=0, store="random", replacement=replacement, seed=0)

    memory.add(pairs)

    assert len(memory) == memory.bytes == 0
