"""The layout of a data set is known by its files. That all layouts are found: see test_check.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from leocod.data.layouts import detect_layout, find_pictures, list_coco_files
from leocod.errors import InvalidData


def test_a_file_is_coco_or_a_video_by_its_ending(tmp_path: Path) -> None:
    for name, layout in {"a.JSON": "coco", "a.mp4": "video", "a": "video"}.items():
        (tmp_path / name).touch()
        assert detect_layout(tmp_path / name) == layout


@pytest.mark.parametrize(
    ("files", "name", "layout"),
    [
        ({"a.xml": "<annotations/>"}, "a.xml", "cvat"),
        ({"a.json": "[]"}, "a.json", "label-studio"),
        ({"a.json": "{}"}, "a.json", "coco"),
        ({"annotations.xml": "<annotations/>", "labels.json": "[]", "images/a.png": ""}, "", "cvat"),
        ({"tasks.json": "[]", "label_config.xml": "<View/>"}, "", "label-studio"),
        ({"classes.txt": "mug", "notes.json": "{}", "labels/a.txt": ""}, "", "yolo"),
        ({"data.yaml": "names: [mug]", "images/train/a.png": ""}, "", "yolo"),
    ],
)
def test_labels_of_other_tools_are_known_by_what_is_there(
    tmp_path: Path, files: dict[str, str], name: str, layout: str
) -> None:
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    assert detect_layout(tmp_path / name) == layout


def test_pictures_lie_in_images_or_around_the_labels(tmp_path: Path) -> None:
    (tmp_path / "a.xml").touch()

    assert find_pictures(tmp_path) == tmp_path
    with pytest.raises(InvalidData, match=r"no pictures beside it.*leocod data check FRAMES --labels a\.xml"):
        find_pictures(tmp_path / "a.xml")
    (tmp_path / "a.png").touch()
    assert find_pictures(tmp_path / "a.xml") == tmp_path
    (tmp_path / "images").mkdir()
    assert find_pictures(tmp_path) == find_pictures(tmp_path / "a.xml") == tmp_path / "images"


def test_files_of_chosen_labels_are_no_coco_files(tmp_path: Path) -> None:
    for name in ("labels_4.json", "labels_x.json", "a.json", "a.txt"):
        (tmp_path / name).touch()

    assert [file.name for file in list_coco_files(tmp_path)] == ["a.json", "labels_x.json"]


def test_what_is_neither_file_nor_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match="not a file, nor a folder"):
        detect_layout(tmp_path / "none")
