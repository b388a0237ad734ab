"""A COCO file is read by id; what is wrong with a list or an id of it is told. Its frames: see test_coco_video.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from leocod.errors import InvalidData
from leocod.readers.coco import name_record, parse_categories, read_coco
from leocod.readers.recording import Problem


def test_records_are_found_by_id_and_categories_are_in_order_of_id(tmp_path: Path, a_json: Any) -> None:
    categories = [{"id": 10, "name": "mug"}, {"id": 9, "name": "book"}]
    annotations = [{"id": 1, "image_id": "b"}, {"id": 2, "image_id": "b"}]
    images = [{"id": "b", "video_id": 4}, {"id": "a", "video_id": 3}]
    file = a_json(tmp_path / "a.json", {"categories": categories, "images": images, "annotations": annotations})

    coco = read_coco(file)

    assert list(coco.categories.items()) == [(9, "book"), (10, "mug")]
    assert [image["id"] for image in coco.images] == ["b", "a"]
    assert {id: len(records) for id, records in coco.annotations.items()} == {"b": 2, "a": 0}
    assert coco.videos == {4: "4", 3: "3"}
    assert coco.repeated_ids == frozenset()


def test_a_list_of_videos_goes_before_those_that_images_name(tmp_path: Path, a_json: Any) -> None:
    content = {"videos": [{"id": 3, "name": "walk"}], "images": [{"id": 1, "video_id": 4}, {"id": 1, "video_id": 3}]}

    coco = read_coco(a_json(tmp_path / "a.json", content))

    assert coco.videos == {3: "walk"}
    assert coco.repeated_ids == {1}


def test_records_without_an_id_are_reported_and_the_others_are_read(tmp_path: Path, a_json: Any) -> None:
    problems: list[Problem] = []

    coco = read_coco(a_json(tmp_path / "a.json", {"images": [{"id": 1}, {"id": None}, 7]}), problems.append)

    assert [image["id"] for image in coco.images] == [1]
    assert [problem.record for problem in problems] == ["number 1 of 'images'", "number 2 of 'images'"]
    assert all(problem.fatal for problem in problems)


def test_the_list_of_categories_is_called_as_the_file_calls_it() -> None:
    with pytest.raises(InvalidData, match=r"a\.json: 'cat_det_cats' is 3: it should be a list"):
        parse_categories(3, Path("a.json"), "cat_det_cats")


def test_an_id_of_any_text_is_told_in_one_short_line() -> None:
    assert name_record({"id": "a\nb"}) == r"image a\nb"
    assert len(name_record({"id": "x" * 5000, "image_id": 1})) == len("annotation ") + 60
