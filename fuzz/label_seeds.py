"""Small valid labels of every tool, each beside a folder of three frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seeds import CLASSES, HEIGHT, WIDTH, coco_content, write_json, write_picture

LABELS = "".join(f"<label><name>{name}</name><attributes></attributes></label>" for name in CLASSES)
SIZE = f"<width>{WIDTH}</width><height>{HEIGHT}</height>"
CORNERS = 'xtl="1.00" ytl="2.50" xbr="6.00" ybr="7.00"'


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _write_frames(root: Path, form: str = "{}.png") -> None:
    for number in range(3):
        write_picture(root / "frames" / form.format(number), number)


def write_yolo(folder: Path) -> None:
    """As Ultralytics has it, and as Darknet does."""
    lines = "".join(f"{number} 0.5 0.5 0.25 0.5\n" for number in range(2))
    for name, lists, place in (
        ("ultralytics", {"data.yaml": "train: images\nnames: {0: mug, 1: book}\n"}, "labels/train"),
        ("darknet", {"obj.names": "mug\nbook\n", "obj.data": "classes = 2\n"}, "obj_train_data"),
    ):
        _write_frames(folder / name)
        for file, text in lists.items():
            _write(folder / name / "labels" / file, text)
        for number in range(3):
            _write(folder / name / "labels" / place / f"{number}.txt", lines if number else "")


def write_frame_names(folder: Path) -> None:
    """Which frame of a video a name means."""
    _write(folder / "table" / "names.csv", 'name,video,frame\na.jpg,walk.mp4,12\n"b, c.png",,3\n')


def write_voc(folder: Path) -> None:
    """XML files right in a folder."""
    _write_frames(folder / "voc")
    box = "<bndbox><xmin>2</xmin><ymin>1</ymin><xmax>9.5</xmax><ymax>8</ymax></bndbox>"
    for number in range(3):
        things = "".join(f"<object><name>{name}</name>{box}</object>\n" for name in CLASSES[:number])
        text = f"<annotation><filename>x</filename><size>{SIZE}</size>\n{things}</annotation>"
        _write(folder / "voc" / "labels" / f"{number}.xml", text)


def write_cvat(folder: Path) -> None:
    """Images with boxes and a polygon; tracks by frame."""
    task = f"<task><size>3</size><labels>{LABELS}</labels>"
    _write_frames(folder / "images")
    boxes = "".join(f'<box label="{name}" occluded="0" {CORNERS} z_order="0"></box>\n' for name in CLASSES)
    polygon = '<polygon label="mug" points="1.00,2.00;3.00,4.00;5.00,1.00"></polygon>'
    images = "".join(
        f'<image id="{number}" name="task/{number}.png" width="{WIDTH}" height="{HEIGHT}">{boxes}{polygon}</image>\n'
        for number in range(3)
    )
    text = f"<annotations><version>1.1</version><meta>{task}</task></meta>\n{images}</annotations>"
    _write(folder / "images" / "labels" / "annotations.xml", text)
    _write_frames(folder / "tracks", "frame_00000{}.png")
    tracks = "".join(
        f'<track id="{id}" label="{name}">'
        + "".join(
            f'<box frame="{number}" keyframe="1" outside="{number // 2}" occluded="0" {CORNERS}></box>\n'
            for number in range(3)
        )
        + "</track>"
        for id, name in enumerate(CLASSES)
    )
    meta = f"<meta>{task}<original_size>{SIZE}</original_size><source>a.mp4</source></task></meta>"
    _write(folder / "tracks" / "labels" / "annotations.xml", f"<annotations>{meta}\n{tracks}</annotations>")


def write_label_studio(folder: Path) -> None:
    """Tasks of uploaded pictures: one labelled, one empty, one skipped."""
    _write_frames(folder / "tasks")
    value = {"x": 10, "y": 20.5, "width": 30, "height": 40, "rotation": 0}
    results = [
        {
            "type": "rectanglelabels",
            "original_width": WIDTH,
            "original_height": HEIGHT,
            "image_rotation": 0,
            "value": {**value, "rectanglelabels": [name]},
        }
        for name in CLASSES
    ]
    tasks: list[Any] = [
        {
            "id": number,
            "data": {"image": f"/data/upload/1/2f0a-{number}.png"},
            "annotations": [{"result": results[: 2 - number], "was_cancelled": number == 2, "ground_truth": False}],
        }
        for number in range(3)
    ]
    write_json(folder / "tasks" / "labels" / "tasks.json", tasks)


def write_coco(folder: Path) -> None:
    """A COCO file in a folder of its own."""
    _write_frames(folder / "coco")
    write_json(folder / "coco" / "labels" / "annotations" / "instances.json", coco_content(3))
