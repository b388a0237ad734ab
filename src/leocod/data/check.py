"""What is wrong with a data set: everything that its reader meets, and every picture, looked at before a run is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from leocod.errors import InvalidData, InvalidFrame
from leocod.files.images import SUFFIXES
from leocod.readers.coco import NUMBERS, Coco, read_coco, read_coco_video, record_of, tells_steps
from leocod.readers.egoobjects import file_name, files_in, read_egoobjects
from leocod.readers.footage import Footage
from leocod.readers.oak import PICTURES, read_oak
from leocod.readers.pictures import Tell, look_at_pictures
from leocod.readers.processed import lists_in, read_processed
from leocod.readers.recording import Kind, Problem, Recording, Report, split
from leocod.readers.video import read_video
from leocod.text import one_line, pluralize, shorten, strip_file_name

STEP = 16
"""Frames in a step, unless a run is told otherwise."""

Layout = Literal["auto", "processed", "oak", "egoobjects", "coco", "folder", "video"]


@dataclass(frozen=True)
class Findings:
    """What there is, and what is wrong with it."""

    path: Path
    layout: str
    recording: Recording | None
    """None: not even the frames could be listed."""
    problems: tuple[Problem, ...]

    @property
    def breaks(self) -> bool:
        """Whether a run on it would stop."""
        return any(problem.breaks for problem in self.problems)

    def lines(self, most: int) -> Iterator[str]:
        """All of it in words: what there is, up to so many problems of each kind, and how many there are of each."""
        yield f"{one_line(self.path)}: {self.layout} layout{self._content()}."
        kinds: Counter[Kind] = Counter(problem.kind for problem in self.problems)
        for kind, count in kinds.most_common():
            listed = [problem for problem in self.problems if problem.kind == kind]
            broken = sum(problem.breaks for problem in listed)
            yield f"{kind}: {count}{_breaking(broken, count)}"
            yield from (f"  {_told(problem)}" for problem in listed[:most])
            if count > most:
                yield f"  ... and {count - most} more"
        broken = sum(problem.breaks for problem in self.problems)
        total = pluralize(len(self.problems), "problem")
        yield f"{total}, {broken or 'none'} of which would stop a run." if self.problems else "Nothing is wrong."

    def _content(self) -> str:
        if self.recording is None:
            return ", which cannot be read"
        entries = self.recording.entries
        labelled = [entry.labels for entry in entries if entry.labels is not None and not entry.broken]
        objects = sum(map(len, labelled))
        empty = sum(len(labels) == 0 for labels in labelled)
        return (
            f", {pluralize(len(entries), 'frame')}, {len(labelled)} of them labelled, "
            f"{empty} of these without objects, "
            f"{pluralize(objects, 'object')}, {pluralize(len(self.recording.classes), 'class', 'classes')}"
        )


def check(
    path: Path,
    layout: Layout = "auto",
    *,
    labels: Path | None = None,
    quick: bool = False,
    tell: Tell = lambda total: None,
) -> Findings:
    """Read all of it as a run would, but go on where a run would stop, and decode every picture.

    `labels` is the COCO file that goes with a video or a folder of frames. With `quick` only the header of each picture
    is read.
    """
    for file in filter(None, (path, labels)):
        if not file.exists():
            raise InvalidData(f"No file or folder '{one_line(file)}'. Check the name.")
    if labels is not None and path.is_file() and path.suffix.lower() == ".json":
        raise InvalidData(f"--labels goes with a video or a folder of frames, but {path} is a json. Name the frames.")
    chosen = layout if layout != "auto" else found_layout(path) if labels is None else _film_layout(path)
    if labels is not None and chosen not in FILMS:
        raise InvalidData(f"--labels goes with a video or a folder of frames; the {chosen} layout has its own.")
    problems: list[Problem] = []
    try:
        if chosen in FILMS:
            recording = _read_film(path, labels, problems.append)
        else:
            recording = READERS[chosen](path, problems.append)
    except InvalidData as error:
        # A file that is cut, an order that is none: there are no frames to look at.
        problems.append(Problem(path, "", strip_file_name(path, error), kind="file"))
        return Findings(path, chosen, None, tuple(problems))
    lost = {problem.frame for problem in problems if problem.kind in {"picture", "path", "file"}}
    there = [entry for entry in recording.entries if entry.id not in lost]
    if chosen == "video":
        problems += () if quick else _look_at_film(path, tell)
    else:
        problems += look_at_pictures(there, quick=quick, upright=chosen == "folder", tell=tell)
    if chosen not in FILMS:
        problems += _unlabelled(recording)
    problems += _unused(recording, labels or path)
    if chosen not in FILMS or labels is not None:
        problems += _untested(recording, labels or path)
    return Findings(path, chosen, recording, tuple(problems))


def _unlabelled(recording: Recording) -> Iterator[Problem]:
    for entry in recording.entries:
        if entry.labels is None and not entry.broken:
            what = "nobody has labelled it. It can be learnt from, but not be tested on."
            yield Problem(entry.picture, "", what, breaks=False, kind="unlabelled frame")


def _unused(recording: Recording, path: Path) -> Iterator[Problem]:
    used = {
        number for entry in recording.entries if entry.labels is not None for number in entry.labels.classes.tolist()
    }
    for number, name in enumerate(recording.classes):
        if number not in used:
            yield Problem(
                path, f"class {shorten(name)}", "no usable frame shows it.", breaks=False, kind="unused class"
            )


def _untested(recording: Recording, path: Path) -> Iterator[Problem]:
    entries = recording.entries
    divided = any(entry.step >= 0 for entry in entries)
    if not divided:
        entries = split(entries, frames_per_step=STEP, held_out=1)
    if not any(entry.held_out and entry.labels is not None and not entry.broken for entry in entries):
        how = "" if divided else f" if {STEP} frames are a step and the next one is held out"
        what = f"no labelled frame is held out for testing{how}: a run would learn, but not be evaluated."
        yield Problem(path, "", what, breaks=False, kind="no test frame")


def _told(problem: Problem) -> str:
    # What is wrong with the whole was told by its reader, which named the file.
    return one_line(problem.what) if problem.what.startswith(str(problem.file)) else str(problem)


def _breaking(broken: int, count: int) -> str:
    return "" if not broken else ", would stop a run" if broken == count else f", {broken} would stop a run"


def found_layout(path: Path) -> Layout:
    """How the files lie, by what is there."""
    if path.is_file():
        return "coco" if path.suffix.lower() == ".json" else _film_layout(path)
    if not path.is_dir():
        raise InvalidData(f"{one_line(path)}: not a file, nor a folder. Name the data set itself.")
    layouts: dict[Layout, bool] = {
        "processed": bool(lists_in(path)),
        "oak": (path / PICTURES).is_dir(),
        "egoobjects": bool(files_in(path, "train")),
    }
    found = [layout for layout, there in layouts.items() if there]
    if len(found) > 1:
        raise InvalidData(f"{one_line(path)} looks like {' and '.join(found)}. Say which with --layout.")
    if found:
        return found[0]
    # The folder of the processed layout has a JSON file in it, too: its class list.
    if coco_files(path) and not any(path.glob("train_anno*.csv")):
        return "coco"
    if any(file.suffix.lower() in SUFFIXES for file in path.iterdir()):
        return _film_layout(path)
    raise InvalidData(
        f"{one_line(path)} holds no data in a known layout.{_near(path)} Known: {', '.join([*READERS, *FILMS])}."
    )


def _near(path: Path) -> str:
    """The folder that may have been meant: the one around it, or the only one in it that holds a data set."""
    around = path.resolve().parent
    if any(path.glob("train_anno*.csv")) or _holds_data(around):
        return f" Did you mean the folder around it, {one_line(around)}?"
    inner = [folder for folder in path.iterdir() if folder.is_dir() and _holds_data(folder)]
    return f" Did you mean {one_line(inner[0])}?" if len(inner) == 1 else ""


def _holds_data(folder: Path) -> bool:
    return (folder / PICTURES).is_dir() or any((lists_in(folder), files_in(folder, "train"), coco_files(folder)))


def _film_layout(path: Path) -> Layout:
    return "video" if path.is_file() else "folder"


def coco_files(folder: Path) -> list[Path]:
    """The JSON files right in a folder that may be COCO files."""
    return sorted(file for file in folder.glob("*.json") if not re.fullmatch(r"labels_[0-9]+", file.stem))


def _read_coco(path: Path, report: Report) -> Recording:
    files = [path] if path.is_file() else coco_files(path)
    if len(files) != 1:
        raise InvalidData(f"{one_line(path)} holds {len(files)} JSON files. Name the COCO file itself.")
    coco = read_coco(files[0], lambda problem: None)
    for problem in _doubts(coco, lambda image: image.get("file_name")):
        report(problem)
    if not tells_steps(coco):
        for problem in _disorder(coco):
            report(problem)
    return read_coco_video(files[0], report=report)


def _read_egoobjects(path: Path, report: Report) -> Recording:
    recording = read_egoobjects(path, report=report)
    for problem in _doubts(read_coco(files_in(path, "train")[0], lambda problem: None), file_name):
        report(problem)
    return recording


def _doubts(coco: Coco, name_of: Callable[[dict[str, Any]], Any]) -> Iterator[Problem]:
    """What a COCO file is read in spite of: a run does not look. `name_of` finds the file name of an image."""
    names = Counter(record_of(one) for annotations in coco.annotations.values() for one in annotations)
    for name, count in names.items():
        if count > 1:
            what = f"{count} annotations are called that. Each is used all the same."
            yield Problem(coco.file, name, what, breaks=False, kind="duplicate id")
    met: dict[str, str] = {}
    for image in coco.images:
        picture = name_of(image)
        if not isinstance(picture, str):
            continue
        if picture in met:
            what = f"its picture {shorten(picture)} is that of {met[picture]}, too. Both are used."
            yield Problem(coco.file, record_of(image), what, breaks=False, kind="duplicate picture")
        met.setdefault(picture, record_of(image))


def _disorder(coco: Coco) -> Iterator[Problem]:
    """Frame numbers that do not rise, or that only some frames of a video have."""
    members: dict[str, list[dict[str, Any]]] = {}
    for image in coco.images:
        members.setdefault(shorten(image.get("video_id")), []).append(image)
    for images in members.values():
        whole = next((key for key in NUMBERS if all(_is_numbered(image, key) for image in images)), None)
        some = next((key for key in NUMBERS if any(_is_numbered(image, key) for image in images)), None)
        if whole is not None:
            yield from _falling(coco, images, whole)
        elif some is not None:
            for image in (image for image in images if not _is_numbered(image, some)):
                what = (
                    f"its {some} is {shorten(image.get(some))}, while other frames of its video have a whole number. "
                    "All of them are ordered by file name."
                )
                yield Problem(coco.file, record_of(image), what, breaks=False, kind="order")


def _is_numbered(image: Mapping[str, Any], key: str) -> bool:
    return type(image.get(key)) is int


def _falling(coco: Coco, images: list[dict[str, Any]], key: str) -> Iterator[Problem]:
    for before, image in pairwise(images):
        if image[key] <= before[key]:
            what = (
                f"its frame number {shorten(image[key])} does not come after {shorten(before[key])}. "
                "Frames are used in order of number."
            )
            yield Problem(coco.file, record_of(image), what, breaks=False, kind="order")


def _read_film(path: Path, labels: Path | None, report: Report) -> Recording:
    if labels is not None:
        return read_video(path, labels, report=report)
    # Without labels there are no classes either; the reader wants some.
    return replace(read_video(path, classes=("any",), report=report), classes=())


READERS: dict[Layout, Callable[[Path, Report], Recording]] = {
    "processed": lambda path, report: read_processed(path, report=report),
    "oak": lambda path, report: read_oak(path, report=report),
    "egoobjects": _read_egoobjects,
    "coco": _read_coco,
}

FILMS: tuple[Layout, ...] = ("folder", "video")
"""Whose labels, if there are any, lie apart."""


def _look_at_film(path: Path, tell: Tell) -> Iterator[Problem]:
    """What is wrong with the frames of a video file, which are decoded in order."""
    footage = Footage(path, lambda problem: None)
    for number in range(len(footage)):
        try:
            footage.image(number)
        except InvalidFrame as error:
            what = str(error).removeprefix(f"{path}, frame {number} ")
            yield Problem(path, f"frame {number}", what, kind="picture")
        tell(len(footage))
    footage.close()
