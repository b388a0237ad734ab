"""Boxes and classes of one frame: both forms, clipping, and what cannot be."""

from __future__ import annotations

from math import inf, nan
from pathlib import Path

import pytest

from leocod.errors import InvalidData
from leocod.readers.annotations import Annotation, make_labels, parse_box
from leocod.readers.recording import FrameProblems, Problem, raise_problem

CLASSES = {"mug": 1, "book": 0, 7: 1, "car": None}


def labels(marks: list[tuple[object, object]], report=raise_problem, size=(60, 80)):
    problems = FrameProblems(report, Path("a.json"), "image 5", 0)
    named = [Annotation(f"annotation {number}", name, box, "xyxy") for number, (name, box) in enumerate(marks)]
    return make_labels(named, size, CLASSES, problems)


def test_a_corner_with_width_and_height_is_two_corners():
    assert parse_box([10, 20, 30, 5.5], "xywh") == (10, 20, 40, 25.5)
    assert parse_box([10, 20, 30, 25.5], "xyxy") == (10, 20, 30, 25.5)


def test_classes_are_found_by_what_the_file_calls_them():
    found = labels([("mug", [0, 0, 10, 10]), ("book", [5, 5, 9, 9]), (7, [1, 2, 3, 4])])

    assert found.classes.tolist() == [1, 0, 1]
    assert found.boxes.tolist() == [[0, 0, 10, 10], [5, 5, 9, 9], [1, 2, 3, 4]]
    assert found.source == "human"


def test_a_class_that_takes_no_part_is_left_out_and_no_mark_is_a_label():
    assert len(labels([("car", [0, 0, 10, 10])])) == 0
    assert labels([]).known


@pytest.mark.parametrize(
    "box",
    [
        [0, 0, nan, 10],
        [0, 0, inf, 10],
        [0, 0, 10**400, 10],
        [0, 0, 1e9, 10],
        [10, 0, 5, 10],
        [10, 0, 10, 10],
        [0, 0, 10],
        [0, 0, 10, "10"],
        [0, 0, 10, True],
        [0, 0, 10, None],
        "0 0 10 10",
        None,
        {"x1": 0},
        [100, 0, 110, 10],
        [0, 61, 10, 70],
        [50, 10, 50 + 1e-9, 20],
    ],
    ids=str,
)
def test_a_box_that_cannot_be_is_told_with_file_and_record(box):
    with pytest.raises(InvalidData, match=r"a\.json, (annotation 0 of )?image 5: .*(box|Box)"):
        labels([("mug", box)])


@pytest.mark.parametrize("name", ["plate", 8, 7.0, None, ["mug"], True])
def test_an_unknown_class_is_told_with_the_known_ones(name):
    with pytest.raises(InvalidData, match="annotation 0 of image 5: no class .* Known: mug, book, 7, car"):
        labels([(name, [0, 0, 10, 10])])


def test_a_box_that_sticks_out_is_clipped_and_told():
    met: list[Problem] = []

    found = labels([("mug", [-5, 10, 90, 70]), ("mug", [-0.5, 0, 80.5, 60.5])], met.append)

    assert found.boxes.tolist() == [[0, 10, 80, 60], [0, 0, 80, 60]]
    assert [(one.record, one.breaks, one.kind) for one in met] == [("annotation 0 of image 5", False, "clipped box")]


def test_one_bad_mark_costs_the_frame_and_the_others_are_still_looked_at():
    met: list[Problem] = []

    found = labels([("mug", None), ("mug", [0, 0, 10, 10]), ("plate", [0, 0, 1, 1])], met.append)

    assert found is None
    assert [(one.record, one.kind, one.frame) for one in met] == [
        ("annotation 0 of image 5", "box", 0),
        ("annotation 2 of image 5", "class", 0),
    ]


def test_the_classes_that_are_known_are_named_in_short():
    told = FrameProblems(raise_problem, Path("a.json"), "image 5", 0)

    with pytest.raises(InvalidData, match=r"no class 'mug'. Known: x+\.\.\., a\\nb\.") as error:
        make_labels([Annotation("annotation 0", "mug", [0, 0, 1, 1], "xyxy")], (9, 9), {"x" * 9000: 0, "a\nb": 1}, told)
    assert len(str(error.value)) < 200
