"""Every image gets a name of its own that leads nowhere else. What the layouts hold: see test_convert.py."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as PillowImage

from leocod.data.writers import LONGEST_NAME, ImageFolder, sanitize
from leocod.errors import InvalidData
from leocod.files.images import Upright
from leocod.types import Frame

PIXELS = np.random.default_rng(0).integers(0, 255, (12, 20, 3), dtype=np.uint8)
DRAWN = Frame(0, "walk 1", 7, (12, 20), PIXELS)


def test_a_name_is_that_of_the_file_or_the_number_in_its_video(tmp_path: Path) -> None:
    folder = ImageFolder(tmp_path, link=False)

    assert folder.choose_name(DRAWN) == "walk_1/000007"
    assert folder.choose_name(replace(DRAWN, content=tmp_path / "a.jpg")) == "walk_1/a"
    assert folder.choose_name(replace(DRAWN, content=Upright(tmp_path / "b.jpg"))) == "walk_1/b"


def test_names_that_differ_in_capitals_only_are_the_same_name(tmp_path: Path) -> None:
    folder = ImageFolder(tmp_path, link=False)

    assert [folder.choose_name(replace(DRAWN, video=video)) for video in ("a", "A", "a")] == [
        *("a/000007", "A/000007-2", "a/000007-3")
    ]


@pytest.mark.parametrize("name", ["", "..", "/etc/passwd", "a/../../b", "nul\0", "\ud800", "two\nlines", "v" * 999])
def test_a_sanitized_name_is_one_plain_part_of_a_path(name: str) -> None:
    plain = sanitize(name)

    assert plain == Path(plain).name
    assert plain.isascii()
    assert plain.isprintable()
    assert 0 < len(plain) <= LONGEST_NAME


def test_pixels_become_a_png_and_a_file_keeps_its_bytes(tmp_path: Path) -> None:
    source = tmp_path / "a.jpg"
    PillowImage.fromarray(PIXELS).save(source)
    folder = ImageFolder(tmp_path / "out", link=False)

    drawn, copied = folder.write(DRAWN, "x/1"), folder.write(replace(DRAWN, content=source), "x/2")

    assert (drawn, copied) == ("x/1.png", "x/2.jpg")
    assert np.array_equal(np.asarray(PillowImage.open(tmp_path / "out" / drawn)), PIXELS)
    assert (tmp_path / "out" / copied).read_bytes() == source.read_bytes()


def test_a_link_that_the_disk_refuses_is_told_with_the_cure(tmp_path: Path) -> None:
    folder = ImageFolder(tmp_path / "out", link=True)

    with pytest.raises(InvalidData, match=r"none\.jpg cannot be hard-linked .*Use --copy\."):
        folder.write(replace(DRAWN, content=tmp_path / "none.jpg"), "x/1")
