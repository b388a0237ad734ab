"""Which frame an image labels. How a video is read with its labels: see test_video.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from leocod.readers.frame_sources import FolderFrames
from leocod.readers.labels.base import LabelledImage


@pytest.fixture
def a_folder(tmp_path, a_picture):
    def make(*names):
        for name in names:
            a_picture(tmp_path / name)
        return FolderFrames(tmp_path)

    return make


def an_image(name=None, number=None, count=None):
    return LabelledImage(Path("a.xml"), "image", name, number, count)


def place(frames, image):
    found = frames.find_frame(image)
    return None if found is None else found.number


def test_folders_below_are_videos_in_the_order_of_their_names(a_folder):
    frames = a_folder("b/1.png", "a10/2.png", "a9/10.png", "a9/9.png", ".hidden/1.png")

    names = [str(frames.get_path(number).relative_to(frames.path)) for number in range(len(frames))]
    assert names == ["a9/9.png", "a9/10.png", "a10/2.png", "b/1.png"]
    assert [frames.get_place(number) for number in range(4)] == [("a9", 0), ("a9", 1), ("a10", 0), ("b", 0)]


def test_pictures_right_in_a_folder_are_its_frames_and_those_below_are_not(a_folder):
    assert len(a_folder("1.png", "thumbnails/1.png")) == 1


def test_a_number_is_that_in_the_name_that_cvat_gives_to_frames(a_folder):
    frames = a_folder("frame_000010.PNG", "frame_000000.PNG")

    assert [place(frames, an_image(number=number)) for number in (0, 10, 1)] == [0, 1, None]


def test_else_a_number_is_a_place_among_the_pictures(a_folder):
    assert place(a_folder("a.png", "b.png"), an_image(number=1, count=2)) == 1


@pytest.mark.parametrize("count", [None, 1, 3])
def test_a_place_among_more_or_fewer_pictures_is_not_used(a_folder, count):
    frames = a_folder("a.png", "b.png")

    assert place(frames, an_image(number=1, count=count)) is None
    assert "may not be the same ones" in frames.explain_no_frame(an_image(number=1, count=count))


def test_a_place_is_not_used_where_cvat_sorts_names_in_another_way(a_folder):
    frames = a_folder("9.png", "10.png")

    assert place(frames, an_image(number=1, count=2)) is None
    assert "Export as CVAT for images 1.1" in frames.explain_no_frame(an_image(number=1, count=2))


def test_a_name_that_may_mean_two_frames_means_none(a_folder):
    frames = a_folder("a/1.png", "b/1.png")

    assert place(frames, an_image("1.png")) is None
    assert "'1.png' may mean 2 frames of" in frames.explain_no_frame(an_image("1.png"))
    assert "such as a/1.png and b/1.png. Put the folder" in frames.explain_no_frame(an_image("1.png"))
