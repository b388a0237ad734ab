"""YOLO's text files, in the folders that Ultralytics, Roboflow, Darknet (CVAT), Label Studio and LabelImg have."""

from __future__ import annotations

import pytest

from leocod.errors import InvalidData
from leocod.readers.labels import yolo
from leocod.readers.recording import raise_problem

LISTS = {
    "data.yaml": "train: images/train\nval: images/val\nnames:\n  0: mug\n  1: book\n",
    "dataset.yaml": "nc: 2\nnames: [mug, book]\n",
    "classes.txt": "mug\nbook\n",
    "obj.names": "mug \r\nbook\r\n\r\n",
}


@pytest.fixture
def a_set(tmp_path):
    def write(files):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return tmp_path

    return write


@pytest.mark.parametrize("name", LISTS)
def test_classes_are_read_from_each_kind_of_list(a_set, name):
    root = a_set({name: LISTS[name], "labels/a.txt": ""})

    assert yolo.recognise(root)
    assert yolo.read(root, raise_problem).classes == {0: "mug", 1: "book"}


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("labels/train/walk/a.txt", "train/walk/a.txt"),
        ("train/labels/a.txt", "train/a.txt"),
        ("obj_train_data/walk/a.txt", "walk/a.txt"),
        ("a.txt", "a.txt"),
    ],
)
def test_label_files_are_found_in_each_kind_of_folder(a_set, told, file, name):
    others = {"train.txt": "x\n", "README.roboflow.txt": "x", "notes.json": "{}", "labels.cache": "x"}
    root = a_set({"classes.txt": "mug\nbook\n", file: "1 0.5 0.5 0.25 0.5\n\n0 0.1 0.1 0.2 0.2\n", **others})

    found = yolo.read(root, raise_problem)

    assert told(found) == [(name, [("book", 0.375, 0.25, 0.25, 0.5), ("mug", 0, 0, 0.2, 0.2)])]
    assert [thing.record for thing in found.images[0].objects] == ["line 1", "line 3"]


def test_an_empty_file_says_that_nothing_is_there(a_set, told):
    assert told(yolo.read(a_set({"classes.txt": "mug", "labels/a.txt": ""}), raise_problem)) == [("a.txt", [])]


def test_polygons_are_counted_and_left_out(a_set, told):
    lines = "0 0.1 0.1 0.2 0.1 0.2 0.2\n0 0.5 0.5 0.2 0.2\n0 0.1 0.1 0.2 0.1 0.2 0.2 0.1 0.2\n"

    found = yolo.read(a_set({"classes.txt": "mug", "labels/a.txt": lines}), raise_problem)

    assert told(found) == [("a.txt", [("mug", 0.4, 0.4, 0.2, 0.2)])]
    assert found.remarks == ["2 shapes left out, because only upright boxes are read: 2 polygons."]


@pytest.mark.parametrize(
    "line", ["0 0.5 0.5 0.2", "0 0.5 0.5 0.2 x", "0 0.5 0.5 0.2 nan", "mug 0 0 1 1", "0 0 0 1 1 0.9"]
)
def test_a_line_that_is_no_box_is_noted(a_set, line):
    (image,) = yolo.read(a_set({"classes.txt": "mug", "labels/a.txt": f"\n{line}\n"}), raise_problem).images

    assert [(note.part, note.kind) for note in image.notes] == [("line 2", "box")]


def test_a_file_that_is_no_text_and_a_link_to_elsewhere_are_noted(a_set):
    root = a_set({"classes.txt": "mug", "labels/a.txt": ""})
    (root / "labels" / "a.txt").write_bytes(b"\xff\xfe")
    (root / "labels" / "b.txt").symlink_to("/etc/hostname")

    found = yolo.read(root, raise_problem)

    assert [[note.kind for note in image.notes] for image in found.images] == [["file"], ["path"]]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("data.yaml", "names: 3", "its names are 3"),
        ("data.yaml", "[1]", "its names are None"),
        ("data.yaml", "names: {a: b}", "should be a list of class names"),
        ("data.yaml", "names: [", "cannot be read"),
        ("data.yaml", "names: &a [*a]", "cannot be read"),
        ("classes.txt", "mug\n\nbook\n", "line 2: it is empty"),
        ("data.yaml", "names: [mug, '']\n", "class 1 under 'names': its name is empty"),
    ],
)
def test_a_list_that_names_no_classes_is_refused(a_set, name, text, said):
    with pytest.raises(InvalidData, match=rf"{name}.*{said}"):
        yolo.read(a_set({name: text}), raise_problem)
