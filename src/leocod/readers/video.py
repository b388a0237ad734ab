"""One's own video: a file or a folder of frames, with or without labels for some of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leocod.errors import InvalidConfig, InvalidData, InvalidFrame
from leocod.files.images import SUFFIXES, read_size
from leocod.files.paths import Root
from leocod.readers.classes import class_list, class_numbers
from leocod.readers.coco import NUMBERS, CocoFrames, read_coco, record_of, stated_size
from leocod.readers.footage import Footage
from leocod.readers.pictures import misfit
from leocod.readers.recording import Entry, FrameProblems, Problem, Recording, Report, stop
from leocod.text import natural_key, one_line, shorten
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
    the number in its `frame_id`, `frame_number` or `frame_index`, counted from 0, or in a name as `leocod predict`
    writes it. A frame that it does not have is one that nobody has labelled; one that it has without annotations shows
    nothing. Photos are turned as their files note.
    """
    if isinstance(source, Path):
        source = Footage(source, report) if source.is_file() else source
    frames = _FilmFrames(source) if isinstance(source, Footage) else _FolderFrames(source)
    if labels is None:
        if not classes:
            raise InvalidConfig("classes: needed, because there are no labels that would name them.")
        numbered = enumerate(range(0, len(frames), every))
        return Recording(tuple(classes), tuple(_unlabelled(frames, id, number, report) for id, number in numbered))
    return _labelled(frames, labels, every, classes, report)


def _labelled(
    frames: _FilmFrames | _FolderFrames, file: Path, every: int, classes: Sequence[str] | None, report: Report
) -> Recording:
    coco = read_coco(file, report)
    names = class_list(tuple(coco.categories.values()), classes, file, "under 'categories'")
    marks = CocoFrames(coco, Root(file.parent), class_numbers(coco.categories, names), report)
    images = _by_frame(coco.images, frames, file, report)
    entries = []
    for id, number in enumerate(range(0, len(frames), every)):
        found = images.pop(number, None)
        if found is None:
            entries.append(_unlabelled(frames, id, number, report))
            continue
        image, *others = found
        for other in others:
            what = f"it labels frame {number}, as {record_of(image)} does. Label it once."
            report(Problem(file, record_of(other), what, frame=id, kind="duplicate id"))
        tell = FrameProblems(report, file, record_of(image), id, broken=bool(others))
        size = frames.size(number, tell)
        stated = stated_size(image, tell)
        if size is not None and stated is not None and stated != size:
            tell("", frames.misfit(number, stated, size), "size")
        known = marks.labels(image, size, tell) if size is not None and not tell.broken else None
        if tell.broken and image.get("labelled") is not False:
            known = Labels.none()
        entries.append(_entry(frames, id, number, size, known, tell))
    if images:
        what = f"{len(images)} of its images label frames that every={every} passes over, such as frame {min(images)}."
        report(Problem(file, "", what, breaks=False))
    return Recording(names, tuple(entries))


def _unlabelled(frames: _FilmFrames | _FolderFrames, id: int, number: int, report: Report) -> Entry:
    tell = FrameProblems(report, frames.picture(number), "", id)
    if wrong := frames.why_not(number):
        tell("", wrong, "path")
    return _entry(frames, id, number, None, None, tell)


def _entry(
    frames: _FilmFrames | _FolderFrames,
    id: int,
    number: int,
    size: tuple[int, int] | None,
    labels: Labels | None,
    tell: FrameProblems,
) -> Entry:
    video, picture = one_line(frames.path.stem), frames.picture(number)
    known = size or frames.known_size
    return Entry(id, video, number, picture, known, labels, broken=tell.broken, record=tell.where)


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

    def why_not(self, number: int) -> str | None:
        return None

    def size(self, number: int, tell: FrameProblems) -> tuple[int, int] | None:
        return self.footage.size

    def misfit(self, number: int, said: tuple[int, int], found: tuple[int, int]) -> str:
        told, seen = (f"{width} x {height}" for height, width in (said, found))
        return f"it says {told} pixels, but the frames of {self.path} are {seen}, upright. Correct the record."

    def number(self, image: Mapping[str, Any]) -> int | None:
        """Which frame an image of a COCO file stands for; None: it does not say."""
        for key in NUMBERS:
            if type(image.get(key)) is int:
                return int(image[key])
        # Only as `leocod predict` names frames: other tools count from 1, or name every tenth frame.
        form = rf"{re.escape(self.path.stem)}_([0-9]{{6}}|[1-9][0-9]{{6,8}})"
        found = re.fullmatch(form, str(image.get("file_name")))
        return int(found[1]) if found else None

    def why_none(self, image: Mapping[str, Any]) -> str:
        """What an image has to say so that its frame is known."""
        return (
            f"it does not say which frame of {self.path.name} it labels: its file_name is "
            f"{shorten(image.get('file_name'))}. Give it a frame_id, counted from 0, or a name such as "
            f"{self.path.stem}_000012, as `leocod predict` does."
        )


class _FolderFrames:
    """The pictures of a folder in the order of their names, numbers in them by value."""

    known_size = None

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise InvalidData(f"{one_line(path)}: no such file or folder. It should be a video or a folder of frames.")
        self.path = path
        root = Root(path)
        names = sorted((file.name for file in path.iterdir() if file.suffix.lower() in SUFFIXES), key=natural_key)
        if not names:
            raise InvalidData(f"{one_line(path)} holds no images ({', '.join(sorted(SUFFIXES))}).")
        self._pictures = [path / name for name in names]
        self._wrong = {number: wrong for number, name in enumerate(names) if (wrong := root.explain_refusal(name))}
        self._numbers = {name: number for number, name in enumerate(names)}

    def __len__(self) -> int:
        return len(self._pictures)

    def picture(self, number: int) -> Path:
        return self._pictures[number]

    def why_not(self, number: int) -> str | None:
        """What keeps a picture from being opened: a link to elsewhere."""
        return self._wrong.get(number)

    def size(self, number: int, tell: FrameProblems) -> tuple[int, int] | None:
        if wrong := self.why_not(number):
            tell("", wrong, "path")
            return None
        try:
            return read_size(self._pictures[number], upright=True)
        except InvalidFrame as error:
            tell("", str(error), "picture")
            return None

    def misfit(self, number: int, said: tuple[int, int], found: tuple[int, int]) -> str:
        picture = self._pictures[number]
        return f"{picture}: {misfit(picture, said, found, upright=True)}"

    def number(self, image: Mapping[str, Any]) -> int | None:
        """Which frame an image of a COCO file stands for; None: none of them."""
        return self._numbers.get(str(image.get("file_name", "")).rpartition("/")[2])

    def why_none(self, image: Mapping[str, Any]) -> str:
        """Why it stands for no frame."""
        name = shorten(image.get("file_name"))
        return f"it labels a frame {name}, which is not among the {len(self)} of {self.path}. Correct its file_name."


def _by_frame(
    images: Sequence[dict[str, Any]], frames: _FilmFrames | _FolderFrames, file: Path, report: Report
) -> dict[int, list[dict[str, Any]]]:
    """The images that label each frame; there should be one."""
    found: dict[int, list[dict[str, Any]]] = {}
    for image in images:
        number = frames.number(image)
        if number is None:
            # In a film, these labels may be those of any frame.
            fatal = isinstance(frames, _FilmFrames)
            what = frames.why_none(image)
            report(Problem(file, record_of(image), what, kind="stray annotation", fatal=fatal))
        elif not 0 <= number < len(frames):
            what = f"it labels frame {shorten(number)}, which is not among the {len(frames)} of {frames.path}."
            report(Problem(file, record_of(image), what, kind="stray annotation"))
        else:
            found.setdefault(number, []).append(image)
    return found
