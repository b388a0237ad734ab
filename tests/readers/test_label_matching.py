"""Whose labels these are. How names are compared: see test_frame_names.py, test_frame_numbers.py, test_video.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from leocod.readers.frame_sources import FolderFrames
from leocod.readers.label_matching import Place, match_labels
from leocod.readers.labels.base import LabelledImage, LabelSet


@pytest.fixture
def folders(tmp_path, a_picture):
    for name in ("walk/1.png", "walk/2.png", "garage/1.png", "garage/3.png"):
        a_picture(tmp_path / name)
    return [FolderFrames(tmp_path / name) for name in ("walk", "garage")]


def a_set(*names, objects=()):
    images = [LabelledImage(Path("set.xml"), f"image {name}", name, objects=objects) for name in names]
    return LabelSet(Path("set.xml"), {0: "mug"}, "in it", images)


def test_a_name_in_one_folder_only_or_with_its_folder_is_found(folders, met):
    matches = match_labels(a_set("2.png", "garage/1.png", "walk/train/1.png", "3.png"), folders, met.append)

    assert set(matches) == {Place(0, 1), Place(1, 0), Place(0, 0), Place(1, 1)}
    assert met == []


def test_names_that_mean_no_frame_or_two_are_counted_in_one_message(folders, met):
    names = ["1.png", *(f"{number}.png" for number in range(2, 11))]

    matches = match_labels(a_set(*names), folders, met.append)

    assert set(matches) == {Place(0, 1), Place(1, 1)}
    (problem,) = met
    assert (problem.kind, problem.breaks, problem.fatal) == ("stray annotation", False, False)
    assert problem.what.startswith("2 of 10 labelled images were found in")
    assert "8 were not: 1.png, 4.png and 6 more." in problem.what
    assert "The first one: '1.png' may be a frame of several of walk, garage." in problem.what


def test_labels_of_another_video_stop_every_run(folders, met):
    assert match_labels(a_set("8.png", "9.png"), folders, met.append) == {}
    assert [(problem.breaks, problem.fatal) for problem in met] == [(True, True)]


def test_images_that_nobody_has_labelled_are_not_missed(folders, met):
    match_labels(a_set("8.png", "9.png", objects=None), folders, met.append)

    assert met == []
