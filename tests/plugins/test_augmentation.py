"""Augmented frames: the boxes still fit what they are around."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from augment import torchvisions

from leocod.plugins.augmentation import augment
from leocod.types import Frame, Labels, LossWeights


def one_augmented(pair, random):
    return augment([pair], random)[0]


def matrix_products_round_as_plain_arithmetic():
    """Where they do not, as with fused multiply and add, torchvision's last bit depends on the processor."""
    points, matrix = torch.rand(1000, 3) * 100, torch.rand(3, 2)
    plain = points[:, :1] * matrix[0] + points[:, 1:2] * matrix[1] + points[:, 2:] * matrix[2]
    return torch.equal(points @ matrix, plain)


def a_step_of_noise(random):
    """Labelled frames of any sizes, some of the same size, with all that labels may have."""
    sizes = [(96, 128), *((int(height), int(width)) for height, width in random.integers(1, 90, (3, 2)))]

    def boxes(size, count):
        corners = random.uniform(0, size[::-1], (count, 2))
        return np.concatenate([corners, corners + random.uniform(0.1, 50, (count, 2))], axis=1)

    pairs = []
    for number in range(random.integers(0, 8)):
        size, count = sizes[random.integers(len(sizes))], random.integers(0, 5)
        labels = Labels(
            boxes(size, count),
            random.integers(0, 5, count),
            "pseudo",
            unsure=boxes(size, random.integers(0, 3)),
            logits=random.random((count, 6)) if random.random() < 0.5 else None,
        )
        pairs.append((Frame(number, "video", number, size, random.integers(0, 256, (*size, 3), np.uint8)), labels))
    return pairs


def test_frames_together_are_what_torchvision_makes_of_each():
    exact = matrix_products_round_as_plain_arithmetic()
    kept = dropped = 0
    for seed in range(60):
        pairs = a_step_of_noise(np.random.default_rng(seed))
        ours, theirs = np.random.default_rng(seed), np.random.default_rng(seed)

        together = augment(pairs, ours)

        assert len(together) == len(pairs)
        for (frame, labels), pair in zip(together, pairs, strict=True):
            shown, expected = torchvisions(pair, theirs)
            apart = np.abs(frame.image().astype(int) - shown.image())
            assert apart.max() <= (0 if exact else 1)
            np.testing.assert_allclose(labels.boxes, expected.boxes, rtol=0, atol=0 if exact else 1e-4)
            np.testing.assert_allclose(labels.unsure, expected.unsure, rtol=0, atol=0 if exact else 1e-4)
            assert labels.classes.tolist() == expected.classes.tolist()
            np.testing.assert_array_equal(labels.logits, expected.logits)
            assert (frame.id, frame.size) == (pair[0].id, shown.size)
            kept, dropped = kept + len(labels), dropped + len(pair[1]) - len(labels)
        assert ours.bit_generator.state == theirs.bit_generator.state

    assert kept
    assert dropped


def test_no_frames_give_none_and_draw_nothing():
    random = np.random.default_rng(0)

    assert augment([], random) == []
    assert random.random() == np.random.default_rng(0).random()


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
        frame, labels = one_augmented(a_bright_square([40, 30, 80, 60]), np.random.default_rng(seed))

        # A rotated box is the upright one around it, so it may be larger by what 5 degrees of turn add.
        tight = bright_part(frame.image())
        assert np.abs(labels.boxes[0] - tight).max() < 4.5
        assert frame.image().shape == (90, 108, 3) == (*frame.size, 3)


def test_class_source_and_weights_stay():
    _, labels = one_augmented(a_bright_square([40, 30, 80, 60]), np.random.default_rng(0))

    assert labels.classes.tolist() == [2]
    assert labels.source == "pseudo"
    assert labels.weights == LossWeights(0, 1, 1)


def test_a_box_at_the_border_is_clipped_or_dropped():
    kept, dropped = 0, 0
    for seed in range(60):
        frame, labels = one_augmented(a_bright_square([0, 0, 8, 8]), np.random.default_rng(seed))
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
        frame, labels = one_augmented(a_bright_square([0, 10, 6, 90]), np.random.default_rng(seed))

        for box in labels.boxes.round().astype(int):
            assert frame.image()[box[1] : box[3], box[0] : box[2]].max() > 0


def test_what_is_unsure_moves_along_and_keeps_apart_from_what_is_sure():
    frame, labels = a_bright_square([40, 30, 80, 60])
    both = replace(labels, unsure=labels.boxes)

    for seed in range(10):
        _, moved = one_augmented((frame, both), np.random.default_rng(seed))

        np.testing.assert_array_equal(moved.unsure, moved.boxes)
        assert len(moved) == 1


def test_logits_go_with_the_box_that_they_were_said_of():
    frame, labels = a_bright_square([40, 30, 80, 60])
    too_small = [50, 40, 50.5, 40.5]
    both = replace(labels, boxes=[too_small, labels.boxes[0]], classes=[0, 2], logits=[[1, 2], [3, 4]])

    _, moved = one_augmented((frame, both), np.random.default_rng(0))

    assert moved.classes.tolist() == [2]
    assert moved.logits.tolist() == [[3, 4]]


def test_a_frame_without_boxes_can_be_one_augmented():
    frame = Frame(1, "video", 0, (50, 60), np.zeros((50, 60, 3), np.uint8))

    _, labels = one_augmented((frame, Labels.none()), np.random.default_rng(0))

    assert len(labels) == 0


def test_about_half_of_the_frames_are_mirrored():
    left = [
        bright_part(one_augmented(a_bright_square([15, 30, 40, 60]), np.random.default_rng(seed))[0].image())[0] < 54
        for seed in range(100)
    ]

    assert 35 < sum(left) < 65


def test_the_given_frame_is_not_changed():
    frame, labels = a_bright_square([40, 30, 80, 60])
    before = frame.image().copy()

    one_augmented((frame, labels), np.random.default_rng(1))

    np.testing.assert_array_equal(frame.image(), before)


def test_a_rotated_ellipse_has_a_tighter_box_than_rotated_corners():
    frame = Frame(0, "video", 0, (96, 128), np.zeros((96, 128, 3), np.uint8))
    pair = (frame, Labels([[50, 40, 66, 56]], [0], "pseudo"))
    for seed in range(20):
        (_, corners), (_, ellipse) = (
            augment([pair], np.random.default_rng(seed), rotated)[0] for rotated in ("corners", "ellipse")
        )
        middle = [(labels.boxes[0, :2] + labels.boxes[0, 2:]) / 2 for labels in (corners, ellipse)]
        sides = ellipse.boxes[0, 2:] - ellipse.boxes[0, :2]

        np.testing.assert_allclose(middle[0], middle[1], atol=1e-3)
        # A circle stays a circle, whatever the angle.
        np.testing.assert_allclose(sides, 16, atol=1e-3)
        assert ((corners.boxes[0, 2:] - corners.boxes[0, :2]) > sides - 1e-3).all()
