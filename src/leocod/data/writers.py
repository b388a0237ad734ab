"""Layouts of benchmarks that `leocod data convert` writes: the authors' processed one, and COCO; and their pictures."""

from __future__ import annotations

import csv
import os
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from PIL import Image as PillowImage

from leocod.benchmarks.base import Benchmark
from leocod.errors import InvalidData
from leocod.files.atomic import write_json
from leocod.files.images import Upright, read_orientation
from leocod.files.run_directory import format_step
from leocod.run.record.labels import LabelRecord
from leocod.types import Frame, Labels

LONGEST_NAME = 120
"""Letters of a video or a picture where it becomes part of a path."""

DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)", re.IGNORECASE)
"""What Windows takes for a device, whatever its ending."""


@dataclass(frozen=True, eq=False)
class OutputFrame:
    """One frame with its place in the stream."""

    frame: Frame
    labels: Labels
    step: int
    held_out: bool
    costs: Collection[int]
    """The annotation costs, in labelled frames a step, at which it is labelled."""


class Writer(Protocol):
    """Takes the frames in order, and writes the lists at the end."""

    def add(self, output: OutputFrame) -> None: ...

    def finish(self) -> None: ...


class ImageFolder:
    """The folder that is written to. Every image in it gets a name of its own."""

    def __init__(self, folder: Path, *, link: bool, flat: bool = False) -> None:
        """`flat`: for other tools. Names have the video in them in place of a folder for each video, and no picture has
        an EXIF note on how to turn it: most tools follow it, and would show boxes in other places."""
        self.folder = folder
        self.link = link
        self.flat = flat
        self._taken: set[str] = set()

    def choose_name(self, frame: Frame) -> str:
        """Return video and file name, or video and number, without an ending: `walk1/000012`, or `walk1_000012`."""
        file = frame.content.path if isinstance(frame.content, Upright) else frame.content
        stem = file.stem if isinstance(file, Path) else f"{frame.index:06d}"
        # No folder below `annotations` may have that name: readers find the folder of images by it.
        video = sanitize(frame.video)
        between = "_" if self.flat else "/"
        wanted = f"{video if video != 'annotations' else f'_{video}'}{between}{sanitize(stem)}"
        name, number = wanted, 1
        # Some file systems do not distinguish capitals.
        while name.lower() in self._taken:
            number += 1
            name = f"{wanted}-{number}"
        self._taken.add(name.lower())
        return name

    def write(self, frame: Frame, name: str) -> str:
        """Write the image of a frame; return its path, with an ending."""
        if not isinstance(frame.content, Path) or (self.flat and read_orientation(frame.content) != 1):
            path = self._make_parent(f"{name}.png")
            PillowImage.fromarray(frame.image()).save(path)
            return f"{name}.png"
        source, name = frame.content.resolve(), f"{name}{frame.content.suffix}"
        path = self._make_parent(name)
        if not self.link:
            shutil.copyfile(source, path)
            return name
        try:
            os.link(source, path)
        except OSError as error:
            raise InvalidData(f"{source} cannot be hard-linked ({error.strerror}). Use --copy.") from error
        return name

    def _make_parent(self, name: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


class ProcessedWriter:
    """The authors' layout: a JSON file for every frame, and lists of them that mark the labelled ones."""

    def __init__(self, images: ImageFolder, benchmark: Benchmark, labels: Mapping[int, LabelRecord]) -> None:
        self.images = images
        self.classes = benchmark.classes
        self.name = sanitize(benchmark.name)
        self.test: list[list[Any]] = []
        self.training: dict[int, list[list[Any]]] = {cost: [] for cost in labels}

    def add(self, output: OutputFrame) -> None:
        frame, labels = output.frame, output.labels
        name = self.images.choose_name(frame)
        picture = self.images.write(frame, f"{self.name}/images/{name}")
        file = f"{self.name}/annotations/{name}.json"
        record = {
            "file_name": picture,
            "height": frame.size[0],
            "width": frame.size[1],
            "image_id": frame.id,
            # Ours: the authors' files have no video. Their loader passes over keys that it does not know.
            "video": frame.video,
            "index": frame.index,
            **({} if labels.known else {"labelled": False}),
            "annotations": [
                {"category": self.classes[number], "bbox": box, "bbox_mode": 0}
                for box, number in zip(labels.boxes.tolist(), labels.classes.tolist(), strict=True)
            ],
        }
        write_json(self.images.folder / file, record)
        if output.held_out:
            self.test.append([format_step(output.step), file])
            return
        for cost, rows in self.training.items():
            rows.append([format_step(output.step), file, int(cost in output.costs)])

    def finish(self) -> None:
        folder = self.images.folder / self.name
        write_json(folder / "mapping.json", {name: number for number, name in enumerate(self.classes)}, indent=2)
        _write_csv(folder / "test.csv", ["step_name", "json_file"], self.test)
        for cost, rows in self.training.items():
            _write_csv(folder / f"train_anno{cost}.csv", ["step_name", "json_file", "oracle"], rows)


class CocoWriter:
    """One COCO file that also says which frame belongs to which step, and the labelled frames of each cost."""

    def __init__(self, images: ImageFolder, benchmark: Benchmark, labels: Mapping[int, LabelRecord]) -> None:
        self.images = images
        self.classes = benchmark.classes
        self.labels = labels
        self.videos: dict[str, int] = {}
        self.records: list[dict[str, Any]] = []
        self.annotations: list[dict[str, Any]] = []

    def add(self, output: OutputFrame) -> None:
        frame, labels = output.frame, output.labels
        picture = self.images.write(frame, f"images/{self.images.choose_name(frame)}")
        self.records.append(
            {
                "id": frame.id,
                "file_name": picture.removeprefix("images/"),
                "height": frame.size[0],
                "width": frame.size[1],
                "video_id": self.videos.setdefault(frame.video, len(self.videos) + 1),
                "frame_id": frame.index,
                "step": output.step,
                "held_out": output.held_out,
                **({} if labels.known else {"labelled": False}),
            }
        )
        for box, number in zip(labels.boxes.astype(float).tolist(), labels.classes.tolist(), strict=True):
            # In double precision, so that left + width is the right side again, bit for bit.
            left, top, width, height = box[0], box[1], box[2] - box[0], box[3] - box[1]
            self.annotations.append(
                {
                    "id": len(self.annotations) + 1,
                    "image_id": frame.id,
                    "category_id": number + 1,
                    "bbox": [left, top, width, height],
                    "area": width * height,
                    "iscrowd": 0,
                }
            )

    def finish(self) -> None:
        content = {
            "videos": [{"id": number, "name": name} for name, number in self.videos.items()],
            "categories": [{"id": number, "name": name} for number, name in enumerate(self.classes, start=1)],
            "images": self.records,
            "annotations": self.annotations,
        }
        write_json(self.images.folder / "annotations.json", content)
        for cost, record in self.labels.items():
            record.path = self.images.folder / f"labels_{cost}.json"
            record.write()


def sanitize(name: str) -> str:
    """Make a name that every file system takes, and that cannot lead elsewhere.

    >>> sanitize("../walk: 1"), sanitize("aux"), sanitize("walk.")
    ('_walk_1', '_aux', 'walk')
    """
    allowed = re.sub(r"[^\w.-]+", "_", name.strip(), flags=re.ASCII).strip(".")
    whole = f"_{allowed}" if not allowed or DEVICE.match(allowed) else allowed
    return whole[:LONGEST_NAME].rstrip(".")


def _write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
