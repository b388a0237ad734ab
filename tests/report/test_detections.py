"""Detections are read back as they were stored, or the error names the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leocod.errors import InvalidRun
from leocod.report.detections import PREQUENTIAL, StoredTest, name_detections, read_prequential

MakeRun = Callable[..., Path]

BOX = {"image_id": 1, "category_id": 1, "bbox": [10.0, 10.0, 20.0, 20.0]}


def test_truth_and_detections_are_those_of_the_files(whole_run: Path) -> None:
    test = StoredTest.read(whole_run)

    found = test.read_detections(59)

    assert (test.classes[0], sorted(test.truth)) == ("mug", [1, 2])
    assert test.truth[1].boxes.tolist() == [[10, 10, 30, 30]]
    assert found[1].classes.tolist() == [0, 2]
    assert found[2].scores.tolist() == pytest.approx([0.1])


def test_precision_is_in_points_and_nan_without_a_test_box(whole_run: Path) -> None:
    table = StoredTest.read(whole_run).score([59], "coco")

    # Both are found, the laptop with a low score; nothing else is taken for one of them.
    assert table.tolist()[0][:2] == pytest.approx([100.0, 100.0])
    assert np.isnan(table[0, 2:]).all()


def test_it_knows_what_was_kept(whole_run: Path) -> None:
    test = StoredTest.read(whole_run)

    assert test.has_detections(59)
    assert not test.has_detections(49)
    assert not test.has_detections(-1)
    assert name_detections(-1) == "start.json"


def test_errors_are_those_of_the_detections(whole_run: Path) -> None:
    assert StoredTest.read(whole_run).count_errors(59).total["wrong_class"] == 1


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        ("test.json", {"images": [{"id": 1}, {"id": 1}]}, "images: an id is there twice"),
        ("test.json", {"images": [{"id": 1}]}, "a box in frame 2, which is no test frame"),
        ("test.json", {"images": [{"id": "one"}]}, r"images\.0\.id: "),
        ("test.json", {"categories": [{"id": 2, "name": "mug"}]}, "categories: their ids should be 1, 2, 3"),
        ("test.json", {"categories": [{"id": 1, "name": "mug"}]}, "a box of class 2, but the run has 1 class"),
        ("test.json", {"annotations": [BOX | {"bbox": [1, 1, 0, 5]}]}, "Box 0 is .*: corners must be finite"),
        ("test.json", {"annotations": [BOX | {"bbox": [1, 1, 5]}]}, r"annotations\.0\.bbox"),
        ("test.json", {"annotations": [BOX | {"bbox": [1, 1, 1e30, 5]}]}, r"annotations\.0\.bbox"),
        ("detections/step_00059.json", [BOX | {"image_id": 7}], "a box in frame 7, which is no test frame"),
        ("detections/step_00059.json", [BOX | {"category_id": 7}], "a box of class 7, but the run has 6 classes"),
        ("detections/step_00059.json", [BOX | {"category_id": 0}], r"0\.category_id: "),
        ("detections/step_00059.json", [BOX | {"score": 2}], r"0\.score: "),
        ("detections/step_00059.json", {}, "content: Input should be a valid list"),
    ],
)
def test_what_cannot_be_is_refused_with_its_file(a_run: MakeRun, name: str, change: Any, complaint: str) -> None:
    path = a_run()
    content = json.loads((path / name).read_text())
    (path / name).write_text(json.dumps(change if isinstance(change, list) or "det" in name else content | change))

    with pytest.raises(InvalidRun, match=rf"{name} cannot be read \({complaint}"):
        StoredTest.read(path).score([59], "coco")


def test_a_link_to_elsewhere_is_refused(a_run: MakeRun, tmp_path: Path) -> None:
    path = a_run()
    file = path / "detections" / "step_00059.json"
    file.rename(tmp_path / "elsewhere.json")
    file.symlink_to(tmp_path / "elsewhere.json")

    with pytest.raises(InvalidRun, match="leads out of the run directory"):
        StoredTest.read(path).read_detections(59)


FRAME = {"id": 3, "truth": [[0, 0, 9, 9, 0]], "boxes": [[0, 0, 9, 9, 0, 0.9]]}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ({"step": -1, "frames": []}, "line 2: step: "),
        ({"step": 1, "frames": [FRAME | {"truth": [[0, 0, 9, 9]]}]}, r"line 2: frames\.0\.truth"),
        ({"step": 1, "frames": [FRAME | {"truth": [[9, 0, 0, 9, 0]]}]}, "line 2: Box 0 is"),
        ({"step": 1, "frames": [FRAME | {"truth": [[0, 0, 9, 9, 5]]}]}, "line 2: Frame 3: true class 5"),
        ({"step": 1, "frames": [FRAME | {"boxes": [[0, 0, 9, 9, 5, 0.5]]}]}, "line 2: Frame 3: a detection of a class"),
    ],
)
def test_a_step_that_cannot_be_is_named_by_its_line(tmp_path: Path, line: dict[str, Any], complaint: str) -> None:
    file = tmp_path / "detections" / PREQUENTIAL
    file.parent.mkdir()
    good = json.dumps({"step": 0, "frames": [FRAME]})
    file.write_text(good + "\n")
    assert read_prequential(tmp_path, 2, "coco") == pytest.approx([100.0, np.nan], nan_ok=True)

    file.write_text(f"{good}\n{json.dumps(line)}\n")

    with pytest.raises(InvalidRun, match=rf"{PREQUENTIAL} cannot be read \({complaint}"):
        read_prequential(tmp_path, 2, "coco")


def test_a_line_that_was_cut_off_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "detections" / PREQUENTIAL
    file.parent.mkdir()
    file.write_text(json.dumps({"step": 0, "frames": [FRAME]}) + '\n{"step": 1, "fra')

    assert read_prequential(tmp_path, 1, "coco") == pytest.approx([100.0])


@pytest.mark.parametrize("content", ["", "\n", '{"step": 0'])
def test_a_file_without_a_whole_step_is_as_good_as_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "detections").mkdir()
    (tmp_path / "detections" / PREQUENTIAL).write_text(content)

    assert read_prequential(tmp_path, 2, "coco") is None
