"""The replay memory: what it keeps, what it lets go, and what it draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from leocod.errors import InvalidConfig, InvalidLabels
from leocod.memory.encoding import JPEG, Raw
from leocod.memory.replacements.base import MemoryReplacement
from leocod.memory.replacements.fifo import FIFO
from leocod.memory.replacements.first import First
from leocod.memory.stores.random import Random
from leocod.types import Frame, Labels


class FirstPlace(MemoryReplacement):
    """A newcomer takes the first place of a full shelf."""

    def choose_place(self, shelf, newcomer, random):
        return 0


def test_a_frame_of_two_classes_is_held_once_and_goes_when_the_last_shelf_lets_it_go(a_memory, ids, a_frame):
    memory = a_memory(per_class=1, replacement="released")
    memory.add([a_frame(1, (0, 1))])
    assert len(memory) == 1
    assert memory.bytes == 48 * 64 * 3 + 2 * (16 + 8)

    newcomers = iter(range(2, 1000))
    while memory.shelves[0].entries == memory.shelves[1].entries:
        memory.add([a_frame(next(newcomers), (0,))])
    assert 1 in ids(memory.frames)
    while len(memory) == 2 and 1 in ids(memory.frames):
        memory.add([a_frame(next(newcomers), (1,))])
    assert 1 not in ids(memory.frames)


def test_reservoir_keeps_old_and_new_frames_alike_and_released_only_recent_ones(a_memory, ids, a_frame):
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


def test_a_draw_repeats_when_there_are_fewer_frames_than_asked(a_memory, ids, a_frame):
    memory = a_memory()
    memory.add([a_frame(1, (0,)), a_frame(2, (1,))])

    drawn = ids(memory.sample(16, per_class=2))

    assert len(drawn) == 16
    assert drawn.count(1) == drawn.count(2) == 8


def test_an_empty_memory_draws_nothing(a_memory):
    assert a_memory().sample(16, per_class=2) == []


def test_the_memory_holds_its_own_pixels(a_memory, a_frame):
    pixels = np.full((48, 64, 3), 7, np.uint8)
    memory = a_memory()
    memory.add([(Frame(1, "video", 0, (48, 64), pixels), a_frame(1, (0,))[1])])

    pixels[:] = 0

    assert (memory.frames[0][0].image() == 7).all()


def test_saved_and_loaded_it_goes_on_the_same(a_memory, ids, numbers, a_frame):
    memory = a_memory(per_class=2)
    memory.add([a_frame(number, (number % 3, 1)) for number in range(12)])
    twin = a_memory(per_class=2, seed=99).load_state_dict(memory.state_dict())

    for one in (memory, twin):
        one.add([a_frame(100 + number, (number % 3,)) for number in range(9)])

    assert ids(memory.sample(8, per_class=2)) == ids(twin.sample(8, per_class=2))
    assert numbers(memory) == numbers(twin)
    assert ids(memory.frames) == ids(twin.frames)
    assert memory.bytes == twin.bytes


@pytest.mark.parametrize("rule", ["reservoir", "released", "first", "fifo"])
@pytest.mark.parametrize("store", ["balanced", "random"])
def test_bytes_are_those_of_what_is_held(a_memory, a_frame, store, rule):
    memory = a_memory(per_class=2, store=store, replacement=rule)

    memory.add([a_frame(number, (number % 3, 1 + number % 2)) for number in range(30)])

    frames = {frame.id: frame for frame, _ in memory.frames}
    pixels = sum(frame.image().nbytes for frame in frames.values())
    assert len(memory) == len(frames)
    assert memory.bytes == pixels + sum(labels.bytes for _, labels in memory.frames)


def test_a_frame_with_other_labels_is_another_entry_of_the_same_pixels(a_memory, a_frame):
    frame, labels = a_frame(1, (0, 1))
    single = [(frame, Labels(labels.boxes[number], labels.classes[number])) for number in (0, 1)]
    memory = a_memory(per_class=1)

    memory.add(single)

    assert [one.classes.tolist() for _, one in memory.frames] == [[0], [1]]
    assert memory.frames[0][0] is memory.frames[1][0]
    assert memory.bytes == frame.image().nbytes + 2 * (16 + 8)


def test_every_frame_of_a_class_is_drawn_as_often(a_memory, ids, a_frame):
    memory = a_memory()
    memory.add([a_frame(number, (number // 5,)) for number in range(15)])

    drawn = np.bincount([one for _ in range(500) for one in ids(memory.sample(4, per_class=2))], minlength=15)

    assert drawn.min() > 95
    assert drawn.max() < 175


def test_a_draw_looks_only_at_what_it_draws(a_memory, a_frame):
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


def test_pseudo_labels_are_refused(a_memory, a_frame):
    frame, labels = a_frame(1, (0,))

    with pytest.raises(InvalidLabels, match=r"only a person's are remembered.*step.labelled"):
        a_memory().add([(frame, replace(labels, source="pseudo"))])


FRAME = 48 * 64 * 3 + 16 + 8
"""Bytes of a raw frame with one box."""


def test_a_memory_without_any_limit_is_refused(a_memory):
    with pytest.raises(ValueError, match="needs a limit"):
        a_memory(per_class=None)


def test_policies_may_be_names_or_objects(a_memory, ids, a_frame):
    memory = a_memory(per_class=1, store=Random(), replacement=First(), classes=2)

    memory.add([a_frame(number, (0,)) for number in range(4)])

    assert ids(memory.frames) == [0, 1]


def test_under_a_budget_in_bytes_classes_share_it_evenly(a_memory, a_frame):
    memory = a_memory(per_class=None, max_bytes=6 * FRAME)

    memory.add([a_frame(number, (0,)) for number in range(20)])
    assert memory.count(0) == 6
    memory.add([a_frame(number, (1,)) for number in range(20, 40)])
    assert [memory.count(name) for name in (0, 1)] == [3, 3]
    memory.add([a_frame(number, (2,)) for number in range(40, 60)])

    assert [memory.count(name) for name in (0, 1, 2)] == [2, 2, 2]
    assert memory.bytes == 6 * FRAME


def test_under_both_budgets_the_tighter_one_holds(a_memory, a_frame):
    frames = [a_frame(number, (number % 2,)) for number in range(40)]
    by_frames, by_bytes = a_memory(per_class=2, max_bytes=10 * FRAME), a_memory(per_class=10, max_bytes=4 * FRAME)

    for memory in (by_frames, by_bytes):
        memory.add(frames)

    assert len(by_frames) == len(by_bytes) == 4
    assert [by_bytes.count(name) for name in (0, 1)] == [2, 2]


def test_under_a_budget_in_bytes_a_rare_class_keeps_its_frame(a_memory, ids, a_frame):
    memory = a_memory(per_class=None, max_bytes=4 * FRAME)
    memory.add([a_frame(0, (1,))])

    memory.add([a_frame(number, (0,)) for number in range(1, 100)])

    assert 0 in ids(memory.frames)
    assert memory.count(0) == 3


def test_under_a_budget_in_bytes_reservoir_still_keeps_old_and_new_frames_alike(a_memory, ids, a_frame):
    frames, kept = [a_frame(number, (number % 2,)) for number in range(80)], []
    for seed in range(60):
        memory = a_memory(seed=seed, per_class=None, max_bytes=8 * FRAME)
        memory.add(frames)
        assert len(memory) == 8
        kept += ids(memory.frames)

    assert 36 < np.mean(kept) < 43


@pytest.mark.parametrize(("rule", "kept"), [("first", [0, 1, 2]), ("fifo", [97, 98, 99])])
def test_under_a_budget_in_bytes_first_and_fifo_are_what_they_say(a_memory, ids, a_frame, rule, kept):
    memory = a_memory(per_class=None, max_bytes=3 * FRAME, replacement=rule)

    memory.add([a_frame(number, (0,)) for number in range(100)])

    assert ids(memory.frames) == kept


def test_a_large_frame_makes_room_for_itself_and_small_ones_come_back(a_memory, ids, a_frame):
    memory = a_memory(per_class=None, max_bytes=4 * FRAME, replacement="fifo")
    memory.add([a_frame(number, (0,)) for number in range(4)])

    memory.add([a_frame(10, (1,), size=(96, 96))])
    assert ids(memory.frames) == [3, 10]
    memory.add([a_frame(11, (1,)), a_frame(12, (0,)), a_frame(13, (0,))])

    assert ids(memory.frames) == [3, 11, 12, 13]


def test_a_frame_on_several_shelves_leaves_all_of_them_at_once(a_memory, numbers, a_frame):
    memory = a_memory(per_class=None, max_bytes=3 * (FRAME + 24), replacement="fifo")
    memory.add([a_frame(number, (0, 1)) for number in range(3)])

    memory.add([a_frame(3, (2,))])

    assert numbers(memory) == {0: [1, 2], 1: [1, 2], 2: [3]}
    assert len(memory) == 3


def test_a_class_that_lost_all_its_frames_is_drawn_no_more_and_comes_back(a_memory, ids, a_frame):
    memory = a_memory(per_class=None, max_bytes=FRAME)
    memory.add([a_frame(1, (0,)), a_frame(2, (1,))])

    assert [memory.count(name) for name in (0, 1)] == [0, 1]
    assert ids(memory.sample(3, per_class=1)) == [2, 2, 2]
    assert ids(memory.one_of_each()) == [2]
    memory.add([a_frame(3, (0,))])
    assert ids(memory.frames) == [3]


@pytest.mark.parametrize(
    ("encoding", "cure"),
    [
        (Raw(), r"store frames as JPEG \(strategy.memory_encoding: jpeg\)"),
        (JPEG(), "lower strategy.memory_jpeg_quality"),
    ],
)
def test_a_frame_larger_than_the_budget_is_refused_with_the_cure(a_memory, a_frame, encoding, cure):
    memory = a_memory(max_bytes=500, encoding=encoding)

    with pytest.raises(InvalidConfig, match=rf"^Frame 1 of test takes \d+ bytes .* is 500. Raise .*{cure}"):
        memory.add([a_frame(1)])

    assert len(memory) == memory.bytes == 0
    assert memory.seen == {}


def test_a_frame_that_no_shelf_is_for_may_be_of_any_size(a_memory, a_frame):
    memory = a_memory(max_bytes=100)

    memory.add([a_frame(1, ())])

    assert len(memory) == 0


def test_jpeg_frames_are_counted_as_stored_and_their_labels_are_exact(a_memory, a_frame):
    raw, jpeg = a_memory(), a_memory(encoding=JPEG())
    for memory in (raw, jpeg):
        memory.add([a_frame(number, (number % 3, 1)) for number in range(6)])

    assert jpeg.bytes == sum(
        len(frame.content.data) for frame in {frame.id: frame for frame, _ in jpeg.frames}.values()
    ) + sum(labels.bytes for _, labels in jpeg.frames)
    assert jpeg.bytes < raw.bytes / 2
    for (frame, labels), (stored, kept) in zip(raw.frames, jpeg.frames, strict=True):
        np.testing.assert_array_equal(kept.boxes, labels.boxes)
        np.testing.assert_array_equal(kept.classes, labels.classes)
        assert stored.image().shape == frame.image().shape


def test_more_jpeg_frames_fit_into_the_same_bytes(a_memory, a_frame):
    raw, jpeg = (a_memory(per_class=None, max_bytes=4 * FRAME, encoding=one) for one in (Raw(), JPEG()))
    for memory in (raw, jpeg):
        memory.add([a_frame(number) for number in range(40)])

    assert len(raw) == 4
    assert len(jpeg) > 8
    assert jpeg.bytes <= 4 * FRAME


def test_frames_saved_in_one_encoding_stay_so_in_a_memory_of_another(a_memory, a_frame):
    raw = a_memory()
    raw.add([a_frame(1)])

    loaded = a_memory(encoding=JPEG()).load_state_dict(raw.state_dict())

    assert loaded.bytes == raw.bytes
    np.testing.assert_array_equal(loaded.frames[0][0].image(), raw.frames[0][0].image())


@pytest.mark.parametrize("store", ["balanced", "random"])
def test_a_state_from_before_shelves_were_counted_goes_on_the_same(a_memory, numbers, a_frame, store):
    """Checkpoints of a9415f2 have this form."""
    memory = a_memory(per_class=2, store=store)
    memory.add([a_frame(number, (number % 3, 1)) for number in range(12)])
    state = memory.state_dict()
    del state["offered_by_shelf"], state["pinned"]

    twin = a_memory(per_class=2, store=store, seed=99).load_state_dict(state)
    for each in (memory, twin):
        each.add([a_frame(100 + number, (number % 3,)) for number in range(9)])

    assert numbers(memory) == numbers(twin)
    assert set(state) == {"shelves", "seen", "offered", "random", "frames", "entries"}
    assert set(state["frames"][0]) == {"id", "video", "index", "pixels"}


def test_a_pinned_frame_stays_on_a_full_shelf(a_memory, ids, a_frame):
    memory = a_memory(per_class=1, replacement="released")
    memory.add([a_frame(1, (0,))])
    memory.pinned.add(1)

    memory.add([a_frame(number, (0,)) for number in range(2, 40)])

    assert ids(memory.frames) == [1]


def test_a_pinned_frame_stays_when_bytes_are_short(a_memory, ids, a_frame):
    first = a_frame(1, (0,))
    memory = a_memory(per_class=None, max_bytes=2 * (first[0].bytes + first[1].bytes))
    memory.add([first, a_frame(2, (0,))])
    memory.pinned.update({1, 2})

    memory.add([a_frame(3, (1,))])
    assert ids(memory.frames) == [1, 2]

    memory.pinned.discard(2)
    memory.add([a_frame(4, (1,))])
    assert ids(memory.frames) == [1, 4]


def test_a_frame_that_is_removed_is_gone_from_every_shelf(a_memory, ids, a_frame):
    memory = a_memory()
    memory.add([a_frame(1, (0, 1)), a_frame(2, (1,))])
    memory.pinned.add(1)

    assert memory.remove(1)
    assert not memory.remove(1)

    assert ids(memory.frames) == [2]
    assert memory.shelves[0].entries == []
    assert memory.pinned == set()
    assert memory.bytes == sum(frame.bytes + labels.bytes for frame, labels in memory.frames)


def test_a_class_that_is_merged_moves_to_the_shelf_of_the_other(a_memory, ids, a_frame):
    memory = a_memory(per_class=2)
    memory.add([a_frame(1, (0,)), a_frame(2, (0, 1)), a_frame(3, (1,)), a_frame(4, (2, 0))])

    memory.merge_classes(0, 1)

    assert memory.shelves[0].entries == []
    assert ids(entry.pair for entry in memory.shelves[1].entries) == [2, 3]
    # The shelf was full, so a frame that stood on no other one has gone.
    assert ids(memory.frames) == [2, 3, 4]
    assert all(0 not in labels.classes for _, labels in memory.frames)
    assert memory.seen == {1: 5, 2: 1}
    assert memory.bytes == sum(frame.bytes + labels.bytes for frame, labels in memory.frames)


def test_the_newest_frame_makes_room_for_a_pinned_one_also_where_frames_were_replaced(a_memory, ids, a_frame):
    memory = a_memory(per_class=2, replacement=FirstPlace())
    # Frame 3 takes the place of frame 1, before frame 2.
    memory.add([a_frame(1, (1,)), a_frame(2, (1,)), a_frame(3, (1,)), a_frame(4, (0,))])
    memory.pinned.add(4)

    memory.merge_classes(0, 1)

    assert ids(memory.frames) == [2, 4]


def test_a_pinned_frame_stays_when_its_class_is_merged_into_a_full_shelf(a_memory, ids, a_frame):
    memory = a_memory(per_class=2)
    memory.add([a_frame(1, (1,)), a_frame(2, (1,)), a_frame(3, (0,))])
    memory.pinned.add(3)

    memory.merge_classes(0, 1)

    assert ids(memory.frames) == [1, 3]
    memory.pinned |= {1}
    memory.add([a_frame(4, (0,))])
    memory.pinned |= {4}
    memory.merge_classes(0, 1)
    # All are pinned, so the shelf holds one more.
    assert ids(memory.frames) == [1, 3, 4]
    assert memory.bytes == sum(frame.bytes + labels.bytes for frame, labels in memory.frames)


def test_a_pinned_frame_does_not_keep_newcomers_out(a_memory, ids, a_frame):
    memory = a_memory(per_class=2, replacement=FIFO())
    memory.add([a_frame(1, (0,))])
    memory.pinned.add(1)

    memory.add([a_frame(number, (0,)) for number in range(2, 9)])

    assert ids(memory.frames) == [1, 8]


def test_a_merged_class_was_offered_all_that_both_were(a_memory, a_frame):
    memory = a_memory(per_class=2)
    memory.add([a_frame(number, (number % 2,)) for number in range(100)])

    memory.merge_classes(0, 1)

    assert memory.shelves[1].offered == memory.seen[1] == 100
    assert memory.shelves[0].offered == 0


def test_pins_are_saved(a_memory, a_frame):
    memory = a_memory()
    memory.add([a_frame(1, (0,))])
    memory.pinned.add(1)

    assert a_memory().load_state_dict(memory.state_dict()).pinned == {1}
    old = {key: value for key, value in memory.state_dict().items() if key != "pinned"}
    assert a_memory().load_state_dict(old).pinned == set()


def test_what_is_set_apart_stays_as_it_is_under_other_ids(a_memory, ids, a_frame):
    memory = a_memory(per_class=2)
    memory.add([a_frame(4, (0, 1)), a_frame(7, (1,))])
    memory.pinned.add(7)
    bytes_before, pixels = memory.bytes, [frame.image() for frame, _ in memory.frames]

    memory.set_apart()

    assert ids(memory.frames) == [-1, -2]
    assert memory.pinned == {-2}
    assert memory.bytes == bytes_before
    for (frame, _), before in zip(memory.frames, pixels, strict=True):
        assert np.array_equal(frame.image(), before)
    memory.add([a_frame(4, (0,))])
    assert sorted(ids(memory.frames)) == [-2, -1, 4]
    assert memory.remove(-1)
    memory.set_apart()
    assert ids(memory.frames) == [-1, -2]
    assert a_memory(per_class=2).load_state_dict(memory.state_dict()).bytes == memory.bytes
