"""The layout of a data set is known by its files. That all layouts are found: see test_check.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from leocod.data.layouts import detect_layout, list_coco_files
from leocod.errors import InvalidData


def test_a_file_is_coco_or_a_video_by_its_ending(tmp_path: Path) -> None:
    for name, layout in {"a.JSON": "coco", "a.mp4": "video", "a": "video"}.items():
        (tmp_path / name).touch()
        assert detect_layout(tmp_path / name) == layout


def test_files_of_chosen_labels_are_no_coco_files(tmp_path: Path) -> None:
    for name in ("labels_4.json", "labels_x.json", "a.json", "a.txt"):
        (tmp_path / name).touch()

    assert [file.name for file in list_coco_files(tmp_path)] == ["a.json", "labels_x.json"]


def test_what_is_neither_file_nor_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match="not a file, nor a folder"):
        detect_layout(tmp_path / "none")
