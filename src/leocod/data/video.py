"""One's own video: a file or a folder of frames, with or without labels for some of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leocod.data.coco import NUMBERS, CocoFrames, class_list, class_numbers, read_coco, record_of, stated_size
from leocod.data.footage import Footage
from leocod.data.reading import natural, shown
from leocod.data.recording import Complaints, Entry, Problem, Recording, Report, Root, stop
from leocod.errors import InvalidConfig, InvalidData, InvalidFrame
from leocod.imagefile import SUFFIXES, size_of
from leocod.types import Labels


def read_video(
    source: Path | Footage,
    labels: Path | None = None,
    *,
    every: int = 1,
    classes: Sequence[str] | None = None,
    report: Report = stop,
) -> Recording:
    """Every so-many-th frame of a video file or a folder, not yet divided into steps.

    `labels` is a COCO file. An image in it labels the frame of the same file name, or, in a video file, the frame with
    the number in its `frame_id`, `frame_number` or `frame_index`, else at the end of its name, counted from 0. A frame
    that it does not have is one that nobody has labelled; one that it has without annotations shows nothing.
    """
    if isinstance(source, Path):
        source = Footage(source, report) if source.is_file() else source
    frames = _FilmFrames(source) if isinstance(source, Footage) else _FolderFrames(source)
    if labels is None:
        if not classes:
            raise InvalidConfig("classes: needed, because there are no labels that would name them.")
        return Recording(
            tuple(classes), tuple(_entry(frames, id, number) for id, number in enumerate(range(0, len(frames), every)))
        )
    return _labelled(frames, labels, every, classes, report)


def _labelled(
    frames: _FilmFrames | _FolderFrames, file: Path, every: int, classes: Sequence[str] | None, report: Report
) -> Recording:
    coco = read_coco(file, report)
    names = class_list(tuple(coco.categories.values()), classes, file)
    marks = CocoFrames(coco, Root(file.parent), class_numbers(coco.categories, names), report)
    images = _by_frame(coco.images, frames, file, report)
    entries = []
    for id, number in enumerate(range(0, len(frames), every)):
        image = images.pop(number, None)
        if image is None:
            entries.append(_entry(frames, id, number))
            continue
        tell = Complaints(report, file, record_of(image), id)
        size = frames.size(number, tell)
        stated = stated_size(image, tell)
        if size is not None and stated is not None and stated != size:
            what = f"its height and width are {stated[0]} and {stated[1]}, but the frame's are {size[0]} and {size[1]}."
            tell("", what, "size")
        known = marks.labels(image, size, tell) if size is not None and not tell.broken else None
        entries.append(_entry(frames, id, number, size, known, broken=tell.broken))
    if images:
        what = f"{len(images)} of its images label frames that every={every} passes over, such as frame {min(images)}."
        report(Problem(file, "", what, breaks=False))
    return Recording(names, tuple(entries))


def _entry(
    frames: _FilmFrames | _FolderFrames,
    id: int,
    number: int,
    size: tuple[int, int] | None = None,
    labels: Labels | None = None,
    *,
    broken: bool = False,
) -> Entry:
    known = size or frames.known_size
    return Entry(id, frames.path.stem, number, frames.picture(number), known, labels, broken=broken)


@dataclass(frozen=True)
class _FilmFrames:
    """The frames of a video file, as this reader asks for them."""

    footage: Footage

    @property
    def path(self) -> Path:
        return self.footage.path

    @property
    def known_size(self) -> tuple[int, int] | None:
        return self.footage.size

    def __len__(self) -> int:
        return len(self.footage)

    def picture(self, number: int) -> Path:
        return self.path

    def size(self, number: int, tell: Complaints) -> tuple[int, int] | None:
        return self.footage.size

    def number(self, image: Mapping[str, Any]) -> int | None:
        """Which frame an image of a COCO file stands for."""
        for key in NUMBERS:
            if type(image.get(key)) is int:
                return int(image[key])
        found = re.search(r"([0-9]{1,12})$", Path(str(image.get("file_name", ""))).stem)
        return int(found[1]) if found else None


class _FolderFrames:
    """The pictures of a folder in the order of their names, numbers in them by value."""

    known_size = None

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise InvalidData(f"{path}: no such file or folder. It should be a video or a folder of frames.")
        self.path = path
        root = Root(path)
        names = sorted((file.name for file in path.iterdir() if file.suffix.lower() in SUFFIXES), key=natural)
        if not names:
            raise InvalidData(f"{path} holds no images ({', '.join(sorted(SUFFIXES))}).")
        self._pictures = [root.inside(name, path, "a file in it") for name in names]
        self._numbers = {name: number for number, name in enumerate(names)}

    def __len__(self) -> int:
        return len(self._pictures)

    def picture(self, number: int) -> Path:
        return self._pictures[number]

    def size(self, number: int, tell: Complaints) -> tuple[int, int] | None:
        try:
            return size_of(self._pictures[number])
        except InvalidFrame as error:
            tell("", str(error), "picture")
            return None

    def number(self, image: Mapping[str, Any]) -> int | None:
        """Which frame an image of a COCO file stands for."""
        return self._numbers.get(Path(str(image.get("file_name", ""))).name)


def _by_frame(
    images: Sequence[dict[str, Any]], frames: _FilmFrames | _FolderFrames, file: Path, report: Report
) -> dict[int, dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for image in images:
        number = frames.number(image)
        name = image.get("file_name")
        if number is None or not 0 <= number < len(frames):
            which = f"frame {number}" if number is not None else f"a frame {shown(name)}"
            what = f"it labels {which}, which is not among the {len(frames)} of {frames.path}."
            report(Problem(file, record_of(image), what, kind="stray annotation"))
        elif number in found:
            what = f"it labels frame {number}, as {record_of(found[number])} does."
            report(Problem(file, record_of(image), what, kind="duplicate id"))
        else:
            found[number] = image
    return found
