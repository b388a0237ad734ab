from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image as PillowImage

from leocod.data.check import Findings, check
from leocod.errors import InvalidData

SIZE = (12, 20)


PLACE: dict[int, dict[str, Any]] = {n: {"step": 0, "held_out": n == 3} for n in (1, 2, 3)}


def picture(path: Path, size: tuple[int, int] = SIZE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    PillowImage.fromarray(np.random.default_rng(0).integers(0, 255, (*size, 3), dtype=np.uint8)).save(path)
    return path


def coco(folder: Path, change: Callable[[dict[str, Any]], None] = lambda content: None) -> Path:
    """Three frames of one video, the last without objects and held out."""
    content: dict[str, Any] = {
        "videos": [{"id": 1, "name": "walk"}],
        "categories": [{"id": 1, "name": "mug"}, {"id": 2, "name": "book"}],
        "images": [
            {"id": n, "file_name": f"{n}.jpg", "height": 12, "width": 20, "video_id": 1, "frame_id": n, **PLACE[n]}
            for n in (1, 2, 3)
        ],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 5, 6]},
            {"id": 2, "image_id": 2, "category_id": 2, "bbox": [3, 2, 5, 6]},
        ],
    }
    for image in content["images"]:
        picture(folder / "images" / image["file_name"])
    change(content)
    (folder / "annotations.json").write_text(json.dumps(content))
    return folder


def kinds(findings: Findings, *, breaks: bool) -> list[str]:
    return [problem.kind for problem in findings.problems if problem.breaks is breaks]


def test_nothing_is_found_where_nothing_is_wrong(tmp_path: Path) -> None:
    findings = check(coco(tmp_path))

    assert list(findings.lines(20)) == [
        f"{tmp_path}: coco layout, 3 frames, 3 of them labelled, 1 of these without objects, 2 objects, 2 classes.",
        "Nothing is wrong.",
    ]
    assert not findings.breaks


def set_value(group: str, position: int, key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(content: dict[str, Any]) -> None:
        content[group][position][key] = value

    return change


@pytest.mark.parametrize(
    ("change", "kind", "told"),
    [
        (set_value("images", 1, "file_name", "none.jpg"), "picture", "none.jpg: no such file"),
        (set_value("images", 1, "height", 13), "size", "it is 20 x 12 pixels large, but its record says 20 x 13"),
        (set_value("images", 1, "id", 1), "duplicate id", "another image has the same id"),
        (set_value("annotations", 0, "bbox", [1, 2, 0, 6]), "box", "annotation 1 of image 1: the box is [1, 2, 0, 6]"),
        (set_value("annotations", 0, "bbox", [1, 2, float("nan"), 6]), "box", "it should be four numbers"),
        (set_value("annotations", 0, "bbox", [30, 2, 5, 6]), "box", "lies outside its frame of 20 x 12"),
        (set_value("annotations", 0, "category_id", 7), "class", "no class 7"),
        (set_value("annotations", 0, "image_id", 9), "stray annotation", "there is no image 9"),
        (set_value("images", 0, "video_id", 4), "order", "its video_id is 4"),
        (set_value("images", 0, "file_name", "../1.jpg"), "path", "image 1: the path '../1.jpg' leads outside"),
        (set_value("images", 0, "id", [1]), "file", "number 0 of 'images': its id is [1]"),
        (set_value("images", 0, "video_id", [1]), "order", "image 1: its video_id is [1]"),
        (set_value("annotations", 0, "iscrowd", "0"), "crowd", "annotation 1 of image 1: its iscrowd is '0'"),
    ],
)
def test_what_would_stop_a_run_is_found_and_told(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], kind: str, told: str
) -> None:
    findings = check(coco(tmp_path, change))

    assert findings.breaks
    assert kind in kinds(findings, breaks=True)
    assert any(told in line for line in findings.lines(20))


@pytest.mark.parametrize(
    ("change", "kind", "told"),
    [
        (set_value("annotations", 0, "bbox", [15, 2, 9, 6]), "clipped box", "annotation 1 of image 1: the box"),
        (set_value("annotations", 0, "category_id", 2), "unused class", "class 'mug': no usable frame shows it"),
        (set_value("annotations", 1, "id", 1), "duplicate id", "annotation 1: 2 annotations are called that"),
        (set_value("annotations", 1, "iscrowd", 1), "crowd", "annotation 2 of image 2"),
        (set_value("images", 2, "labelled", False), "unlabelled frame", "3.jpg: nobody has labelled it"),
        (set_value("images", 2, "labelled", False), "no test frame", "no labelled frame is held out"),
        (set_value("images", 1, "file_name", "1.jpg"), "duplicate picture", "image 2: its picture '1.jpg' is that of"),
    ],
)
def test_what_a_run_can_live_with_is_told_too(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], kind: str, told: str
) -> None:
    findings = check(coco(tmp_path, change))

    assert not findings.breaks
    assert kind in kinds(findings, breaks=False)
    assert any(told in line for line in findings.lines(20))


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (1, "image 3: its frame number 1 does not come after 2"),
        ("3", "image 3: its frame_id is '3', while other frames of its video have a whole number"),
        (None, "image 3: its frame_id is None, while"),
    ],
)
def test_an_order_that_is_not_that_of_the_numbers_is_told(tmp_path: Path, number: Any, told: str) -> None:
    def change(content: dict[str, Any]) -> None:
        for image in content["images"]:
            del image["step"]
        content["images"][2]["frame_id"] = number

    findings = check(coco(tmp_path, change))

    assert [(one.kind, one.breaks) for one in findings.problems] == [("order", False), ("no test frame", False)]
    assert told in str(findings.problems[0])


def test_every_path_that_leaves_the_root_is_listed(tmp_path: Path) -> None:
    def change(content: dict[str, Any]) -> None:
        for image in content["images"]:
            image["file_name"] = f"../{image['file_name']}"

    findings = check(coco(tmp_path, change))

    assert kinds(findings, breaks=True) == ["path"] * 3


def test_an_odd_file_name_stays_in_its_line(tmp_path: Path) -> None:
    findings = check(coco(tmp_path, set_value("images", 1, "file_name", "a\nb[red]\x1b.jpg")))

    assert all(line.isprintable() for line in findings.lines(20))
    assert any(r"a\nb[red]\x1b.jpg: no such file" in line for line in findings.lines(20))


def test_a_cut_picture_is_found_by_decoding_it_and_not_by_its_header(tmp_path: Path) -> None:
    file = coco(tmp_path) / "images" / "2.jpg"
    file.write_bytes(file.read_bytes()[:-200])

    whole, quick = check(tmp_path), check(tmp_path, quick=True)

    assert kinds(whole, breaks=True) == ["picture"]
    assert str(whole.problems[0]).startswith(f"{file}, frame 1 of walk: it is not a readable image")
    assert not quick.problems


def test_an_empty_picture_is_told_once(tmp_path: Path) -> None:
    (coco(tmp_path) / "images" / "2.jpg").write_bytes(b"")

    findings = check(tmp_path)

    assert kinds(findings, breaks=True) == ["picture"]
    assert "the file is empty" in str(findings.problems[0])


def test_a_picture_is_looked_at_even_if_its_boxes_are_wrong(tmp_path: Path) -> None:
    coco(tmp_path, set_value("annotations", 0, "bbox", [1, 2, 0, 6]))
    picture(tmp_path / "images" / "1.jpg", (5, 5))

    assert kinds(check(tmp_path), breaks=True) == ["box", "size"]


def test_only_so_many_are_listed_but_all_are_counted(tmp_path: Path) -> None:
    coco(tmp_path)
    for number in (1, 2, 3):
        (tmp_path / "images" / f"{number}.jpg").unlink()

    lines = list(check(tmp_path).lines(2))

    assert lines[1] == "picture: 3, would stop a run"
    assert len([line for line in lines if "no such file" in line]) == 2
    assert lines[4] == "  ... and 1 more"
    assert lines[-1] == "6 problems, 3 of which would stop a run."


def test_a_cut_json_is_one_problem_that_would_stop_a_run(tmp_path: Path) -> None:
    file = coco(tmp_path) / "annotations.json"
    file.write_text(file.read_text()[:100])

    findings = check(tmp_path)

    assert kinds(findings, breaks=True) == ["file"]
    lines = list(findings.lines(1))
    assert lines[0] == f"{tmp_path}: coco layout, which cannot be read."
    assert lines[2].startswith(f"  {file} cannot be read")


def test_the_folder_that_was_meant_is_named(tmp_path: Path) -> None:
    processed(tmp_path / "data")

    with pytest.raises(InvalidData, match=r"Did you mean the folder around it, .*/data\?"):
        check(tmp_path / "data" / "clip")
    with pytest.raises(InvalidData, match=r"Did you mean .*/data\?"):
        check(tmp_path)


def test_a_turned_picture_is_told_of_where_it_is_not_turned(tmp_path: Path) -> None:
    coco(tmp_path)
    note = PillowImage.Exif()
    note[0x0112] = 3
    PillowImage.new("RGB", (20, 12)).save(tmp_path / "images" / "2.jpg", exif=note)

    stored, upright = check(tmp_path), check(tmp_path / "images", labels=tmp_path / "annotations.json")

    assert kinds(stored, breaks=False) == ["turned picture"]
    assert "EXIF orientation 3" in str(stored.problems[0])
    assert kinds(upright, breaks=False) == ["no test frame"]
    assert not stored.breaks


def test_what_is_not_there_cannot_be_checked(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match="No file or folder"):
        check(tmp_path / "none")
    with pytest.raises(InvalidData, match="no data in a known layout. Known: processed, oak"):
        check(tmp_path)


def processed(folder: Path, *, rows: str = "step_00000,clip/annotations/a.json,1\n") -> Path:
    (folder / "clip" / "annotations").mkdir(parents=True)
    (folder / "clip" / "mapping.json").write_text('{"mug": 0}')
    (folder / "clip" / "train_anno1.csv").write_text(f"step_name,json_file,oracle\n{rows}")
    (folder / "clip" / "test.csv").write_text("step_name,json_file\nstep_00000,clip/annotations/b.json\n")
    box = {"category": "mug", "bbox": [1, 2, 5, 6], "bbox_mode": 0}
    for name in ("a", "b"):
        picture(folder / "clip" / "images" / f"{name}.png")
        frame = {"file_name": f"{name}.png", "height": 12, "width": 20, "image_id": 1, "annotations": [box]}
        (folder / "clip" / "annotations" / f"{name}.json").write_text(json.dumps(frame))
    return folder


def oak(folder: Path) -> Path:
    one = {"id": 1, "category": "mug", "box2d": {"x1": 1, "y1": 2, "x2": 5, "y2": 6}}
    for number, labels in ((1, "Label"), (2, "Label_test")):
        picture(folder / "Raw" / "0" / f"walk_{number}.jpg")
        (folder / labels / "0").mkdir(parents=True)
        (folder / labels / "0" / f"walk_{number}.json").write_text(json.dumps([one]))
    return folder


def egoobjects(folder: Path) -> Path:
    def seventeen(content: dict[str, Any]) -> None:
        content["images"] += [{**content["images"][0], "id": n, "file_name": f"{n}.jpg"} for n in range(4, 18)]

    coco(folder, seventeen)
    for number in range(4, 18):
        picture(folder / "images" / f"{number}.jpg")
    (folder / "annotations.json").rename(folder / "EgoObjectsV1_unified_train.json")
    return folder


def voc(folder: Path) -> Path:
    for number in range(17):
        picture(folder / "JPEGImages" / f"{number}.jpg")
        file = folder / "Annotations" / f"{number}.xml"
        file.parent.mkdir(exist_ok=True)
        box = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>5</xmax><ymax>6</ymax></bndbox>"
        file.write_text(f"<annotation><object><name>mug</name>{box}</object></annotation>")
    return folder


def test_what_is_wrong_with_xml_files_is_found(tmp_path: Path) -> None:
    folder = voc(tmp_path) / "Annotations"
    (folder / "0.xml").write_text("<!DOCTYPE a><annotation/>")
    (folder / "1.xml").write_text("<annotation><size><width>30</width><height>12</height></size></annotation>")
    (folder / "2.xml").unlink()
    (folder / "nothing.xml").write_text("<annotation/>")

    findings = check(tmp_path)

    assert sorted(kinds(findings, breaks=True)) == ["file", "picture", "size"]
    assert kinds(findings, breaks=False) == ["unlabelled frame"]
    lines = "\n".join(findings.lines(9))
    assert "0.xml: it cannot be read (line 1: a document type is declared (<!DOCTYPE ...>). Take it out)" in lines
    assert "it is 20 x 12 pixels large, but its record says 30 x 12" in lines
    assert "nothing.jpg: no such file" in lines


def test_the_folder_of_a_voc_data_set_is_suggested(tmp_path: Path) -> None:
    voc(tmp_path / "VOC2007")

    with pytest.raises(InvalidData, match=r"Did you mean .*/VOC2007\?"):
        check(tmp_path)


def pictures(folder: Path) -> Path:
    picture(folder / "1.png")
    return folder


@pytest.mark.parametrize(
    ("make", "layout"),
    [
        (coco, "coco"),
        (processed, "processed"),
        (oak, "oak"),
        (egoobjects, "egoobjects"),
        (voc, "voc"),
        (pictures, "folder"),
    ],
)
def test_the_layout_is_found_by_what_is_there(tmp_path: Path, make: Callable[[Path], Path], layout: str) -> None:
    findings = check(make(tmp_path))

    assert findings.layout == layout
    assert findings.problems == ()


def test_two_layouts_in_one_folder_must_be_told_apart_by_the_user(tmp_path: Path) -> None:
    oak(processed(tmp_path))

    with pytest.raises(InvalidData, match="looks like processed and oak. Say which with --layout"):
        check(tmp_path)
    assert check(tmp_path, "oak").layout == "oak"


def test_two_json_files_in_one_folder_must_be_told_apart_by_the_user(tmp_path: Path) -> None:
    coco(tmp_path)
    (tmp_path / "other.json").write_text("{}")

    assert "holds 2 JSON files" in str(check(tmp_path).problems[0])
    assert not check(tmp_path / "annotations.json").problems


def test_steps_out_of_order_would_stop_a_run(tmp_path: Path) -> None:
    row = "clip/annotations/a.json,1\n"

    findings = check(processed(tmp_path, rows=f"step_00001,{row}step_00000,{row}"))

    assert findings.breaks
    assert "Steps should be in order" in str(findings.problems[0])


def film(path: Path, frames: int = 4) -> Path:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=5)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        random = np.random.default_rng(0)
        for _ in range(frames):
            pixels = random.integers(0, 255, (48, 64, 3), dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
    return path


def test_every_frame_of_a_video_is_looked_at(tmp_path: Path) -> None:
    totals: list[int] = []

    findings = check(film(tmp_path / "walk.mp4"), progress=totals.append)

    assert (findings.layout, findings.problems) == ("video", ())
    assert totals == [4, 4, 4, 4]


def test_a_video_that_is_none_would_stop_a_run(tmp_path: Path) -> None:
    (tmp_path / "walk.mp4").write_bytes(b"no video at all")

    findings = check(tmp_path / "walk.mp4")

    assert "is not a readable video" in str(findings.problems[0])
    assert findings.breaks


def test_the_labels_of_a_folder_are_checked_against_it(tmp_path: Path) -> None:
    coco(tmp_path)
    (tmp_path / "images" / "3.jpg").unlink()

    findings = check(tmp_path / "images", labels=tmp_path / "annotations.json")

    assert findings.layout == "folder"
    assert kinds(findings, breaks=True) == []
    assert "stray annotation" in kinds(findings, breaks=False)
    assert "2 of 3 labelled images were found in" in str(findings.problems[0])


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("labels/0.txt", "5 0.5 0.5 0.5 0.5\n", "labels/0.txt, line 1: no class 5. Known: 0, 1"),
        ("labels/0.txt", "0 0.5 0.5 0 0.5\n", "labels/0.txt, line 1: the box is"),
        ("labels/0.txt", "0 0.5 0.5\n", "labels/0.txt, line 1: it is '0 0.5 0.5'"),
        ("labels/2.txt", "0 1.5 0.5 0.5 0.5\n", "labels/2.txt, line 1: the box"),
    ],
)
def test_a_bad_line_of_yolo_is_told_with_its_file(tmp_path: Path, file: str, text: str, told: str) -> None:
    for number in range(3):
        (tmp_path / "images").mkdir(exist_ok=True)
        PillowImage.new("RGB", (20, 10)).save(tmp_path / "images" / f"{number}.png")
    (tmp_path / "labels").mkdir()
    (tmp_path / "classes.txt").write_text("mug\nbook\n")
    (tmp_path / file).write_text(text)

    findings = check(tmp_path)

    assert findings.layout == "yolo"
    assert findings.breaks
    assert any(told in str(problem) for problem in findings.problems), findings.problems


def test_labels_apart_go_with_frames_only(tmp_path: Path) -> None:
    coco(tmp_path)

    with pytest.raises(InvalidData, match="the coco layout has its own"):
        check(tmp_path, "coco", labels=tmp_path / "annotations.json")
    with pytest.raises(InvalidData, match="No file or folder '.*none.json'"):
        check(tmp_path / "images", labels=tmp_path / "none.json")
    with pytest.raises(InvalidData, match=r"--labels goes with .* but .*annotations\.json is a json"):
        check(tmp_path / "annotations.json", labels=tmp_path / "annotations.json")


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (set_value("images", 1, "video_id", None), "order"),
        (set_value("images", 1, "video_id", [1]), "order"),
        (set_value("images", 1, "file_name", "1.jpg"), "duplicate picture"),
        (set_value("annotations", 1, "id", 1), "duplicate id"),
    ],
)
def test_the_released_egoobjects_is_checked_as_closely(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], kind: str
) -> None:
    file = egoobjects(tmp_path) / "EgoObjectsV1_unified_train.json"
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))

    assert [problem.kind for problem in check(tmp_path).problems] == [kind]


def test_what_is_neither_file_nor_folder_is_told() -> None:
    with pytest.raises(InvalidData, match="/dev/null: not a file, nor a folder"):
        check(Path("/dev/null"))
