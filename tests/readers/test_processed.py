"""The authors' layout: lists by step, one JSON a frame, a published choice of labels at each cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from leocod.errors import InvalidData, UnknownName
from leocod.readers.processed import read_processed

FRAMES: list[tuple[str, int, tuple[int, int], list[Any]]] = [
    ("train", 0, (60, 80), [("mug", [0, 10, 20, 30], 0), ("book", [0, 10, 20, 30], 1)]),
    ("train", 0, (80, 60), [("book", [5.5, 6, 50, 80], 0)]),
    ("test", 0, (60, 80), [("mug", [1, 2, 3, 4], 1)]),
    ("train", 1, (60, 80), []),
]


@pytest.fixture
def root(tmp_path, a_picture, a_json) -> Path:
    """Two steps, the last one short; the second frame is portrait, the fourth is empty."""
    rows: dict[str, list[str]] = {"train": [], "test": []}
    for number, (part, step, size, marks) in enumerate(FRAMES):
        name = f"step_{step:05d}/f{number}"
        a_picture(tmp_path / "oak" / "images" / f"{name}.png", size)
        annotations = [{"category": name, "bbox": box, "bbox_mode": mode} for name, box, mode in marks]
        content = {"file_name": f"/their/disk/f{number}.png", "height": size[0], "width": size[1]}
        a_json(tmp_path / f"oak/annotations/{name}.json", {**content, "image_id": number, "annotations": annotations})
        rows[part].append(f"step_{step:05d},oak/annotations/{name}.json")
    a_json(tmp_path / "oak" / "mapping.json", {"mug": 1, "book": 0})
    (tmp_path / "oak" / "test.csv").write_text("\n".join(["step_name,json_file", *rows["test"]]))
    for cost, oracle in ((2, "111"), (1, "010")):
        lines = [f"{row},{flag}" for row, flag in zip(rows["train"], oracle, strict=True)]
        (tmp_path / f"oak/train_anno{cost}.csv").write_text("\n".join(["step_name,json_file,oracle", *lines]))
    return tmp_path


def changed(file: Path, **values: Any) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))


def test_every_frame_is_read_box_for_box(root, boxes):
    found = read_processed(root)

    assert found.classes == ("book", "mug")
    assert [entry.picture.relative_to(root).as_posix() for entry in found.entries] == [
        "oak/images/step_00000/f0.png",
        "oak/images/step_00000/f1.png",
        "oak/images/step_00000/f2.png",
        "oak/images/step_00001/f3.png",
    ]
    assert [(entry.id, entry.step, entry.held_out) for entry in found.entries] == [
        (0, 0, False),
        (1, 0, False),
        (2, 0, True),
        (3, 1, False),
    ]
    assert [entry.size for entry in found.entries] == [(60, 80), (80, 60), (60, 80), (60, 80)]
    assert boxes(found) == [
        [("mug", 0, 10, 20, 30), ("book", 0, 10, 20, 40)],
        [("book", 5.5, 6, 50, 80)],
        [("mug", 1, 2, 4, 6)],
        [],
    ]


def test_the_published_choice_is_told_for_each_cost(root):
    assert read_processed(root).given == {2: {0, 1, 3}, 1: {1}}


def test_a_class_may_be_given_by_its_number(root, boxes):
    annotations = [{"category": 1, "bbox": [1, 2, 3, 4], "bbox_mode": 0}]
    changed(root / "oak/annotations/step_00001/f3.json", annotations=annotations)

    assert boxes(read_processed(root))[3] == [("mug", 1, 2, 3, 4)]


def test_chosen_classes_are_the_only_ones(root, boxes):
    assert boxes(read_processed(root, classes=["mug"]))[:2] == [[("mug", 0, 10, 20, 30)], []]
    with pytest.raises(UnknownName, match="mugs"):
        read_processed(root, classes=["mugs"])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"annotations": [{"category": "plate", "bbox": [0, 0, 1, 1], "bbox_mode": 0}]},
            "annotation 0: no class 'plate'",
        ),
        ({"annotations": [{"category": 2, "bbox": [0, 0, 1, 1], "bbox_mode": 0}]}, "annotation 0: no class 2"),
        ({"annotations": [{"category": "mug", "bbox": [0, 0, 1, 1], "bbox_mode": 2}]}, "bbox_mode is 2"),
        ({"annotations": [{"category": "mug", "bbox": [0, 0, 1, 1], "bbox_mode": True}]}, "bbox_mode is True"),
        ({"annotations": [{"category": "mug", "bbox": [5, 0, 1, 1], "bbox_mode": 0}]}, "no area"),
        ({"annotations": [7]}, "annotation 0: it is 7"),
        ({"annotations": {"category": 1}}, "list of 'annotations'"),
        ({"height": None, "width": None}, "no height and width"),
        ({"height": 6.5}, "height and width are 6.5"),
        ({"file_name": "other.png"}, r"other\.png: no such file"),
    ],
)
def test_a_bad_frame_is_told_and_the_others_are_as_before(root, boxes, met, values, said):
    whole = read_processed(root)
    changed(root / "oak/annotations/step_00000/f1.json", **values)

    with pytest.raises(InvalidData, match=rf"f1\.json.*{said}"):
        read_processed(root)
    found = read_processed(root, report=met.append)

    assert [entry.broken for entry in found.entries] == [False, True, False, False]
    assert [problem.frame for problem in met] == [1]
    assert boxes(found)[0] == boxes(whole)[0]
    assert boxes(found)[2:] == boxes(whole)[2:]
    assert found.given == whole.given


def test_the_cut_file_of_one_frame_costs_that_frame(root, met):
    file = root / "oak/annotations/step_00000/f1.json"
    file.write_text(file.read_text()[:30])

    with pytest.raises(InvalidData, match=r"f1\.json: .*cannot be read"):
        read_processed(root)
    assert [entry.broken for entry in read_processed(root, report=met.append).entries] == [False, True, False, False]


def test_a_frame_that_is_listed_twice_is_told(root):
    file = root / "oak" / "test.csv"
    file.write_text(file.read_text().replace("f2", "f0"))

    with pytest.raises(InvalidData, match=r"f0\.json: .*test\.csv, line 2 lists it a second time"):
        read_processed(root)


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("train_anno2.csv", "step_00001", "step_00002", "line 4: 'step_00002' comes after step_00000"),
        ("train_anno2.csv", "step_00000,oak/annotations/step_00000/f0", "step_00001,x", "'step_00001' comes first"),
        ("train_anno2.csv", "step_00001,", "first,", "'first' comes after step_00000"),
        ("train_anno1.csv", "step_00001/f3", "step_00001/f9", "line 4: it lists other frames than train_anno2.csv"),
        ("train_anno1.csv", ",1\n", ",yes\n", "line 3: oracle is 'yes'"),
        ("train_anno1.csv", "oracle", "orakel", "no column 'oracle'"),
        ("mapping.json", "{", '{"a\\u001b": 2, ', "its name has a control character"),
        ("mapping.json", ": 1", ": 2", "numbered 0 to 1, each once"),
        ("mapping.json", ": 1", ': "1"', "class names, each with its number"),
        ("mapping.json", "}", "", "cannot be read"),
    ],
)
def test_wrong_lists_are_an_error_for_everybody(root, met, name, old, new, said):
    file = root / "oak" / name
    file.write_text(file.read_text().replace(old, new, 1))

    with pytest.raises(InvalidData, match=rf"{name}.*{said}"):
        read_processed(root, report=met.append)


def test_steps_that_go_back_are_told(root):
    file = root / "oak" / "train_anno2.csv"
    header, first, second, third = file.read_text().splitlines()
    file.write_text("\n".join([header, first, third, second]))

    with pytest.raises(InvalidData, match="line 4: 'step_00000' comes after step_00001"):
        read_processed(root)


def test_a_root_without_lists_or_with_two_is_told(root):
    with pytest.raises(InvalidData, match="name the folder above"):
        read_processed(root / "oak")
    (root / "ego").mkdir()
    (root / "ego" / "train_anno1.csv").touch()
    with pytest.raises(InvalidData, match="in ego, oak: keep one"):
        read_processed(root)


def test_a_frame_outside_annotations_is_told(root):
    for file in (root / "oak").glob("train*.csv"):
        file.write_text(file.read_text().replace("oak/annotations/step_00001/f3", "oak/f3"))
    (root / "oak" / "f3.json").write_text('{"annotations": []}')

    with pytest.raises(InvalidData, match=r"f3\.json: it is not under a folder 'annotations'"):
        read_processed(root)


@pytest.mark.parametrize("folder", ["../annotations", "/annotations"])
def test_a_list_that_leads_out_of_the_root_costs_the_frame_and_opens_nothing(root, met, folder):
    file = root / "oak" / "test.csv"
    file.write_text(file.read_text().replace("oak/annotations", folder, 1))

    with pytest.raises(InvalidData, match=r"test\.csv, line 2: the path .* leads outside"):
        read_processed(root)
    found = read_processed(root, report=met.append)

    assert [one.kind for one in met] == ["path"]
    assert [(entry.held_out, entry.picture) for entry in found.entries if entry.broken] == [(True, file)]


def test_lines_are_counted_with_empty_ones_which_change_nothing(root):
    whole = read_processed(root)
    file = root / "oak" / "train_anno1.csv"
    header, first, *rest = file.read_text().splitlines()
    file.write_text("\n".join([header, "", first, *rest]))

    found = read_processed(root)
    file.write_text(file.read_text().replace(",0", ",no").replace(",1", ",yes"))

    assert found.given == whole.given
    with pytest.raises(InvalidData, match=r"train_anno1\.csv, line 3: oracle is"):
        read_processed(root)


@pytest.mark.parametrize("name", ["train_anno\n.csv", "train_anno5\n6.csv"])
def test_an_odd_name_of_a_list_is_told_in_one_line(root: Path, name: str) -> None:
    (root / "oak" / name).touch()

    with pytest.raises(InvalidData, match=r"its name should be train_anno<k>\.csv") as told:
        read_processed(root)
    assert str(told.value).isprintable()


def test_a_list_of_very_many_classes_is_refused_at_once(root: Path) -> None:
    (root / "oak" / "mapping.json").write_text(json.dumps({str(number): number for number in range(200_000)}))

    with pytest.raises(InvalidData, match=r"mapping\.json names 200000 classes: at most 20000"):
        read_processed(root)
