"""Frames and labels of the memory as tensors and plain values."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
import torch

from leocod.memory.encoding import JPEG, encode_frame
from leocod.memory.saving import pack_frame, pack_labels, unpack_frame, unpack_labels
from leocod.types import Labels, LossWeights


def test_stored_logits_come_back_with_the_frame(a_memory, a_frame):
    frame, labels = a_frame(1, (0, 2))
    logits = np.arange(8, dtype=np.float32).reshape(2, 4)
    memory = a_memory()
    memory.add([(frame, replace(labels, logits=logits))])

    twin = a_memory().load_state_dict(memory.state_dict())

    ((_, kept),) = twin.frames
    np.testing.assert_array_equal(kept.logits, logits)
    assert twin.bytes == memory.bytes == frame.image().nbytes + labels.bytes + logits.nbytes


def test_labels_come_back_from_a_state_with_all_they_had(a_memory, a_frame):
    frame, labels = a_frame(1, (0,))
    told = replace(labels, weights=LossWeights(0.5, 0.25, 2.0, 0.0), unsure=np.array([[1.0, 2.0, 9.0, 9.0]]))
    memory = a_memory()
    memory.add([(frame, told)])

    ((_, kept),) = a_memory().load_state_dict(memory.state_dict()).frames

    assert kept.weights == told.weights
    np.testing.assert_array_equal(kept.unsure, told.unsure)


def through_a_file(state):
    """As a checkpoint does it: nothing in the file is run."""
    file = io.BytesIO()
    torch.save(state, file)
    return torch.load(io.BytesIO(file.getvalue()), weights_only=True)


def test_a_raw_frame_comes_back_as_it_was(a_frame):
    frame, _ = a_frame(3)

    back = unpack_frame(through_a_file(pack_frame(frame)))

    assert (back.id, back.video, back.index, back.size) == (3, "test", 3, frame.size)
    np.testing.assert_array_equal(back.image(), frame.image())


def test_a_jpeg_comes_back_byte_for_byte(a_frame):
    frame = encode_frame(a_frame(3)[0], JPEG())

    packed = pack_frame(frame)
    back = unpack_frame(through_a_file(packed))

    assert packed["jpeg"].dtype == torch.uint8
    assert back.content == frame.content
    assert (back.id, back.video, back.index, back.size) == (3, "test", 3, frame.size)
    np.testing.assert_array_equal(back.image(), frame.image())


@pytest.mark.parametrize("complete", [True, False])
def test_labels_come_back_complete_or_not(a_frame, complete):
    frame, labels = a_frame(1)

    back = unpack_labels(through_a_file(pack_labels(frame, replace(labels, complete=complete))))

    assert back.complete == complete


def test_labels_of_an_earlier_version_are_complete(a_frame):
    packed = pack_labels(*a_frame(1))
    packed.pop("complete")

    assert unpack_labels(packed).complete


def test_labels_of_nothing_come_back_as_labels_of_nothing(a_frame):
    back = unpack_labels(through_a_file(pack_labels(a_frame(1)[0], Labels.none())))

    assert len(back) == 0
    assert back.known
    assert back.logits is None
