"""Frames whose labels are under way come back with them, as they were."""

from __future__ import annotations

import io

import torch

from leocod.stream.under_way import UnderWay


def ids(pairs):
    return [frame.id for frame, _ in pairs]


def test_labels_come_so_many_steps_later(a_frame):
    held = UnderWay(2)

    arrived = [held.exchange(step, [a_frame(10 * step), a_frame(10 * step + 1)]) for step in range(4)]

    assert [ids(pairs) for pairs in arrived] == [[], [], [0, 1], [10, 11]]


def test_frames_and_labels_come_back_as_they_were(a_frame):
    held, (frame, labels) = UnderWay(1), a_frame(3, (0, 2))
    held.exchange(0, [(frame, labels)])

    [(back, given)] = held.exchange(1, [])

    assert (back.id, back.video, back.index, back.size) == (frame.id, frame.video, frame.index, frame.size)
    assert (back.image() == frame.image()).all()
    assert (given.boxes.tolist(), given.classes.tolist()) == (labels.boxes.tolist(), labels.classes.tolist())


def test_what_is_held_counts_in_bytes(a_frame):
    held, pairs = UnderWay(1), [a_frame(3), a_frame(4, ())]

    held.exchange(0, pairs)
    assert held.bytes == sum(frame.image().nbytes + labels.bytes for frame, labels in pairs)
    held.exchange(1, [])
    assert held.bytes == 0


def test_it_goes_on_from_a_state_that_a_checkpoint_can_hold_and_that_later_steps_do_not_change(a_frame):
    held, again = UnderWay(2), UnderWay(2)
    held.exchange(0, [a_frame(0)])
    held.exchange(1, [a_frame(10)])
    state = held.state_dict()
    first = held.exchange(2, [a_frame(20)])
    file = io.BytesIO()
    torch.save(state, file)

    again.load_state_dict(torch.load(io.BytesIO(file.getvalue()), weights_only=True))

    assert ids(again.exchange(2, [a_frame(20)])) == ids(first) == [0]
    assert again.bytes == held.bytes
    assert ids(again.exchange(3, [])) == [10]
