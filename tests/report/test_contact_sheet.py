from __future__ import annotations

import numpy as np
import pytest

from leocod.report.contact_sheet import GAP, draw_contact_sheet, pick_class_colour
from leocod.types import Detections, Image, Labels

GREY: Image = np.full((20, 30, 3), 90, np.uint8)


def a_box(number: int = 0) -> Labels:
    return Labels(np.asarray([[5, 6, 15, 16]], np.float32), np.asarray([number]))


def test_frames_stand_in_rows() -> None:
    sheet = draw_contact_sheet([(GREY, Labels.none())] * 5, ["mug"], columns=2, scale=3)

    assert sheet.size == (2 * 90 + GAP, 3 * 60 + 2 * GAP)


def test_fewer_frames_than_columns_leave_no_gap() -> None:
    assert draw_contact_sheet([(GREY, Labels.none())], ["mug"], columns=6, scale=1).size == (30, 20)


def test_a_box_is_drawn_on_its_pixels_in_the_colour_of_its_class() -> None:
    sheet = draw_contact_sheet([(GREY, a_box(1))], ["mug", "bowl"], columns=1, scale=3)

    assert sheet.getpixel((44, 30)) == pick_class_colour(1)
    assert sheet.getpixel((15, 30)) == pick_class_colour(1)
    assert sheet.getpixel((30, 35)) == (90, 90, 90)


def test_detections_show_their_scores_and_labels_have_none() -> None:
    wide: Image = np.full((60, 200, 3), 90, np.uint8)

    def written(marked: Labels | Detections) -> int:
        """The width of the black field behind the name."""
        pixels = np.asarray(draw_contact_sheet([(wide, marked)], ["mug"], columns=1, scale=1))
        return int((pixels == 0).all(axis=2).any(axis=0).sum())

    box, number = np.array([[5, 30, 15, 40]], np.float32), np.array([0])
    sure, label = Detections(box, number, np.array([0.87], np.float32)), Labels(box, number)

    # " 0.87" is as wide as "mug" and more.
    assert written(sure) > 1.5 * written(label)


def test_large_frames_are_made_smaller_and_small_ones_are_enlarged_as_before() -> None:
    large, portrait = np.zeros((1080, 1920, 3), np.uint8), np.zeros((1920, 1080, 3), np.uint8)

    sheet = draw_contact_sheet([(large, Labels.none()), (portrait, Labels.none())], ["mug"], scale=3, longest=384)
    small = draw_contact_sheet([(GREY, Labels.none())], ["mug"], scale=3, longest=384)

    assert sheet.size == (2 * 384 + GAP, 384)
    assert small.size == (90, 60)


def test_boxes_shrink_with_their_frame_even_to_less_than_a_pixel() -> None:
    image = np.full((200, 300, 3), 90, np.uint8)
    labels = Labels(np.asarray([[50, 60, 150, 160], [290, 190, 291, 191]], np.float32), np.asarray([1, 0]))

    sheet = draw_contact_sheet([(image, labels)], ["", ""], longest=30)

    assert sheet.size == (30, 20)
    assert sheet.getpixel((5, 10)) == sheet.getpixel((14, 10)) == pick_class_colour(1)


def test_neighbouring_classes_have_colours_of_their_own() -> None:
    assert len({pick_class_colour(number) for number in range(20)}) == 20


def test_no_frames_give_an_empty_sheet() -> None:
    assert draw_contact_sheet([], ["mug"]).size == (1, 1)


def test_a_sheet_without_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="columns"):
        draw_contact_sheet([(GREY, Labels.none())], ["mug"], columns=0)


def test_names_in_other_scripts_are_drawn_with_their_letters() -> None:
    wide: Image = np.zeros((60, 120, 3), np.uint8)
    names = ["кот", "дом", "ψωμ"]

    drawn = [draw_contact_sheet([(wide, a_box())], [name], columns=1, scale=2).tobytes() for name in names]

    # A font without these letters draws the same empty boxes for all.
    assert len(set(drawn)) == 3


@pytest.mark.parametrize("name", ["two\nlines", "nul\0", "\ud800", "\u202e", "👩\u200d🍳", "$x_y$", "", "x" * 10_000])
def test_any_name_can_be_drawn(name: str) -> None:
    wide: Image = np.zeros((60, 120, 3), np.uint8)

    sheet = draw_contact_sheet([(wide, a_box())], [name], columns=1, scale=1)

    assert sheet.size == (120, 60)
