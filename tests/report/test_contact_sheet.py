from __future__ import annotations

import numpy as np
import pytest

from leocod.report.contact_sheet import GAP, class_colour, contact_sheet
from leocod.types import Image, Labels

GREY: Image = np.full((20, 30, 3), 90, np.uint8)


def a_box(number: int = 0) -> Labels:
    return Labels(np.asarray([[5, 6, 15, 16]], np.float32), np.asarray([number]))


def test_frames_stand_in_rows() -> None:
    sheet = contact_sheet([(GREY, Labels.none())] * 5, ["mug"], columns=2, scale=3)

    assert sheet.size == (2 * 90 + GAP, 3 * 60 + 2 * GAP)


def test_fewer_frames_than_columns_leave_no_gap() -> None:
    assert contact_sheet([(GREY, Labels.none())], ["mug"], columns=6, scale=1).size == (30, 20)


def test_a_box_is_drawn_on_its_pixels_in_the_colour_of_its_class() -> None:
    sheet = contact_sheet([(GREY, a_box(1))], ["mug", "bowl"], columns=1, scale=3)

    assert sheet.getpixel((44, 30)) == class_colour(1)
    assert sheet.getpixel((15, 30)) == class_colour(1)
    assert sheet.getpixel((30, 35)) == (90, 90, 90)


def test_neighbouring_classes_have_colours_of_their_own() -> None:
    assert len({class_colour(number) for number in range(20)}) == 20


def test_no_frames_give_an_empty_sheet() -> None:
    assert contact_sheet([], ["mug"]).size == (1, 1)


def test_a_sheet_without_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="columns"):
        contact_sheet([(GREY, Labels.none())], ["mug"], columns=0)
