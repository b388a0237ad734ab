"""Which frame of a video file the name of a picture means, after other tools have had it."""

from __future__ import annotations

import pytest

from leocod.readers.frame_names import LONGEST
from leocod.readers.frame_numbers import FrameNumber, name_frame, parse_name


@pytest.mark.parametrize(
    "name",
    [
        "walk_f000012.jpg",
        "WALK_F000012.PNG",
        "2f0a1b3c-walk_f000012.jpg",
        "/data/upload/3/2f0a1b3c-walk_f000012.jpg",
        "images/train/walk_f000012",
        "walk/f000012.png",
        "walk/images/train/2f0a1b3c-f000012.png",
        "task_3_walk_f000012.txt",
    ],
)
def test_a_name_as_it_was_written_here_says_video_and_frame(name):
    assert parse_name(name, "walk") == FrameNumber(12, names_video=True)


@pytest.mark.parametrize(
    ("name", "is_certain"),
    [
        ("frame_000012.PNG", True),
        ("train/frame_000012.txt", False),
        ("frame_000012.png", False),
        ("2f0a1b3c-frame_000012.png", False),
        ("any folder/job_1.frame_000012.jpg", False),
    ],
)
def test_a_name_as_cvat_writes_it_says_the_frame_only(name, is_certain):
    assert parse_name(name, "walk") == FrameNumber(12, names_video=False, is_certain=is_certain)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "f000012.jpg",
        "garage_f000012.jpg",
        "garage_frame_000012.PNG",
        "my_walk_f000012.jpg",
        "walk_2_f000012.jpg",
        "walk_f12.jpg",
        "walk_000012.jpg",
        "frame_000012_1.PNG",
        "frame_0012.png",
        "x" * LONGEST + "_f000012",
    ],
)
def test_a_name_of_another_video_or_without_a_sure_number_says_nothing(name):
    assert parse_name(name, "walk") is None


@pytest.mark.parametrize("video", ["walk", "My walk (2)", "küche-1.final", "20261117_101500", "frame_000003"])
def test_a_frame_is_found_by_the_name_that_it_gets(video):
    name = name_frame(video, 1234567)

    assert parse_name(f"{name}.jpg", video) == parse_name(f"9a0b1c2d-{name}.jpg", video) == FrameNumber(1234567, True)
    assert parse_name(name, "another") is None
