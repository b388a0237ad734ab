"""docs/own-video.md, command by command, and labels in the form in which CVAT and Label Studio export them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image as PillowImage
from typer.testing import CliRunner, Result

from leocod.benchmarks.video import Video, VideoOptions
from leocod.cli.main import app
from leocod.data.choose import choose_frames, divide_videos

RECIPE = Path(__file__).parents[2] / "docs" / "own-video.md"
COMMANDS = [
    line.removeprefix("$ ") for line in RECIPE.read_text(encoding="utf-8").splitlines() if line.startswith("$ leocod")
]
SIZE = (48, 64)
FRAMES = 40
CLASSES = ("book", "mug")
BOX = (16.0, 12.0, 8.0, 6.0)
"""Left, top, width and height in every labelled picture: shares of the sides are short numbers."""

Labels = Mapping[str, str]
"""The labelled pictures, and the class of the object in each."""


def leocod(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "400", "TERM": "dumb"}).invoke(app, arguments)


def write_film(path: Path, first: int) -> Path:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.height, stream.width, stream.pix_fmt = *SIZE, "yuv420p"
        for number in range(first, first + FRAMES):
            patches = np.random.default_rng(number).integers(0, 255, (6, 8, 3), np.uint8)
            image = np.asarray(PillowImage.fromarray(patches).resize((SIZE[1], SIZE[0]), 0))
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        container.mux(stream.encode())
    return path


def write_cvat(path: Path, labels: Labels, *, video: bool = False) -> Path:
    """CVAT for images 1.1."""
    kind = "<source>kitchen.mp4</source><original_size><width>64</width><height>48</height></original_size>" * video
    listed = "".join(f"<label><name>{name}</name><color>#fa3253</color></label>" for name in CLASSES)
    x, y, width, height = BOX
    images = "".join(
        f'<image id="{number}" name="{name}" width="64" height="48"><box label="{label}" source="manual" occluded="0" '
        f'xtl="{x:.2f}" ytl="{y:.2f}" xbr="{x + width:.2f}" ybr="{y + height:.2f}" z_order="0"></box></image>'
        for number, (name, label) in enumerate(labels.items())
    )
    meta = f"<meta><task><id>7</id><size>{len(labels)}</size><labels>{listed}</labels>{kind}</task></meta>"
    path.write_text(
        f'<?xml version="1.0" encoding="utf-8"?><annotations><version>1.1</version>{meta}{images}</annotations>'
    )
    return path


def write_coco(path: Path, labels: Labels, prefix: str = "", first_id: int = 1) -> Path:
    """COCO as CVAT numbers it, from 1; Label Studio does from 0."""
    images = [
        {"id": number, "width": 64, "height": 48, "file_name": f"{prefix}{name}", "license": 0, "flickr_url": ""}
        for number, name in enumerate(labels, start=first_id)
    ]
    annotations = [
        {"id": number, "image_id": number, "category_id": CLASSES.index(label) + first_id, "segmentation": []}
        | {"bbox": list(BOX), "area": BOX[2] * BOX[3], "iscrowd": 0, "attributes": {"occluded": False}}
        for number, label in enumerate(labels.values(), start=first_id)
    ]
    categories = [{"id": number, "name": name, "supercategory": ""} for number, name in enumerate(CLASSES, first_id)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}))
    return path


def write_yolo(folder: Path, labels: Labels, place: str, lists: Mapping[str, str], prefix: str = "") -> Path:
    x, y, width, height = BOX
    shares = f"{(x + width / 2) / 64:.6f} {(y + height / 2) / 48:.6f} {width / 64:.6f} {height / 48:.6f}"
    files = {**lists} | {
        f"{place}/{prefix}{Path(name).stem}.txt": f"{CLASSES.index(label)} {shares}\n" for name, label in labels.items()
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def cvat_yolo(folder: Path, labels: Labels) -> Path:
    """YOLO 1.1, which is Darknet's."""
    listed = "".join(f"data/obj_train_data/{name}\n" for name in labels)
    data = "classes = 2\ntrain = data/train.txt\nnames = data/obj.names\nbackup = backup/\n"
    lists = {"obj.names": "book\nmug\n", "obj.data": data, "train.txt": listed}
    return write_yolo(folder, labels, "obj_train_data", lists)


def cvat_ultralytics(folder: Path, labels: Labels) -> Path:
    listed = "".join(f"data/images/train/{name}\n" for name in labels)
    lists = {"data.yaml": "names:\n  0: book\n  1: mug\npath: .\ntrain: train.txt\n", "train.txt": listed}
    return write_yolo(folder, labels, "labels/train", lists)


def label_studio_json(folder: Path, labels: Labels) -> Path:
    x, y, width, height = BOX
    value = {
        "x": 100 * x / 64,
        "y": 100 * y / 48,
        "width": 100 * width / 64,
        "height": 100 * height / 48,
        "rotation": 0,
    }
    sides = {"original_width": 64, "original_height": 48, "image_rotation": 0}
    tasks = [
        {
            "id": number,
            "file_upload": f"9a0b1c2d-{name}",
            "data": {"image": f"/data/upload/3/9a0b1c2d-{name}"},
            "annotations": [
                {
                    "was_cancelled": False,
                    "result": [
                        {**sides, "type": "rectanglelabels", "from_name": "label", "to_name": "image"}
                        | {"value": {**value, "rectanglelabels": [label]}}
                    ],
                }
            ],
        }
        for number, (name, label) in enumerate(labels.items())
    ]
    (folder.with_suffix(".json")).write_text(json.dumps(tasks))
    return folder.with_suffix(".json")


def label_studio_yolo(folder: Path, labels: Labels) -> Path:
    notes = json.dumps({"categories": [{"id": 0, "name": "book"}, {"id": 1, "name": "mug"}], "info": {"year": 2026}})
    return write_yolo(folder, labels, "labels", {"classes.txt": "book\nmug\n", "notes.json": notes}, "9a0b1c2d-")


EXPORTS: dict[str, Callable[[Path, Labels], Path]] = {
    "CVAT for images 1.1": lambda folder, labels: write_cvat(folder.with_suffix(".xml"), labels),
    "CVAT, COCO 1.0": lambda folder, labels: write_coco(
        folder / "annotations" / "instances_default.json", labels
    ).parents[1],
    "CVAT, YOLO 1.1": cvat_yolo,
    "CVAT, Ultralytics YOLO Detection 1.0": cvat_ultralytics,
    "Label Studio, JSON": label_studio_json,
    "Label Studio, COCO": lambda folder, labels: (
        write_coco(folder / "result.json", labels, "images/9a0b1c2d-", first_id=0).parent
    ),
    "Label Studio, YOLO": label_studio_yolo,
    "YOLO without a list": lambda folder, labels: write_yolo(folder, labels, "labels/train", {}),
    "YOLO, its folder of labels": lambda folder, labels: cvat_ultralytics(folder, labels) / "labels" / "train",
}


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_film(tmp_path_factory.mktemp("films") / "kitchen.mp4", 0)


@pytest.fixture(scope="module")
def hall(kitchen: Path) -> Path:
    return write_film(kitchen.with_name("hall.mp4"), 1000)


def find_labels(source: Path, labels: Path) -> dict[int, tuple[str, list[float]]]:
    """Of each labelled frame its class and box, as a run gets them."""
    values = {"source": source, "labels": labels, "classes": CLASSES, "hold_out": 0}
    benchmark = Video(VideoOptions.model_validate(values), seed=0)
    assert list(benchmark.warnings) == []
    pairs = [pair for step in range(benchmark.steps) for pair in benchmark.frames_of(step) if pair[1].known]
    return {
        frame.index: (CLASSES[int(marked.classes[0])], marked.boxes[0].round(3).tolist()) for frame, marked in pairs
    }


@pytest.mark.parametrize("export", EXPORTS)
def test_labels_come_back_from_every_export_of_cvat_and_label_studio(
    kitchen: Path, tmp_path: Path, export: str
) -> None:
    numbers = [frame.number for frame in choose_frames(divide_videos([kitchen], frames=6))]
    labels = {f"kitchen_f{number:06d}.jpg": CLASSES[number % 2] for number in numbers}

    path = EXPORTS[export](tmp_path / "export", labels)

    box = [BOX[0], BOX[1], BOX[0] + BOX[2], BOX[1] + BOX[3]]
    assert find_labels(kitchen, path) == {number: (CLASSES[number % 2], box) for number in numbers}


def test_labels_come_back_from_a_task_that_was_made_of_the_video(kitchen: Path, tmp_path: Path) -> None:
    by_image = write_cvat(tmp_path / "annotations.xml", {"frame_000012": "mug", "frame_000020": "book"}, video=True)
    by_file = write_coco(tmp_path / "coco.json", {"frame_000012.PNG": "mug", "frame_000020.PNG": "book"})

    found = find_labels(kitchen, by_image)

    assert {number: name for number, (name, _) in found.items()} == {12: "mug", 20: "book"}
    assert find_labels(kitchen, by_file) == found


SMALL = {
    "choose": ["--frames", "10"],
    "check": [],
    "run": [
        *("--steps", "2", "--threads", "1", "--set", "benchmark.frames_per_step=4", "--labels", "4"),
        *("--set", "benchmark.every=8", "--set", "sinks=[jsonl]", "--set", "strategy.rounds=2"),
    ],
    "predict": ["--threshold", "0.01"],
    "export": [],
}
"""What makes a command of the recipe small; the last value of an option counts."""

QUICK = ["--steps", "1", "--strategy", "incremental", "--plugin", "none"]
"""For a large detector."""

TINY = ["--set", "detector={weights: null, short_side: 48, regions: 16, proposals: 24}"]


def shrink(words: list[str]) -> list[str]:
    command = words[1] if words[0] == "data" else words[0]
    # Weights that would have to be downloaded.
    words = [re.sub(r"^detector\.weights=.+", "detector.weights=null", word) for word in words]
    small = words + SMALL[command]
    if command != "run":
        return small
    return small + (QUICK if "--detector" in words else TINY)


def label_all(pictures: Path) -> dict[str, str]:
    return {file.name: CLASSES[number % 2] for number, file in enumerate(sorted(pictures.iterdir()))}


def test_every_command_of_the_recipe_runs(
    kitchen: Path, hall: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for film in (kitchen, hall):
        (tmp_path / film.name).symlink_to(film)
    (tmp_path / "holiday.mp4").symlink_to(hall)
    write_coco(tmp_path / "coco.json", {"shot_0001.png": "mug", "shot_0040.png": "book"})
    for name in ("kitchen.xml", "hall.xml"):
        write_cvat(tmp_path / name, {f"frame_{number:06d}": "mug" for number in range(0, 40, 4)}, video=True)

    told = {}
    for command in COMMANDS:
        _, *words = shlex.split(command, comments=True)
        result = leocod(*shrink(words))
        assert result.exit_code == 0, (command, result.output)
        told[command] = result.output
        # What a person does meanwhile.
        if words[:2] == ["data", "choose"]:
            pictures = tmp_path / words[words.index("--out") + 1] / "images"
            name = "both.json" if "hall.mp4" in words else "annotations.xml"
            (write_coco if name == "both.json" else write_cvat)(tmp_path / name, label_all(pictures))

    assert len(COMMANDS) == 12
    check = next(output for command, output in told.items() if "data check kitchen.mp4 --labels annotations" in command)
    assert "40 frames, 10 of them labelled" in check
    assert "A run learns from 8 labelled frames and tests on 2 (labels are sparse" in check
    for run in ("kitchen", "kitchen-coco", "both", "both-tasks"):
        results = json.loads((tmp_path / "runs" / run / "results.json").read_text())
        assert results["steps"] == (1 if run == "kitchen-coco" else 2)
        assert results["labelled_frames"] > 0
        assert results["updates"] > results["steps"]
    assert (tmp_path / "found" / "holiday.mp4").is_file()
    assert (tmp_path / "kitchen.onnx").exists()
