"""OAK as released: order by number, boxes with corners in any order, test labels apart or counted off."""

from __future__ import annotations

import pytest

from leocod.errors import InvalidData
from leocod.readers.oak import list_objects, read_oak


def thing(category, x1, y1, x2, y2):
    return {"id": 0, "category": category, "box2d": {"x1": x1, "y1": y1, "x2": x2, "y2": y2}}


@pytest.fixture
def root(tmp_path, a_picture, a_json):
    """Two steps of two videos. Frame 9 comes before frame 10, and the second frame of all is portrait."""
    frames = [
        ("0", "day_10", (60, 80), [{"labels": [thing("mug", 20, 30, 0, 10)]}]),
        ("0", "day_9", (60, 80), [thing("book", 0, 10, 20, 30), thing("mug", 1, 2, 3, 4)]),
        ("0", "eve_1", (80, 60), {"DataList": [{"labels": [thing("cat", 5.5, 60, 50, 80)]}]}),
        ("1", "day_11", (60, 80), []),
    ]
    for step, name, size, content in frames:
        a_picture(tmp_path / "Raw" / step / f"{name}.jpg", size)
        a_json(tmp_path / "Label" / step / f"{name}.json", content)
    return tmp_path


def names(found):
    return [(entry.picture.stem, entry.step, entry.held_out) for entry in found.entries]


def test_every_frame_is_read_box_for_box(root, boxes):
    found = read_oak(root)

    assert found.classes == ("book", "cat", "mug")
    assert [entry.picture.stem for entry in found.entries] == ["day_9", "day_10", "eve_1", "day_11"]
    assert [(entry.video, entry.index) for entry in found.entries] == [("day", 0), ("day", 1), ("eve", 0), ("day", 2)]
    assert [entry.size for entry in found.entries] == [(60, 80), (60, 80), (80, 60), (60, 80)]
    assert boxes(found) == [
        [("book", 0, 10, 20, 30), ("mug", 1, 2, 3, 4)],
        [("mug", 0, 10, 20, 30)],
        [("cat", 5.5, 60, 50, 80)],
        [],
    ]


def test_without_test_labels_frames_are_counted_off_across_folders(root):
    assert names(read_oak(root, frames_per_step=2, hold_out=1)) == [
        ("day_9", 0, False),
        ("day_10", 0, False),
        ("eve_1", 0, True),
        ("day_11", 1, False),
    ]


@pytest.mark.parametrize(("folder", "option"), [("Label_test", None), ("held", "held")])
def test_with_test_labels_apart_a_folder_is_a_step(root, a_json, boxes, folder, option):
    (root / "Label" / "0" / "day_10.json").unlink()
    a_json(root / folder / "0" / "day_10.json", [thing("mug", 0, 10, 20, 30), thing("fox", 0, 0, 5, 5)])

    found = read_oak(root, test_labels=option)

    assert names(found) == [("day_9", 0, False), ("day_10", 0, True), ("eve_1", 0, False), ("day_11", 1, False)]
    # Only what training and test labels both know, as in OAK's own code.
    assert found.classes == ("mug",)
    assert boxes(found) == [[("mug", 1, 2, 3, 4)], [("mug", 0, 10, 20, 30)], [], []]


def test_classes_that_take_no_part_are_told(root, boxes, met):
    found = read_oak(root, classes=["mug", "fox"], report=met.append)

    assert found.classes == ("mug", "fox")
    assert boxes(found)[0] == [("mug", 1, 2, 3, 4)]
    assert [(one.kind, one.breaks) for one in met[:2]] == [("unused class", False)] * 2
    assert "'book', in 1 frame," in str(met[0])


def test_a_picture_without_a_label_file_is_one_that_nobody_has_labelled(root, boxes):
    (root / "Label" / "0" / "eve_1.json").unlink()

    found = read_oak(root)

    assert boxes(found)[2] is None
    assert not found.entries[2].broken


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("day_10.json", b'[{"id": 1, "cat', "cannot be read"),
        ("day_10.json", b"5", "should be a list of objects"),
        ("day_10.json", b'[{"labels": 5}]', "its labels are 5"),
        ("day_10.json", b"[7]", "object 0: no class None"),
        ("day_10.json", b'[{"category": "mug"}]', "object 0: the box is None"),
        ("day_10.json", b'[{"category": "mug", "box2d": {"x1": 0, "y1": 0, "x2": NaN, "y2": 5}}]', "four numbers"),
        ("day_10.json", b'[{"category": "mug", "box2d": {"x1": 3, "y1": 0, "x2": 3, "y2": 5}}]', "no area"),
        ("day_10.jpg", b"", r"day_10\.jpg: the file is empty"),
        ("day_10.jpg", b"no picture", r"day_10\.jpg is not a readable image"),
    ],
)
def test_a_bad_frame_is_told_and_the_others_are_as_before(root, boxes, met, name, content, said):
    whole = boxes(read_oak(root))
    (root / ("Raw" if name.endswith("jpg") else "Label") / "0" / name).write_bytes(content)

    with pytest.raises(InvalidData, match=rf"day_10\.json.*{said}"):
        read_oak(root)
    found = read_oak(root, report=met.append)

    assert [entry.broken for entry in found.entries] == [False, True, False, False]
    assert [problem.frame for problem in met if problem.breaks] == [1]
    assert boxes(found)[:1] + boxes(found)[2:] == whole[:1] + whole[2:]


def test_a_label_without_its_picture_is_told(root):
    (root / "Raw" / "0" / "day_9.jpg").unlink()

    with pytest.raises(InvalidData, match=r"day_9\.json: its picture .*day_9\.jpg: no such file"):
        read_oak(root)


def test_a_picture_that_is_a_link_to_elsewhere_is_refused(root, tmp_path_factory, a_picture, met):
    outside = a_picture(tmp_path_factory.mktemp("outside") / "a.jpg")
    (root / "Raw" / "0" / "day_9.jpg").unlink()
    (root / "Raw" / "0" / "day_9.jpg").symlink_to(outside)

    with pytest.raises(InvalidData, match="leads outside"):
        read_oak(root)
    found = read_oak(root, report=met.append)

    assert [(entry.picture.name, entry.size) for entry in found.entries if entry.broken] == [("day_9.jpg", None)]
    assert [one.kind for one in met if one.breaks] == ["path"]


def test_swapped_corners_are_put_in_order_and_told(root, a_json, boxes, met):
    a_json(root / "Label" / "0" / "day_9.json", [thing("mug", 3, 4, 1, 2)])

    found = read_oak(root, report=met.append)

    assert boxes(found)[0] == [("mug", 1, 2, 3, 4)]
    assert "day_9.json, object 0: the corners of the box [3, 4, 1, 2] (x1, y1, x2, y2) are swapped" in str(met[0])
    assert not any(one.breaks for one in met)


@pytest.mark.parametrize("name", ["a\nb", "\ud800"])
def test_a_name_that_no_class_can_have_costs_its_frame(root, a_json, met, name):
    a_json(root / "Label" / "0" / "day_9.json", [thing("mug", 1, 2, 3, 4), thing(name, 1, 2, 3, 4)])

    found = read_oak(root, report=met.append)

    assert name not in found.classes
    assert [entry.picture.name for entry in found.entries if entry.broken] == ["day_9.jpg"]
    assert [one.kind for one in met if one.breaks] == ["class"]


def test_the_file_of_a_frame_is_named_once(root):
    (root / "Label" / "0" / "day_9.json").write_text("[")

    with pytest.raises(InvalidData) as told:
        read_oak(root)

    assert str(told.value).count("day_9") == 1


def test_a_root_without_pictures_or_classes_is_told(root, tmp_path, a_picture):
    with pytest.raises(InvalidData, match="Raw: no such folder"):
        read_oak(root / "Raw")
    with pytest.raises(InvalidData, match="held: no such folder"):
        read_oak(root, test_labels="held")
    bare = tmp_path / "bare"
    (bare / "Raw").mkdir(parents=True)
    with pytest.raises(InvalidData, match="no pictures"):
        read_oak(bare)
    a_picture(bare / "Raw" / "0" / "a_1.jpg")
    with pytest.raises(InvalidData, match="no label names a class"):
        read_oak(bare)


def test_a_label_file_may_have_no_objects_at_all():
    assert list_objects([{"labels": None}]) == []
    assert list_objects({"labels": [1]}) == [1]
