"""EgoObjects as released: frames by video in the order of the file, and only objects that have a category."""

from __future__ import annotations

import json

import pytest

from leocod.errors import InvalidData
from leocod.readers.egoobjects import read_egoobjects


def a_part(first, names):
    """Two videos whose images come in turns; the third image is portrait, the last one is empty."""
    images = [
        {"id": first, "url": f"https://host/x/{names[0]}?v=1", "video_id": "v1", "height": 60, "width": 80},
        {"id": first + 1, "file_name": f"images/{names[1]}", "video_id": "v2", "height": 60, "width": 80},
        {"id": first + 2, "file_name": names[2], "video_id": "v1", "height": 80, "width": 60},
        {"id": first + 3, "url": names[3], "video_id": "v2", "height": 60, "width": 80},
    ]
    annotations = [
        {"id": 1, "image_id": first, "bbox": [0, 10, 20, 30], "area": 600, "category_id": 3, "instance_id": "a"},
        {"id": 2, "image_id": first, "bbox": [0, 10, 20, 30], "area": 600, "instance_id": "b"},
        {"id": 3, "image_id": first + 1, "bbox": [1, 2, 3, 4], "area": 12, "category_id": 5},
        {"id": 4, "image_id": first + 2, "bbox": [5.5, 60, 50, 20], "area": 1000, "category_id": 2},
    ]
    categories = [{"id": 2, "name": "book"}, {"id": 3, "name": "mug"}, {"id": 5, "name": "that one mug"}]
    return {"images": images, "annotations": annotations, "categories": categories}


@pytest.fixture
def root(tmp_path, a_picture, a_json):
    for part, names in (
        ("train", ["a.jpg", "b.jpg", "c.jpg", "d.jpg"]),
        ("eval", ["e.jpg", "f.jpg", "g.jpg", "h.jpg"]),
    ):
        content = a_part(10 if part == "train" else 50, names)
        a_json(tmp_path / f"EgoObjectsV1_unified_{part}.json", content)
        for image, name in zip(content["images"], names, strict=True):
            a_picture(tmp_path / "images" / name, (image["height"], image["width"]))
    detection = [{"id": 3, "name": "mug"}, {"id": 2, "name": "book"}]
    a_json(tmp_path / "EgoObjectsV1_unified_metadata.json", {"cat_det_cats": detection, "inst_det_cats": []})
    return tmp_path


def test_every_frame_is_read_box_for_box(root, boxes):
    found = read_egoobjects(root, frames_per_step=2, hold_out=1)

    assert found.classes == ("book", "mug")
    assert [entry.picture.name for entry in found.entries] == ["a.jpg", "c.jpg", "b.jpg", "d.jpg"]
    assert [(entry.video, entry.index) for entry in found.entries] == [("v1", 0), ("v1", 1), ("v2", 0), ("v2", 1)]
    assert [entry.size for entry in found.entries] == [(60, 80), (80, 60), (60, 80), (60, 80)]
    assert [(entry.step, entry.held_out) for entry in found.entries] == [(0, False), (0, False), (0, True), (1, False)]
    # Neither the object without a category, nor the one whose category is not one of detection.
    assert boxes(found) == [[("mug", 0, 10, 20, 40)], [("book", 5.5, 60, 55.5, 80)], [], []]
    assert [entry.instances for entry in found.entries] == [(("", "a"),), None, (), ()]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([], "holds a list: it should be an object with cat_det_cats"),
        ({"cat_det_cats": 5}, "'cat_det_cats' is 5: it should be a list"),
        ({"cat_det_cats": [{"id": 1, "name": 7}]}, "category 1: its name is 7"),
    ],
)
def test_metadata_that_is_none_is_told_by_its_own_names(root, a_json, content, said):
    a_json(root / "EgoObjectsV1_unified_metadata.json", content)

    with pytest.raises(InvalidData, match=rf"metadata\.json.*{said}"):
        read_egoobjects(root)


@pytest.mark.parametrize("video", [None, [1], 1.5])
def test_a_video_that_cannot_be_one_is_an_error_in_every_run(root, met, video):
    file = root / "EgoObjectsV1_unified_train.json"
    content = json.loads(file.read_text())
    content["images"][1]["video_id"] = video
    file.write_text(json.dumps(content))

    read_egoobjects(root, report=met.append)

    assert [(one.fatal, "image 11: its video_id is" in str(one)) for one in met] == [(True, True)]


def test_an_address_that_is_none_costs_its_frame(root, met):
    file = root / "EgoObjectsV1_unified_train.json"
    content = json.loads(file.read_text())
    content["images"][0]["url"] = "https://[there"
    file.write_text(json.dumps(content))

    found = read_egoobjects(root, report=met.append)

    assert [entry.id for entry in found.entries if entry.broken] == [0]
    assert "image 10: its file_name is 'https://[there': it should be a path" in str(met[0])


def test_without_metadata_the_classes_are_those_of_the_training_file(root, boxes):
    (root / "EgoObjectsV1_unified_metadata.json").unlink()

    found = read_egoobjects(root)

    assert found.classes == ("book", "mug", "that one mug")
    assert boxes(found)[2] == [("that one mug", 1, 2, 4, 6)]


def test_the_evaluation_file_can_be_the_test_set(root, boxes):
    found = read_egoobjects(root, test="eval", frames_per_step=3)

    assert [(entry.id, entry.step, entry.held_out) for entry in found.entries] == [
        (0, 0, False),
        (1, 0, False),
        (2, 0, False),
        (3, 1, False),
        (4, 0, True),
        (5, 0, True),
        (6, 0, True),
        (7, 0, True),
    ]
    assert found.entries[4].picture.name == "e.jpg"
    assert boxes(found)[4:] == boxes(found)[:4]


def test_chosen_classes_are_the_only_ones(root, boxes):
    assert boxes(read_egoobjects(root, classes=["book"])) == [[], [("book", 5.5, 60, 55.5, 80)], [], []]


@pytest.mark.parametrize(
    ("key", "number", "values", "said", "lost"),
    [
        ("annotations", 0, {"category_id": 99}, "annotation 1 of image 10: no class 99", 0),
        ("annotations", 3, {"bbox": [0, 0, 5]}, "annotation 4 of image 12: the box is", 1),
        ("images", 1, {"file_name": "none.jpg"}, r"image 11: .*none\.jpg: no such file", 2),
        ("images", 3, {"url": None}, "image 13: its file_name is None", 3),
    ],
)
def test_a_bad_frame_is_told_and_the_others_keep_their_places(root, met, key, number, values, said, lost):
    file = root / "EgoObjectsV1_unified_train.json"
    content = json.loads(file.read_text())
    content[key][number].update(values)
    file.write_text(json.dumps(content))

    with pytest.raises(InvalidData, match=rf"train\.json, {said}"):
        read_egoobjects(root)
    found = read_egoobjects(root, report=met.append)

    assert [entry.id for entry in found.entries if entry.broken] == [lost]
    assert [entry.picture.name for entry in found.entries if not entry.broken] == [
        name for place, name in enumerate(["a.jpg", "c.jpg", "b.jpg", "d.jpg"]) if place != lost
    ]


def test_a_missing_or_cut_file_is_told(root):
    file = root / "EgoObjectsV1_unified_train.json"
    file.write_text(file.read_text()[:100])
    with pytest.raises(InvalidData, match=r"train\.json cannot be read"):
        read_egoobjects(root)
    file.unlink()
    with pytest.raises(InvalidData, match=r"0 files EgoObjects\*_train\.json"):
        read_egoobjects(root)
