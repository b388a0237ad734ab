from __future__ import annotations

import pytest

from leocod.readers.frame_names import LONGEST, FrameNames


@pytest.mark.parametrize(
    "name",
    [
        "frame_000005.png",
        "frame_000005.PNG",
        "Frame_000005.jpg",
        "frame_000005",
        "frame_000005.txt",
        "train/frame_000005.xml",
        "2f0a1b3c-frame_000005.png",
        "task 3/job_1.frame_000005.png",
        "a\\b\\frame_000005.png",
        "http://host/data/upload/3/2f-frame_000005.png",
    ],
)
def test_a_name_that_a_tool_has_changed_means_the_same_frame(name):
    frames = FrameNames(["frame_000004.png", "frame_000005.png", "frame_000015.png", "5.png"])

    assert frames.find(name) == [1]


@pytest.mark.parametrize(
    "name", ["", "frame_6.png", "xframe_000005.png", "frame_0000055", "png", "x" * LONGEST + "-5.png"]
)
def test_a_name_of_no_frame_is_of_none(name):
    assert FrameNames(["frame_000005.png", "5.png"]).find(name) == []


def test_the_longest_name_that_fits_is_meant():
    frames = FrameNames(["5.png", "walk_5.png", "a_walk_5.png"])

    assert [frames.find(name) for name in ("b_walk_5", "b-5", "b-a_walk_5")] == [[1], [0], [2]]


def test_folders_tell_frames_of_one_name_apart():
    frames = FrameNames(["a/x/1.png", "b/x/1.png", "b/y/1.png", "b/y/2.png"])

    assert frames.find("images/train/B/x/1.jpg") == [1]
    assert frames.find("y/1.png") == [2]
    assert frames.find("x/1.png") == [0, 1]
    assert frames.find("1.png") == [0, 1, 2]
    assert frames.find("elsewhere/2.png") == [3]


def test_a_folder_that_a_tool_has_made_part_of_the_name_counts_too():
    frames = FrameNames(["walk 0/1.png", "walk 1/1.png"])

    assert [frames.find(name) for name in ("walk_1_1.txt", "1_1.txt", "images/out_walk_0_1.png")] == [[1], [1], [0]]
    assert frames.find("2f0a-1.png") == [0, 1]


def test_folders_that_say_what_is_in_them_do_not_count():
    frames = FrameNames(["train/images/1.png", "valid/images/1.png"])

    assert frames.find("valid/1.txt") == frames.find("valid/labels/1.txt") == [1]


def test_the_ending_decides_last():
    frames = FrameNames(["1.png", "1.jpg"])

    assert frames.find("1.jpg") == [1]
    assert frames.find("1.txt") == [0, 1]
