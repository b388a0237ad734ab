"""COCO files as video: order, boxes, classes, and everything that can be wrong with one."""

from __future__ import annotations

import copy
import json
import math
from typing import Any

import pytest

from leocod.errors import InvalidConfig, InvalidData, UnknownName
from leocod.readers.coco_video import read_coco_video


def image(id: Any, file_name: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "file_name": file_name, "height": 60, "width": 80, **more}


def mark(id: int, image_id: Any, category_id: Any, *bbox: float) -> dict[str, Any]:
    return {"id": id, "image_id": image_id, "category_id": category_id, "bbox": list(bbox), "iscrowd": 0}


WHOLE: dict[str, Any] = {
    "videos": [{"id": 2, "name": "kitchen"}, {"id": 1, "name": "street"}],
    "categories": [{"id": 10, "name": "mug"}, {"id": 9, "name": "book"}],
    "images": [
        image(4, "s/9.png", video_id=1, frame_number=9),
        image(5, "s/10.png", video_id=1, frame_number=10, height=80, width=60),
        image(6, "k/3.png", video_id=2, frame_number=3),
        image(7, "k/1.png", video_id=2, frame_number=1),
    ],
    "annotations": [
        mark(1, 4, 9, 0, 10, 20, 30),
        mark(2, 7, 10, 5.5, 5, 10, 10),
        mark(3, 4, 10, 1, 2, 3, 4),
        mark(4, 5, 9, 10, 60, 50, 20),
    ],
}


@pytest.fixture
def written(tmp_path, a_picture, a_json):
    """Writes the data set, changed as it is asked to; all its pictures are there."""

    def write(change=lambda content: None, folder="images"):
        for one in WHOLE["images"]:
            a_picture(tmp_path / folder / one["file_name"], (one["height"], one["width"]), one["id"])
        content = copy.deepcopy(WHOLE)
        change(content)
        return a_json(tmp_path / "labels.json", content)

    return write


def test_frames_come_by_video_then_number_with_their_boxes(written, boxes):
    found = read_coco_video(written())

    assert found.classes == ("book", "mug")
    assert [entry.picture.name for entry in found.entries] == ["1.png", "3.png", "9.png", "10.png"]
    assert [(entry.id, entry.video, entry.index) for entry in found.entries] == [
        (0, "kitchen", 0),
        (1, "kitchen", 1),
        (2, "street", 0),
        (3, "street", 1),
    ]
    assert [entry.size for entry in found.entries] == [(60, 80), (60, 80), (60, 80), (80, 60)]
    assert boxes(found) == [
        [("mug", 5.5, 5, 15.5, 15)],
        [],
        [("book", 0, 10, 20, 40), ("mug", 1, 2, 4, 6)],
        [("book", 10, 60, 60, 80)],
    ]


@pytest.mark.parametrize("folder", [".", "images"])
def test_pictures_are_found_beside_the_file_or_in_images(written, tmp_path, folder):
    found = read_coco_video(written(folder=folder))

    assert found.entries[0].picture == tmp_path / folder / "k" / "1.png"


def test_pictures_are_found_in_the_folder_that_is_named(written, tmp_path):
    found = read_coco_video(written(folder="elsewhere"), tmp_path / "elsewhere")

    assert found.entries[0].picture == tmp_path / "elsewhere" / "k" / "1.png"
    with pytest.raises(InvalidData, match="nowhere: no such folder"):
        read_coco_video(written(), tmp_path / "nowhere")


def test_chosen_videos_come_in_the_order_of_the_choice_and_keep_all_classes(written):
    file = written()

    assert [entry.video for entry in read_coco_video(file, videos=["street"]).entries] == ["street"] * 2
    assert [entry.video for entry in read_coco_video(file, videos=[1, "kitchen"]).entries] == ["street"] * 2 + [
        "kitchen"
    ] * 2
    assert read_coco_video(file, videos=["street"]).classes == ("book", "mug")
    with pytest.raises(UnknownName, match="Did you mean 'kitchen'"):
        read_coco_video(file, videos=["kitchn"])


def test_chosen_classes_are_the_only_ones(written, boxes):
    found = read_coco_video(written(), classes=["mug"])

    assert found.classes == ("mug",)
    assert boxes(found) == [[("mug", 5.5, 5, 15.5, 15)], [], [("mug", 1, 2, 4, 6)], []]
    with pytest.raises(UnknownName, match="No class in .* 'mugg'"):
        read_coco_video(written(), classes=["mugg"])


def test_without_videos_frames_come_by_name_with_numbers_by_value(written):
    def alone(content):
        del content["videos"]
        for one in content["images"]:
            del one["video_id"], one["frame_number"]

    found = read_coco_video(written(alone))

    assert [entry.picture.name for entry in found.entries] == ["1.png", "3.png", "9.png", "10.png"]
    assert {entry.video for entry in found.entries} == {"labels"}
    with pytest.raises(InvalidConfig, match="no videos"):
        read_coco_video(written(alone), videos=["a"])


def test_without_a_list_videos_come_in_the_order_of_their_first_image(written):
    found = read_coco_video(written(lambda content: content.pop("videos")))

    assert [entry.video for entry in found.entries] == ["1", "1", "2", "2"]


def test_a_size_that_the_file_does_not_give_is_the_pictures(written):
    def sizeless(content):
        for one in content["images"]:
            del one["height"], one["width"]

    assert [entry.size for entry in read_coco_video(written(sizeless)).entries][-1] == (80, 60)


def test_an_image_that_says_so_is_one_that_nobody_has_labelled(written, boxes):
    found = read_coco_video(written(lambda content: content["images"][2].update(labelled=False)))

    assert boxes(found)[1] is None
    assert not found.entries[1].broken


def test_a_crowd_takes_no_part_and_is_told(written, boxes, met):
    found = read_coco_video(written(lambda content: content["annotations"][2].update(iscrowd=1)), report=met.append)

    assert boxes(found)[2] == [("book", 0, 10, 20, 40)]
    assert [(one.kind, one.breaks) for one in met] == [("crowd", False)]


def damaged(key: str, number: int, **values: Any):
    return lambda content: content[key][number].update(values)


FRAME_2 = [  # what is wrong with image 4, the third frame
    (damaged("annotations", 0, bbox=[0, 0, math.nan, 5]), "annotation 1 of image 4: the box is", "box"),
    (damaged("annotations", 0, bbox=[0, 0, math.inf, 5]), "annotation 1 of image 4: the box is", "box"),
    (damaged("annotations", 0, bbox=[9, 0, -5, 5]), "width and height above 0", "box"),
    (damaged("annotations", 0, bbox=[9, 0, 0, 5]), "it has no area", "box"),
    (
        damaged("annotations", 0, bbox=[500, 0, 5, 5]),
        r"the box \[500, 0, 5, 5\] \(x, y, width, height\) lies outside its frame of 80 x 60",
        "box",
    ),
    (damaged("annotations", 0, bbox="0,0,5,5"), "should be four numbers", "box"),
    (damaged("annotations", 0, bbox=[0, 0, 5]), "should be four numbers", "box"),
    (damaged("annotations", 0, category_id=3), r"no class 3\. Known: 9, 10", "class"),
    (damaged("annotations", 0, category_id=None), "no class None", "class"),
    (damaged("images", 0, height="60"), "height and width are '60' and 80", "size"),
    (damaged("images", 0, width=-80), "should be pixels", "size"),
    (damaged("images", 0, file_name=None), "image 4: its file_name is None", "path"),
    (damaged("images", 0, file_name="s/none.png"), r"none\.png: no such file", "picture"),
]


@pytest.mark.parametrize(("change", "said", "kind"), FRAME_2)
def test_a_bad_frame_stops_with_file_and_record(written, change, said, kind):
    with pytest.raises(InvalidData, match=rf"labels\.json, .*{said}"):
        read_coco_video(written(change))


@pytest.mark.parametrize(("change", "said", "kind"), FRAME_2)
def test_a_bad_frame_can_be_passed_over_and_the_others_are_as_before(written, boxes, met, change, said, kind):
    whole = boxes(read_coco_video(written()))

    found = read_coco_video(written(change), report=met.append)

    assert [entry.broken for entry in found.entries].count(True) == 1
    lost = [entry.broken for entry in found.entries].index(True)
    assert {problem.frame for problem in met if problem.breaks} == {lost}
    assert {problem.kind for problem in met} == {kind}
    others = [one for entry, one in zip(found.entries, boxes(found), strict=True) if not entry.broken]
    assert others == whole[:2] + whole[3:]


def test_images_with_one_id_are_both_lost(written, met):
    found = read_coco_video(written(damaged("images", 1, id=4)), report=met.append)

    assert [entry.broken for entry in found.entries] == [False, False, True, True]
    assert {one.kind for one in met} == {"duplicate id", "stray annotation"}
    with pytest.raises(InvalidData, match="another image has the same id|there is no image 5"):
        read_coco_video(written(damaged("images", 1, id=4)))


def test_annotations_of_no_image_are_told(written, met, boxes):
    whole = boxes(read_coco_video(written()))
    stray = written(lambda content: content["annotations"].append(mark(9, 99, 9, 0, 0, 5, 5)))

    with pytest.raises(InvalidData, match="annotation 9: there is no image 99"):
        read_coco_video(stray)
    assert boxes(read_coco_video(stray, report=met.append)) == whole
    assert len(met) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (damaged("categories", 0, name=""), r", category 10: its name is empty. Give it a name"),
        (
            damaged("categories", 0, name="a\nb"),
            r"class 'a\\nb': its name has a control character",
        ),
        (
            damaged("categories", 0, name="\ud800"),
            r"class '\\ud800': its name has a control character",
        ),
        (damaged("categories", 0, id=9), "two categories have the id 9"),
        (damaged("categories", 0, name="book"), "two categories are called 'book'"),
        (damaged("categories", 0, name=5), "its name is 5, no text"),
        (lambda content: content.update(images={"id": 1}), "'images' is .* should be a list"),
        (lambda content: content.update(categories=[]), "names no classes"),
    ],
)
def test_what_spoils_the_whole_file_is_an_error_for_everybody(written, met, change, said):
    with pytest.raises(InvalidData, match=rf"labels\.json.*{said}"):
        read_coco_video(written(change), report=met.append)


@pytest.mark.parametrize("record", [5, {"file_name": "a.png"}, {"id": True}, {"id": [1]}, None])
def test_an_image_without_an_id_has_no_place(written, met, record):
    found = read_coco_video(written(lambda content: content["images"].append(record)), report=met.append)

    assert len(found.entries) == 4
    assert [("number 4 of 'images'" in str(one), one.fatal) for one in met] == [(True, True)]


def test_an_annotation_that_names_no_image_may_be_any_frames(written, met):
    read_coco_video(written(damaged("annotations", 0, image_id=4.0)), report=met.append)

    assert [("its image_id is 4.0: it should be" in str(one), one.fatal) for one in met] == [(True, True)]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../s/9.png", "leads outside"),
        ("/etc/passwd", "leads outside"),
        ("a" * 300, "too long for this disk"),
        ("a\0b", "no file name can have"),
        ("\ud800.png", "no file name can have"),
    ],
)
def test_a_path_that_cannot_be_followed_costs_its_frame(written, met, name, said):
    file = written(damaged("images", 0, file_name=name))

    with pytest.raises(InvalidData, match=rf"labels\.json, image 4: the path .*{said}"):
        read_coco_video(file)
    found = read_coco_video(file, report=met.append)

    assert [(one.kind, one.fatal) for one in met] == [("path", False)]
    assert sum(entry.broken for entry in found.entries) == 1


@pytest.mark.parametrize(("crowd", "broken"), [(0, 0), (None, 0), ("1", 1), (2, 1), ([], 1)])
def test_a_crowd_is_0_or_1(written, met, crowd, broken):
    found = read_coco_video(written(damaged("annotations", 0, iscrowd=crowd)), report=met.append)

    assert [one.kind for one in met] == ["crowd"] * broken
    assert sum(entry.broken for entry in found.entries) == broken


def test_a_broken_frame_is_one_that_somebody_labelled_unless_it_says_otherwise(written, met):
    def change(content):
        for image, labelled in zip(content["images"][:2], (True, False), strict=True):
            image.update(file_name="none.png", labelled=labelled)

    found = read_coco_video(written(change), report=met.append)

    assert sorted(entry.labels is None for entry in found.entries if entry.broken) == [False, True]


def test_an_image_of_no_video_has_no_place(written, met):
    found = read_coco_video(written(damaged("images", 0, video_id=[3])), report=met.append)

    assert len(found.entries) == 3
    assert "image 4: its video_id is [3]" in str(met[0])


def test_a_cut_file_and_a_file_that_is_something_else_are_told(written):
    file = written()
    text = file.read_text()

    file.write_text(text[: len(text) // 2])
    with pytest.raises(InvalidData, match=r"labels\.json cannot be read"):
        read_coco_video(file)
    file.write_text(json.dumps([1]))
    with pytest.raises(InvalidData, match=r"labels\.json holds a list"):
        read_coco_video(file)


@pytest.fixture
def two_files(tmp_path, a_picture, a_json):
    """Writes two data sets in folders of their own: `day` as it is, `night` changed as it is asked to."""

    def write(change=lambda content: None, names=("day/labels.json", "night/labels.json")):
        files = []
        for name in names:
            content = copy.deepcopy(WHOLE)
            if files:
                change(content)
            for one in WHOLE["images"]:
                picture = (tmp_path / name).parent / "images" / one["file_name"]
                a_picture(picture, (one["height"], one["width"]), one["id"])
            files.append(a_json(tmp_path / name, content))
        return files

    return write


def with_a_cup(content):
    content["categories"] = [{"id": 1, "name": "cup"}, {"id": 9, "name": "mug"}, {"id": 10, "name": "book"}]


def test_the_frames_of_the_first_file_come_first_each_from_its_own_folder(two_files, tmp_path):
    found = read_coco_video(two_files())

    assert [entry.id for entry in found.entries] == list(range(8))
    names = ["k/1.png", "k/3.png", "s/9.png", "s/10.png"]
    assert [entry.picture for entry in found.entries] == [
        tmp_path / folder / "images" / name for folder in ("day", "night") for name in names
    ]
    assert [entry.index for entry in found.entries] == [0, 1, 0, 1] * 2


def test_class_lists_of_files_are_merged_by_name(two_files, boxes):
    found = read_coco_video(two_files(with_a_cup))

    assert found.classes == ("book", "mug", "cup")
    assert [[name for name, *_ in one] for one in boxes(found)] == [
        ["mug"], [], ["book", "mug"], ["book"], ["book"], [], ["mug", "book"], ["mug"]
    ]  # fmt: skip
    assert read_coco_video(two_files(with_a_cup), classes=["cup"]).classes == ("cup",)
    with pytest.raises(UnknownName, match=r"class in .*day/labels\.json, .*night/labels\.json 'cupp'.*mean 'cup'"):
        read_coco_video(two_files(with_a_cup), classes=["cupp"])


@pytest.mark.parametrize(
    ("names", "titles"),
    [
        (("day/labels.json", "night/labels.json"), ["kitchen", "street", "night/kitchen", "night/street"]),
        (("both/day.json", "both/night.json"), ["kitchen", "street", "night/kitchen", "night/street"]),
        (("a/x/labels.json", "b/x/labels.json"), ["kitchen", "street", "labels/kitchen", "labels/street"]),
    ],
)
def test_videos_of_one_name_in_two_files_are_two(two_files, names, titles):
    found = read_coco_video(two_files(names=names))

    assert list(dict.fromkeys(entry.video for entry in found.entries)) == titles


def test_a_new_name_of_a_video_is_not_that_of_another(two_files):
    found = read_coco_video(two_files(damaged("videos", 0, name="night/street")))

    titles = list(dict.fromkeys(entry.video for entry in found.entries))
    assert titles == ["kitchen", "street", "night/street", "night/street-2"]


def test_each_file_gives_the_chosen_videos_that_it_has(two_files):
    files = two_files(damaged("videos", 0, name="attic"))

    assert [entry.video for entry in read_coco_video(files, videos=["attic", "street"]).entries] == (
        ["street"] * 2 + ["attic"] * 2 + ["night/street"] * 2
    )
    with pytest.raises(UnknownName, match=r"No video in .*day.*night.* 'attik'\. Did you mean 'attic'"):
        read_coco_video(files, videos=["attik"])


def in_steps(content):
    for number, one in enumerate(content["images"]):
        one.update(step=number // 2, held_out=number % 2 == 1)


def test_the_steps_of_a_second_file_follow_those_of_the_first_with_its_choice_of_labels(two_files, a_json):
    first, second = two_files(in_steps)
    in_steps(content := copy.deepcopy(WHOLE))
    a_json(first, content)
    for file, costs in ((first, (1, 2)), (second, (1,))):
        for cost in costs:
            a_json(file.parent / f"labels_{cost}.json", {"frames": {"0": [4], "1": [6]}})

    found = read_coco_video([first, second])

    assert [(entry.step, entry.held_out) for entry in found.entries] == [
        (step, held_out) for step in range(4) for held_out in (False, True)
    ]
    assert found.given == {1: {0, 2, 4, 6}}


def test_frames_are_divided_again_unless_all_files_say_their_steps(two_files):
    assert {entry.step for entry in read_coco_video(two_files(in_steps)).entries} == {-1}


def test_a_mistake_in_a_second_file_is_told_with_that_file_and_costs_its_own_frame(two_files, met):
    files = two_files(damaged("annotations", 0, bbox=[9, 0, 0, 5]))

    with pytest.raises(InvalidData, match=r"night/labels\.json, annotation 1 of image 4: .*no area"):
        read_coco_video(files)
    found = read_coco_video(files, report=met.append)

    assert [problem.frame for problem in met] == [6]
    assert [entry.id for entry in found.entries if entry.broken] == [6]
    with pytest.raises(InvalidData, match=r"night/labels\.json names no classes"):
        read_coco_video(two_files(lambda content: content.update(categories=[])))


def test_a_thing_is_named_by_its_instance_or_by_its_track_in_its_video(written):
    def name(content):
        for annotation, ids in zip(
            content["annotations"],
            [{"track_id": 3}, {"track_id": 3}, {"instance_id": "a", "track_id": 4}, {"track_id": 3}],
            strict=True,
        ):
            annotation.update(ids)

    found = read_coco_video(written(name))

    # Track 3 of the street is not track 3 of the kitchen.
    assert [entry.instances for entry in found.entries] == [
        (("kitchen", 3),),
        (),
        (("street", 3), ("", "a")),
        (("street", 3),),
    ]


def test_things_stay_beside_their_boxes_when_others_take_no_part(written):
    def name(content):
        content["annotations"] += [{**mark(5, 4, 9, 1, 1, 9, 9), "iscrowd": 1}]
        for number, annotation in enumerate(content["annotations"]):
            annotation["instance_id"] = number

    found = read_coco_video(written(name), classes=["mug"])

    assert [entry.instances for entry in found.entries] == [(("", 1),), (), (("", 2),), ()]
    assert [len(entry.labels) for entry in found.entries] == [1, 0, 1, 0]


def test_a_frame_with_a_thing_that_has_no_name_has_none(written):
    def name(content):
        content["annotations"][0]["instance_id"] = 7
        content["annotations"][1]["instance_id"] = [7]

    found = read_coco_video(written(name))

    assert [entry.instances for entry in found.entries] == [None, (), None, None]
