"""How the memory stores pixels."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from leocod.errors import InvalidConfig, InvalidFrame
from leocod.memory import encoding
from leocod.memory.encoding import JPEG, EncodedPicture, Raw, count_bytes, encode_frame, find_encoding
from leocod.types import Frame


@pytest.fixture
def picture():
    """Something smooth, as photographs are."""
    y, x = np.mgrid[0:48, 0:64]
    return np.stack([4 * x, 5 * y, 2 * (x + y)], axis=-1).astype(np.uint8)


def test_raw_pixels_are_the_same_and_the_memorys_own(picture):
    stored = Raw().encode(picture)

    np.testing.assert_array_equal(stored, picture)
    assert not np.shares_memory(stored, picture)


def test_a_jpeg_is_much_smaller_and_close_to_the_picture(picture):
    stored = JPEG(90).encode(picture)

    assert len(stored.data) < picture.nbytes / 5
    assert np.abs(stored.image().astype(int) - picture).mean() < 2
    assert stored.image().shape == picture.shape


def test_decoding_twice_gives_the_same_pixels(picture):
    stored = JPEG(90).encode(picture)

    np.testing.assert_array_equal(stored.image(), stored.image())
    assert JPEG(90).encode(picture) == stored


def test_colours_are_not_subsampled(picture):
    with Image.open(io.BytesIO(JPEG(90).encode(picture).data)) as file:
        assert {(horizontal, vertical) for _, horizontal, vertical, _ in file.layer} == {(1, 1)}


def test_a_lower_quality_takes_fewer_bytes(picture):
    assert len(JPEG(30).encode(picture).data) < len(JPEG(90).encode(picture).data)


def test_bytes_are_those_that_are_stored(a_frame):
    frame, _ = a_frame(1)

    assert count_bytes(encode_frame(frame, Raw())) == 48 * 64 * 3
    stored = encode_frame(frame, JPEG())
    assert count_bytes(stored) == len(stored.content.data)
    assert (stored.id, stored.video, stored.index, stored.size) == (frame.id, frame.video, frame.index, frame.size)


def test_the_options_names_lead_to_encodings():
    assert isinstance(find_encoding("raw", 90), Raw)
    assert find_encoding("jpeg", 70) == JPEG(70)


def test_a_frame_that_no_jpeg_can_hold_is_refused_with_the_cure():
    with pytest.raises(InvalidConfig, match="1 x 65501 pixels cannot be a JPEG.*Set strategy.memory_encoding: raw"):
        JPEG().encode(np.zeros((1, 65501, 3), np.uint8))


def test_the_largest_jpeg_is_written():
    assert JPEG().encode(np.zeros((1, 65500, 3), np.uint8)).image().shape == (1, 65500, 3)


@pytest.mark.parametrize("data", [b"", b"no picture", b"\xff\xd8\xff\xe0 cut off"])
def test_damaged_bytes_are_one_line(data):
    with pytest.raises(InvalidFrame, match="A remembered frame is not a readable JPEG"):
        EncodedPicture(data).image()


def test_a_picture_larger_than_any_that_is_read_is_not_decoded(picture, monkeypatch):
    monkeypatch.setattr(encoding, "LARGEST", 100)

    with pytest.raises(InvalidFrame, match="more than 100 pixels"):
        JPEG().encode(picture).image()


def test_a_jpeg_of_another_size_than_its_frame_is_refused(picture):
    frame = Frame(1, "video", 0, (10, 10), JPEG().encode(picture))

    with pytest.raises(InvalidFrame, match="expected 10 x 10 x 3"):
        frame.image()
