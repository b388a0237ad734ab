"""What a name means, as the user says."""

from __future__ import annotations

import pytest

from leocod.errors import InvalidConfig, InvalidData
from leocod.readers.frame_numbers import FrameNumber
from leocod.readers.frame_tables import read_frame_names


@pytest.mark.parametrize(
    ("pattern", "name", "frame"),
    [
        ("shot-{number}", "shot-12.jpg", FrameNumber(12, False)),
        ("shot-{number}.jpg", "any/9a0b1c2d-SHOT-0012.PNG", FrameNumber(12, False)),
        ("shot-{number_from_1}", "shot-0012.jpg", FrameNumber(11, False)),
        ("*_{number}", "a.b(c)_12.jpg", FrameNumber(12, False)),
        ("{video}-{number}", "my_walk-12.jpg", FrameNumber(12, True)),
        ("{video}/{number}", "My Walk/12.jpg", FrameNumber(12, True)),
        ("{video}-{number}", "garage-12.jpg", None),
        ("shot-{number}", "xshot-12.jpg", None),
        ("shot-{number}", "shot-12-b.jpg", None),
    ],
)
def test_a_pattern_says_which_part_of_a_name_is_the_number(pattern, name, frame):
    assert read_frame_names(pattern).find(name, "my walk") == frame


@pytest.mark.parametrize("pattern", ["", "shot", "{number}{number_from_1}", "{video}{video}{number}", "{frame}"])
def test_a_pattern_needs_one_number(pattern):
    with pytest.raises(InvalidConfig, match="a pattern with one {number}"):
        read_frame_names(pattern)


def test_a_table_says_the_frame_of_each_name(tmp_path):
    table = tmp_path / "names.csv"
    table.write_text('Name, frame,video\n"a, b.jpg",12,walk.mp4\nc.jpg,3,\n\nc2.jpg,4,garage\n')

    names = read_frame_names(str(table))

    assert names.find("9a0b1c2d-a, b.png", "walk") == FrameNumber(12, True)
    assert names.find("task/c.txt", "walk") == FrameNumber(3, False)
    assert names.find("c2.jpg", "garage") == FrameNumber(4, True)
    assert [names.find(name, "walk") for name in ("c2.jpg", "d.jpg")] == [None, None]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        ("file,number\na,1\n", "its first line is 'file,number'"),
        ("name,frame\na.jpg,1\nb.jpg,-1\n", "line 3: it is 'b.jpg,-1'"),
        ("name,frame\n,1\n", "line 2"),
        ("name,frame\na.jpg\n", "line 2"),
        ("name,frame\n" + "x" * 200_000 + ",1\n", "cannot be read"),
    ],
)
def test_a_table_that_cannot_be_followed_is_told(tmp_path, text, said):
    (tmp_path / "names.csv").write_text(text)

    with pytest.raises(InvalidData, match=rf"names\.csv.*{said}"):
        read_frame_names(str(tmp_path / "names.csv"))


def test_a_table_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InvalidData, match=r"names\.csv"):
        read_frame_names(str(tmp_path / "names.csv"))
