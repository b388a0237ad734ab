"""What tells a frame, and what is said of it, from others."""

from __future__ import annotations

from dataclasses import replace

from leocod.stream.fingerprints import fingerprint_frame, fingerprint_labels
from leocod.types import Labels


def test_a_frame_is_known_by_its_place_in_its_video(a_frame) -> None:
    frame, _ = a_frame(3)

    assert fingerprint_frame(replace(frame, id=99)) == fingerprint_frame(frame)
    assert fingerprint_frame(replace(frame, index=frame.index + 1)) != fingerprint_frame(frame)
    assert fingerprint_frame(replace(frame, video="another")) != fingerprint_frame(frame)


def test_labels_are_known_by_names_and_boxes_in_any_order() -> None:
    one = Labels([[1, 2, 3, 4], [5, 6, 7, 8]], [0, 1])
    turned = Labels([[5, 6, 7, 8], [1, 2, 3, 4]], [2, 1])

    known = fingerprint_labels(one, ("mug", "book"))

    assert fingerprint_labels(turned, ("dog", "mug", "book")) == known
    assert fingerprint_labels(one, ("book", "mug")) != known
    assert fingerprint_labels(replace(one, complete=False), ("mug", "book")) != known
    assert fingerprint_labels(Labels([[1, 2, 3, 5], [5, 6, 7, 8]], [0, 1]), ("mug", "book")) != known
