"""Image files: what is in them, and every kind of damage in one line that names the file."""

from __future__ import annotations

import signal
import struct
import zlib

import numpy as np
import pytest
from PIL import Image, ImageOps

from leocod.errors import Interrupted, InvalidFrame
from leocod.files.images import Upright, read_orientation, read_pixels, read_size
from leocod.text import one_line


@pytest.fixture
def picture(tmp_path):
    """A noisy picture of 24 x 40 pixels, so that its file is long enough to be cut."""
    pixels = np.random.default_rng(0).integers(0, 255, (24, 40, 3), dtype=np.uint8)

    def write(name):
        Image.fromarray(pixels).save(tmp_path / name)
        return tmp_path / name, pixels

    return write


def test_size_and_pixels_come_from_the_file(picture):
    path, pixels = picture("one.png")

    assert read_size(path) == (24, 40)
    np.testing.assert_array_equal(read_pixels(path), pixels)


def test_grey_and_transparent_pictures_get_three_colours(tmp_path):
    Image.new("L", (3, 2), 7).save(tmp_path / "grey.png")
    Image.new("RGBA", (3, 2), (7, 8, 9, 0)).save(tmp_path / "clear.png")

    assert read_pixels(tmp_path / "grey.png").tolist() == [[[7, 7, 7]] * 3] * 2
    assert read_pixels(tmp_path / "clear.png").tolist() == [[[7, 8, 9]] * 3] * 2


@pytest.mark.parametrize("name", ["cut.jpg", "cut.png"])
def test_a_cut_picture_has_a_size_but_no_pixels(picture, name):
    path, _ = picture(name)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    assert read_size(path) == (24, 40)
    with pytest.raises(InvalidFrame, match=rf"{name} is not a readable image .*Replace the file"):
        read_pixels(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"not a picture at all", "unknown format"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n", "unknown"),
    ],
)
def test_a_file_that_is_no_picture_is_told(tmp_path, content, said):
    (tmp_path / "odd.jpg").write_bytes(content)

    with pytest.raises(InvalidFrame, match=rf"odd\.jpg.*{said}"):
        read_pixels(tmp_path / "odd.jpg")


def test_a_missing_file_and_a_folder_are_told(tmp_path):
    with pytest.raises(InvalidFrame, match=r"none\.jpg: no such file"):
        read_size(tmp_path / "none.jpg")
    with pytest.raises(InvalidFrame, match="not a file"):
        read_size(tmp_path)


@pytest.mark.parametrize("side", [9_000, 12_000, 20_000])
def test_a_huge_picture_is_refused_from_its_header(tmp_path, side):
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    (tmp_path / "huge.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk + struct.pack(">I", 0) + b"IDAT" + b"\0\0\0\0")

    for read in (read_size, read_pixels):
        with pytest.raises(InvalidFrame, match=r"huge\.png has more than 64 million pixels"):
            read(tmp_path / "huge.png")


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("name", ["a.png", "a.tiff", "a.webp"])
def test_a_picture_can_be_turned_as_it_notes(tmp_path, picture, orientation, name):
    _, pixels = picture("plain.png")
    note = Image.Exif()
    note[0x0112] = orientation
    Image.fromarray(pixels).save(tmp_path / name, exif=note, lossless=True)
    with Image.open(tmp_path / name) as file:
        expected = np.asarray(ImageOps.exif_transpose(file).convert("RGB"))

    upright = read_pixels(tmp_path / name, upright=True)

    np.testing.assert_array_equal(upright, expected)
    np.testing.assert_array_equal(Upright(tmp_path / name).image(), expected)
    assert read_size(tmp_path / name, upright=True) == upright.shape[:2]
    assert read_size(tmp_path / name) == read_pixels(tmp_path / name).shape[:2]
    # Pillow turns a TIFF by itself.
    assert read_orientation(tmp_path / name) == (1 if name == "a.tiff" else orientation)


@pytest.mark.parametrize("noted", [0, 9, 77])
def test_a_note_that_makes_no_sense_is_none(tmp_path, noted):
    note = Image.Exif()
    note[0x0112] = noted
    Image.new("RGB", (3, 2)).save(tmp_path / "a.jpg", exif=note)

    assert read_orientation(tmp_path / "a.jpg") == 1


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_a_name_that_no_file_can_have_is_told(tmp_path, name):
    with pytest.raises(InvalidFrame, match="no file can be called that") as told:
        read_size(tmp_path / name)
    assert str(told.value).isprintable()


def test_an_odd_name_is_told_in_one_line():
    assert one_line("a\nb\x1b\udcff é [red].jpg") == r"a\nb\x1b\udcff é [red].jpg"


def test_a_long_text_is_cut_when_it_is_asked_for():
    assert one_line("x" * 100, 10) == "xxxxxxx..."
    assert one_line("x" * 10, 10) == "x" * 10


def test_a_wish_to_stop_is_not_damage(picture, monkeypatch):
    path, _ = picture("one.jpg")

    def asked(*_):
        raise Interrupted("Asked to stop by SIGTERM.", signal.SIGTERM)

    monkeypatch.setattr(Image.Image, "getexif", asked)
    monkeypatch.setattr(Image.Image, "convert", asked)

    for look in (read_orientation, read_pixels):
        with pytest.raises(Interrupted):
            look(path)
