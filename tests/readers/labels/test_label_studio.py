"""Label Studio's JSON, in the form in which Label Studio 1 exports it."""

from __future__ import annotations

import pytest

from leocod.errors import InvalidData
from leocod.readers.labels import label_studio
from leocod.readers.recording import raise_problem


def a_result(label="mug", **changes):
    value = {"x": 25.0, "y": 50, "width": 12.5, "height": 10, "rotation": 0, "rectanglelabels": [label]}
    return {
        "original_width": 80,
        "original_height": 60,
        "image_rotation": 0,
        "value": {**value, **changes},
        "id": "Dx_aB91ISN",
        "from_name": "label",
        "to_name": "image",
        "type": "rectanglelabels",
        "origin": "manual",
    }


def a_task(*annotations, image="/data/upload/3/2f0a1b3c-frame_000005.png"):
    return {
        "id": 1,
        "annotations": [
            {"id": number, "completed_by": 1, "was_cancelled": False, "ground_truth": False, "lead_time": 4.2, **one}
            for number, one in enumerate(annotations)
        ],
        "file_upload": "2f0a1b3c-frame_000005.png",
        "drafts": [],
        "predictions": [{"result": [a_result("wrong")]}],
        "data": {"image": image},
        "meta": {},
        "project": 3,
    }


@pytest.fixture
def read(tmp_path, a_json):
    return lambda *tasks: label_studio.read(a_json(tmp_path / "export.json", list(tasks)), raise_problem)


def test_boxes_in_percent_are_read_as_shares(read, told, tmp_path):
    found = read(a_task({"result": [a_result(), a_result("book", x=0)]}), a_task({"result": []}), a_task())

    name = "/data/upload/3/2f0a1b3c-frame_000005.png"
    assert label_studio.recognise(tmp_path / "export.json")
    assert list(found.classes) == ["book", "mug"]
    assert told(found) == [
        (name, [("mug", 0.25, 0.5, 0.125, 0.1), ("book", 0, 0.5, 0.125, 0.1)]),
        (name, []),
        (name, None),
    ]
    assert found.images[0].size == (60, 80)
    assert {thing.unit for thing in found.images[0].objects} == {"share"}


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ({"image": "/data/local-files/?d=walk/a%20b.png"}, "walk/a b.png"),
        ({"image": "s3://bucket/walk/a.png?version=2"}, "s3://bucket/walk/a.png"),
        ({"text": "a kitchen", "photo": "http://host/a.JPG"}, "http://host/a.JPG"),
        ({"text": "a kitchen", "image": 3}, None),
    ],
)
def test_the_picture_of_a_task_is_found_in_its_address(read, data, name):
    (image,) = read({**a_task(), "data": data}).images

    assert image.name == name


def test_a_task_that_was_skipped_is_not_labelled_and_the_ground_truth_counts(read, told):
    skipped = a_task({"was_cancelled": True, "result": [a_result()]})
    true = a_task({"result": [a_result("true")], "ground_truth": True}, {"result": [a_result("later")]})
    last = a_task({"result": [a_result("first")]}, {"result": [a_result("last")]})

    found = read(skipped, true, last)

    assert [objects and objects[0][0] for _, objects in told(found)] == [None, "true", "last"]
    assert found.remarks == [
        "2 tasks labelled more than once: the ground truth is used, or else the last result.",
    ]


def test_what_is_no_upright_box_is_counted_and_left_out(read, told):
    turned = {**a_result(), "image_rotation": 90}
    polygon = {**a_result(), "type": "polygonlabels"}

    found = read(a_task({"result": [a_result(rotation=3), turned, polygon, a_result()]}))

    assert len(told(found)[0][1]) == 1
    assert found.remarks == [
        "3 shapes left out, because only upright boxes are read: 2 rotated boxes, 1 polygonlabels.",
    ]


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"x": None}, "box"),
        ({"width": float("nan")}, "box"),
        ({"height": "10"}, "box"),
        ({"rectanglelabels": []}, "class"),
        ({"rectanglelabels": ["a", "b"]}, "class"),
        ({"rectanglelabels": [3]}, "class"),
    ],
)
def test_a_result_that_is_no_object_is_noted(read, changes, kind):
    (image,) = read(a_task({"result": [a_result(**changes)]})).images

    assert [(note.part, note.kind) for note in image.notes] == [("result 1", kind)]


def test_results_that_are_no_list_are_noted(read):
    (image,) = read(a_task({"result": None})).images

    assert [note.kind for note in image.notes] == ["file"]


@pytest.mark.parametrize("task", [3, {}, {"data": {}}, {"id": 1, "image": "a.png", "label": []}])
def test_what_is_no_task_is_refused_with_the_cure(read, task):
    with pytest.raises(InvalidData, match=r"export\.json, number 1 of the list: .*not as JSON-MIN"):
        read(a_task(), task)
