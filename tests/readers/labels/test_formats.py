from __future__ import annotations

import pytest

from leocod.errors import InvalidData
from leocod.readers.labels.formats import find_format, read_labels


@pytest.mark.parametrize(
    ("files", "name", "format"),
    [
        ({"a.json": " {}"}, "a.json", "COCO"),
        ({"a.txt": "{}"}, "a.txt", "COCO"),
        ({"result.json": "{}", "images/a.png": ""}, "", "COCO"),
        ({"a.json": "\n[]"}, "a.json", "Label Studio"),
        ({"tasks.json": "[]", "label_config.xml": "<View/>"}, "", "Label Studio"),
        ({"result.json": "{}", "more.json": "[]"}, "", "COCO"),
        ({"a.xml": "<?xml version='1.0'?><annotations/>"}, "a.xml", "CVAT"),
        ({"annotations.xml": "<annotations/>", "labels.json": "[]"}, "", "CVAT"),
        ({"Annotations/a.xml": "<annotation/>"}, "", "Pascal VOC"),
        ({"a.xml": "<annotation/>"}, "", "Pascal VOC"),
        ({"classes.txt": "mug", "notes.json": "{}"}, "", "YOLO"),
        ({"data.yaml": "", "labels/a.txt": ""}, "", "YOLO"),
    ],
)
def test_a_format_is_known_by_what_is_there(tmp_path, files, name, format):
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)

    found = find_format(tmp_path / name)

    assert format == found.NAME


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.zip", b"PK\3\4", "is an archive. Unpack it"),
        ("a.xml", b"<annotation/>", "the labels of one picture.*Name its folder"),
        ("a.txt", b"0 0.5 0.5 1 1", "no labels in a known format. Known: YOLO, CVAT, Pascal VOC, Label Studio, COCO"),
        ("a.json", b"", "the file is empty"),
        ("a.xml", b"x", "syntax error"),
    ],
)
def test_what_is_none_of_them_is_refused_with_the_cure(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)

    with pytest.raises(InvalidData, match=said):
        read_labels(tmp_path / name)


def test_nothing_and_an_empty_folder_are_refused(tmp_path):
    with pytest.raises(InvalidData, match="none: no such file or folder"):
        read_labels(tmp_path / "none")
    with pytest.raises(InvalidData, match="no labels in a known format"):
        read_labels(tmp_path)


def test_two_classes_of_one_name_are_refused(tmp_path):
    (tmp_path / "classes.txt").write_text("mug\nmug\n")

    with pytest.raises(InvalidData, match="two classes are called 'mug'"):
        read_labels(tmp_path)


def test_what_was_left_out_is_one_problem_that_stops_nobody(tmp_path, met):
    (tmp_path / "classes.txt").write_text("mug\n")
    (tmp_path / "a.txt").write_text("0 0.1 0.1 0.2 0.1 0.2 0.2\n" * 3)

    read_labels(tmp_path, met.append)

    assert [(one.kind, one.breaks, one.what[:8]) for one in met] == [("shape", False, "3 shapes")]
