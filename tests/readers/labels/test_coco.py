from __future__ import annotations

import pytest

from leocod.errors import InvalidData
from leocod.readers.labels import coco
from leocod.readers.recording import raise_problem

CONTENT = {
    "categories": [{"id": 3, "name": "mug"}, {"id": 1, "name": "book"}],
    "images": [
        {"id": 1, "file_name": "a.png", "height": 60, "width": 80},
        {"id": 2, "file_name": "b.png", "frame_id": 7},
        {"id": 3, "file_name": None, "labelled": False},
    ],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 3, "bbox": [1, 2, 3, 4], "track_id": 5},
        {"id": 2, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "iscrowd": 1},
    ],
}


def test_images_are_read_with_their_numbers_sizes_and_things(tmp_path, a_json, told):
    file = a_json(tmp_path / "a.json", CONTENT)

    found = coco.read(file, raise_problem)

    assert coco.recognise(file)
    assert list(found.classes.values()) == ["book", "mug"]
    assert told(found) == [("a.png", [("mug", 1, 2, 3, 4)]), ("b.png", []), ("", None)]
    first, second, _ = found.images
    assert (first.size, second.number) == ((60, 80), 7)
    assert first.objects[0].find_instance("walk") == ("walk", 5)
    assert [(note.part, note.kind, note.breaks) for note in first.notes] == [("annotation 2", "crowd", False)]


def test_a_folder_with_one_such_file_is_read(tmp_path, a_json, told):
    a_json(tmp_path / "annotations" / "instances_default.json", CONTENT)

    assert coco.recognise(tmp_path)
    assert len(told(coco.read(tmp_path, raise_problem))) == 3


def test_images_of_one_id_break_their_frames(tmp_path, a_json):
    images = [{"id": 1, "file_name": "a.png"}, {"id": 1, "file_name": "b.png"}]

    found = coco.read(a_json(tmp_path / "a.json", {**CONTENT, "images": images}), lambda problem: None)

    assert [[note.kind for note in image.notes] for image in found.images] == [["duplicate id"], ["duplicate id"]]


def test_a_stray_annotation_is_told(tmp_path, a_json):
    content = {**CONTENT, "annotations": [{"id": 1, "image_id": 9}]}

    with pytest.raises(InvalidData, match=r"a\.json, annotation 1: there is no image 9"):
        coco.read(a_json(tmp_path / "a.json", content), raise_problem)
