"""Write any benchmark to files: the authors' processed layout, or COCO. What is read back is what was written."""

from __future__ import annotations

import csv
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from PIL import Image as PillowImage

from leocod.benchmarks.base import Benchmark
from leocod.errors import InvalidConfig, InvalidData, InvalidFrame
from leocod.files.atomic import atomic_directory, write_json
from leocod.files.images import Upright
from leocod.files.run_directory import format_step
from leocod.run.record.labels import LabelRecord
from leocod.text import one_line
from leocod.types import Frame, Labels

Layout = Literal["processed", "coco"]

LONGEST_NAME = 120
"""Letters of a video or a picture where it becomes part of a path."""


def convert(
    benchmark: Benchmark,
    out: Path,
    *,
    to: Layout,
    labels: Mapping[int, LabelRecord],
    link: bool = False,
    tell: Callable[[], None] = lambda: None,
) -> int:
    """Write all of it to a new folder; `labels` says, for each annotation cost, which frames a person labels.

    A frame that has a file of its own keeps that file's bytes, as a copy or a hard link; pixels without a file, or of a
    photo that had to be turned, become PNG, which loses nothing. The folder appears when it is complete. `tell` is
    called after each step. Returned is the number of frames that were left out, because they cannot be read.
    """
    left_out = benchmark.lost_test_frames
    with _written(out) as folder:
        pictures = _Pictures(folder, link=link)
        writer: _Writer = (
            _Processed(pictures, benchmark, labels) if to == "processed" else _Coco(pictures, benchmark, labels)
        )
        for placed, lost in _placed(benchmark, labels):
            for one in placed:
                writer.add(one)
            left_out += lost
            tell()
        writer.finish()
    return left_out


@dataclass(frozen=True, eq=False)
class _Placed:
    """One frame with its place in the stream."""

    frame: Frame
    labels: Labels
    step: int
    held_out: bool
    costs: Collection[int]
    """The annotation costs, in frames a step, at which it is labelled."""


def _placed(benchmark: Benchmark, labels: Mapping[int, LabelRecord]) -> Iterator[tuple[list[_Placed], int]]:
    """Each step with the test frames that follow it, and how many of its frames are left out.

    What cannot be read is, if the benchmark says so.
    """
    test = _test_by_step(benchmark)
    number = 0
    for step in range(benchmark.steps):
        pairs = benchmark.frames_of(step)
        revealed = {cost: record.reveal(step, pairs) for cost, record in labels.items()}
        placed = [
            _Placed(frame, truth, number, False, [cost for cost in revealed if frame.id in revealed[cost]])
            for frame, truth in pairs
            if benchmark.on_bad_frame == "stop" or _is_readable(frame)
        ]
        here = {one.frame.id for one in placed}
        lost = {frame.id: "cannot be read" for frame, _ in pairs if frame.id not in here}
        for record in labels.values():
            record.forget(lost)
        # A step of which nothing is left is no step; its test frames go to the one before.
        last = number if placed else max(0, number - 1)
        tested = [_Placed(*benchmark.test[position], last, True, ()) for position in test[step]]
        yield placed + tested, len(pairs) - len(placed)
        number += bool(placed)


def _is_readable(frame: Frame) -> bool:
    try:
        frame.image()
    except InvalidFrame:
        return False
    return True


def _test_by_step(benchmark: Benchmark) -> list[list[int]]:
    """Positions of the test frames that were held out from each step."""
    positions: list[list[int]] = [[] for _ in range(benchmark.steps)]
    for position, step in enumerate(benchmark.test_steps()):
        positions[step].append(position)
    return positions


class _Pictures:
    """The folder that is written to, in which every picture gets a name of its own."""

    def __init__(self, folder: Path, *, link: bool) -> None:
        self.folder = folder
        self.link = link
        self._taken: set[str] = set()

    def name(self, frame: Frame) -> str:
        """Video and file name, or video and number, without an ending: `walk1/000012`."""
        file = frame.content.path if isinstance(frame.content, Upright) else frame.content
        stem = file.stem if isinstance(file, Path) else f"{frame.index:06d}"
        # Nothing below `annotations` may be called that: the picture's folder is found by that name.
        video = _plain(frame.video)
        wanted = f"{video if video != 'annotations' else f'_{video}'}/{_plain(stem)}"
        name, number = wanted, 1
        # Some file systems do not tell capitals from small letters.
        while name.lower() in self._taken:
            number += 1
            name = f"{wanted}-{number}"
        self._taken.add(name.lower())
        return name

    def place(self, frame: Frame, name: str) -> str:
        """Put the picture there; its path, with an ending."""
        if not isinstance(frame.content, Path):
            path = self._made(f"{name}.png")
            PillowImage.fromarray(frame.image()).save(path)
            return f"{name}.png"
        source, name = frame.content.resolve(), f"{name}{frame.content.suffix}"
        path = self._made(name)
        if not self.link:
            shutil.copyfile(source, path)
            return name
        try:
            os.link(source, path)
        except OSError as error:
            raise InvalidData(f"{source} cannot be hard-linked ({error.strerror}). Leave --link out.") from error
        return name

    def _made(self, name: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


class _Writer(Protocol):
    """Takes the frames in order, and closes the books at the end."""

    def add(self, placed: _Placed) -> None: ...

    def finish(self) -> None: ...


class _Processed:
    """The authors' layout: a json for every frame, and lists of them with the labelled ones marked."""

    def __init__(self, pictures: _Pictures, benchmark: Benchmark, labels: Mapping[int, LabelRecord]) -> None:
        self.pictures = pictures
        self.classes = benchmark.classes
        self.name = _plain(benchmark.name)
        self.test: list[list[Any]] = []
        self.trained: dict[int, list[list[Any]]] = {cost: [] for cost in labels}

    def add(self, placed: _Placed) -> None:
        frame, labels = placed.frame, placed.labels
        name = self.pictures.name(frame)
        picture = self.pictures.place(frame, f"{self.name}/images/{name}")
        file = f"{self.name}/annotations/{name}.json"
        record = {
            "file_name": picture,
            "height": frame.size[0],
            "width": frame.size[1],
            "image_id": frame.id,
            # Ours: the authors' files do not say. Their loader passes over what it does not know.
            "video": frame.video,
            "index": frame.index,
            **({} if labels.known else {"labelled": False}),
            "annotations": [
                {"category": self.classes[number], "bbox": box, "bbox_mode": 0}
                for box, number in zip(labels.boxes.tolist(), labels.classes.tolist(), strict=True)
            ],
        }
        write_json(self.pictures.folder / file, record)
        if placed.held_out:
            self.test.append([format_step(placed.step), file])
            return
        for cost, rows in self.trained.items():
            rows.append([format_step(placed.step), file, int(cost in placed.costs)])

    def finish(self) -> None:
        folder = self.pictures.folder / self.name
        write_json(folder / "mapping.json", {name: number for number, name in enumerate(self.classes)}, indent=2)
        _write_csv(folder / "test.csv", ["step_name", "json_file"], self.test)
        for cost, rows in self.trained.items():
            _write_csv(folder / f"train_anno{cost}.csv", ["step_name", "json_file", "oracle"], rows)


class _Coco:
    """One COCO json that also says what belongs to which step, and the labelled frames of each cost."""

    def __init__(self, pictures: _Pictures, benchmark: Benchmark, labels: Mapping[int, LabelRecord]) -> None:
        self.pictures = pictures
        self.classes = benchmark.classes
        self.labels = labels
        self.videos: dict[str, int] = {}
        self.images: list[dict[str, Any]] = []
        self.annotations: list[dict[str, Any]] = []

    def add(self, placed: _Placed) -> None:
        frame, labels = placed.frame, placed.labels
        picture = self.pictures.place(frame, f"images/{self.pictures.name(frame)}")
        self.images.append(
            {
                "id": frame.id,
                "file_name": picture.removeprefix("images/"),
                "height": frame.size[0],
                "width": frame.size[1],
                "video_id": self.videos.setdefault(frame.video, len(self.videos) + 1),
                "frame_id": frame.index,
                "step": placed.step,
                "held_out": placed.held_out,
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
            "images": self.images,
            "annotations": self.annotations,
        }
        write_json(self.pictures.folder / "annotations.json", content)
        for cost, record in self.labels.items():
            record.path = self.pictures.folder / f"labels_{cost}.json"
            record.write()


@contextmanager
def _written(out: Path) -> Iterator[Path]:
    """The folder to write to; what the disk refuses is told in one line."""
    refuse_taken(out)
    try:
        with atomic_directory(out) as folder:
            yield folder
    except OSError as error:
        raise InvalidData(f"{one_line(error.filename or out)}: {error.strerror or error}.") from error


def refuse_taken(out: Path) -> None:
    """Raise unless nothing is there, or only an empty folder."""
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise InvalidConfig(f"{out} is already there. Choose another folder, or remove it first.")


def _plain(name: str) -> str:
    """A name that every file system takes, and that cannot lead elsewhere.

    >>> _plain("../walk: 1")
    '_walk_1'
    """
    return re.sub(r"[^\w.-]+", "_", name.strip(), flags=re.ASCII).lstrip(".")[:LONGEST_NAME] or "_"


def _write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
