"""Augmented frames: the boxes still fit what they are around."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from leocod.augmentation import augmented
from leocod.types import Frame, Labels, LossWeights


def a_bright_square(box, size=(100, 120)):
    pixels = np.zeros((*size, 3), np.uint8)
    x1, y1, x2, y2 = box
    pixels[y1:y2, x1:x2] = 255
    return Frame(1, "video", 0, size, pixels), Labels(np.array([box]), np.array([2]), "pseudo", LossWeights(0, 1, 1))


def bright_part(pixels):
    rows, columns = np.nonzero(pixels[..., 0] > 127)
    return np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1])


def test_boxes_move_with_the_pixels():
    for seed in range(30):
        frame, labels = augmented(a_bright_square([40, 30, 80, 60]), np.random.default_rng(seed))

        # A rotated box is the upright one around it, so it may be larger by what 5 degrees of turn add.
        tight = bright_part(frame.image())
        assert np.abs(labels.boxes[0] - tight).max() < 4.5
        assert frame.image().shape == (90, 108, 3) == (*frame.size, 3)


def test_class_source_and_weights_stay():
    _, labels = augmented(a_bright_square([40, 30, 80, 60]), np.random.default_rng(0))

    assert labels.classes.tolist() == [2]
    assert labels.source == "pseudo"
    assert labels.weights == LossWeights(0, 1, 1)


def test_a_box_at_the_border_is_clipped_or_dropped():
    kept, dropped = 0, 0
    for seed in range(60):
        frame, labels = augmented(a_bright_square([0, 0, 8, 8]), np.random.default_rng(seed))
        kept, dropped = kept + len(labels), dropped + 1 - len(labels)
        if len(labels):
            assert (labels.boxes[:, :2] >= 0).all()
            assert (labels.boxes[:, 2:] <= frame.size[::-1]).all()

            x1, y1, x2, y2 = labels.boxes[0].round().astype(int)
            assert frame.image()[y1:y2, x1:x2].max() > 0

    assert kept
    assert dropped


def test_an_object_that_was_cropped_away_does_not_come_back_as_an_empty_box():
    for seed in range(200):
        frame, labels = augmented(a_bright_square([0, 10, 6, 90]), np.random.default_rng(seed))

        for box in labels.boxes.round().astype(int):
            assert frame.image()[box[1] : box[3], box[0] : box[2]].max() > 0


def test_what_is_unsure_moves_along_and_keeps_apart_from_what_is_sure():
    frame, labels = a_bright_square([40, 30, 80, 60])
    both = replace(labels, unsure=labels.boxes)

    for seed in range(10):
        _, moved = augmented((frame, both), np.random.default_rng(seed))

        np.testing.assert_array_equal(moved.unsure, moved.boxes)
        assert len(moved) == 1


def test_logits_go_with_the_box_that_they_were_said_of():
    frame, labels = a_bright_square([40, 30, 80, 60])
    too_small = [50, 40, 50.5, 40.5]
    both = replace(labels, boxes=[too_small, labels.boxes[0]], classes=[0, 2], logits=[[1, 2], [3, 4]])

    _, moved = augmented((frame, both), np.random.default_rng(0))

    assert moved.classes.tolist() == [2]
    assert moved.logits.tolist() == [[3, 4]]


def test_a_frame_without_boxes_can_be_augmented():
    frame = Frame(1, "video", 0, (50, 60), np.zeros((50, 60, 3), np.uint8))

    _, labels = augmented((frame, Labels.none()), np.random.default_rng(0))

    assert len(labels) == 0


def test_about_half_of_the_frames_are_mirrored():
    left = [
        bright_part(augmented(a_bright_square([15, 30, 40, 60]), np.random.default_rng(seed))[0].image())[0] < 54
        for seed in range(100)
    ]

    assert 35 < sum(left) < 65


def test_the_given_frame_is_not_changed():
    frame, labels = a_bright_square([40, 30, 80, 60])
    before = frame.image().copy()

    augmented((frame, labels), np.random.default_rng(1))

    np.testing.assert_array_equal(frame.image(), before)
