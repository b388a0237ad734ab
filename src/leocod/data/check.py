"""What is wrong with a data set: everything that its reader meets, and every picture, looked at before a run is."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from leocod.data.coco import NUMBERS, Coco, read_coco, read_coco_video, record_of, tells_steps
from leocod.data.egoobjects import files_in, read_egoobjects
from leocod.data.footage import Footage
from leocod.data.oak import PICTURES, read_oak
from leocod.data.processed import lists_in, read_processed
from leocod.data.reading import shown
from leocod.data.recording import Entry, Kind, Problem, Recording, Report
from leocod.data.video import read_video
from leocod.errors import InvalidData, InvalidFrame
from leocod.imagefile import SUFFIXES, pixels_of, size_of

Tell = Callable[[int], None]
"""Called for each picture that has been looked at, with how many there are."""


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
        yield f"{self.path}: {self.layout} layout{self._content()}."
        kinds: Counter[Kind] = Counter(problem.kind for problem in self.problems)
        for kind, count in kinds.most_common():
            listed = [problem for problem in self.problems if problem.kind == kind]
            broken = sum(problem.breaks for problem in listed)
            yield f"{kind}: {count}{_breaking(broken, count)}"
            yield from (f"  {_told(problem)}" for problem in listed[:most])
            if count > most:
                yield f"  ... and {count - most} more"
        broken = sum(problem.breaks for problem in self.problems)
        total = f"{len(self.problems)} problem{'' if len(self.problems) == 1 else 's'}"
        yield f"{total}, {broken or 'none'} of which would stop a run." if self.problems else "Nothing is wrong."

    def _content(self) -> str:
        if self.recording is None:
            return ", which cannot be read"
        entries = self.recording.entries
        labelled = [entry.labels for entry in entries if entry.labels is not None]
        objects = sum(map(len, labelled))
        empty = sum(len(labels) == 0 for labels in labelled)
        return (
            f", {len(entries)} frames, {len(labelled)} of them labelled, {empty} of these without objects, "
            f"{objects} objects, {len(self.recording.classes)} classes"
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
            raise InvalidData(f"No file or folder '{file}'.")
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
        problems.append(Problem(path, "", str(error).removeprefix(f"{path}: "), kind="file"))
        return Findings(path, chosen, None, tuple(problems))
    lost = {problem.frame for problem in problems if problem.kind in {"picture", "path", "file"}}
    there = [entry for entry in recording.entries if entry.id not in lost]
    if chosen == "video":
        problems += () if quick else _look_at_film(path, tell)
    else:
        problems += look_at_pictures(there, quick=quick, tell=tell)
    if chosen not in FILMS:
        problems += _unlabelled(recording)
    problems += _unused(recording, labels or path)
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
            yield Problem(path, f"class {shown(name)}", "no usable frame shows it.", breaks=False, kind="unused class")


def _told(problem: Problem) -> str:
    # What is wrong with the whole was told by its reader, which named the file.
    return problem.what if problem.what.startswith(str(problem.file)) else str(problem)


def _breaking(broken: int, count: int) -> str:
    return "" if not broken else ", would stop a run" if broken == count else f", {broken} would stop a run"


def found_layout(path: Path) -> Layout:
    """How the files lie, by what is there."""
    if path.is_file():
        return "coco" if path.suffix.lower() == ".json" else _film_layout(path)
    layouts: dict[Layout, bool] = {
        "processed": bool(lists_in(path)),
        "oak": (path / PICTURES).is_dir(),
        "egoobjects": bool(files_in(path, "train")),
    }
    found = [layout for layout, there in layouts.items() if there]
    if len(found) > 1:
        raise InvalidData(f"{path} looks like {' and '.join(found)}. Say which with --layout.")
    if found:
        return found[0]
    if coco_files(path):
        return "coco"
    if any(file.suffix.lower() in SUFFIXES for file in path.iterdir()):
        return _film_layout(path)
    raise InvalidData(f"{path} holds no data in a known layout. Known: {', '.join([*READERS, *FILMS])}.")


def _film_layout(path: Path) -> Layout:
    return "video" if path.is_file() else "folder"


def coco_files(folder: Path) -> list[Path]:
    """The JSON files right in a folder that may be COCO files."""
    return sorted(file for file in folder.glob("*.json") if not re.fullmatch(r"labels_[0-9]+", file.stem))


def _read_coco(path: Path, report: Report) -> Recording:
    files = [path] if path.is_file() else coco_files(path)
    if len(files) != 1:
        raise InvalidData(f"{path} holds {len(files)} JSON files. Name the COCO file itself.")
    for problem in _doubts(files[0]):
        report(problem)
    return read_coco_video(files[0], report=report)


def _doubts(file: Path) -> Iterator[Problem]:
    """What a COCO file is read in spite of: a run does not look."""
    coco = read_coco(file, lambda problem: None)
    names = Counter(record_of(one) for annotations in coco.annotations.values() for one in annotations)
    for name, count in names.items():
        if count > 1:
            what = f"{count} annotations are called that. Each is used all the same."
            yield Problem(file, name, what, breaks=False, kind="duplicate id")
    if not tells_steps(coco):
        yield from _disorder(coco)


def _disorder(coco: Coco) -> Iterator[Problem]:
    last: dict[object, int] = {}
    for image in coco.images:
        video = image.get("video_id")
        number = next((image[key] for key in NUMBERS if type(image.get(key)) is int), None)
        if number is None:
            continue
        if number <= last.get(video, number - 1):
            what = f"its frame number {number} does not come after {last[video]}. Frames are used in order of number."
            yield Problem(coco.file, record_of(image), what, breaks=False, kind="order")
        last[video] = number


def _read_film(path: Path, labels: Path | None, report: Report) -> Recording:
    if labels is not None:
        return read_video(path, labels, report=report)
    # Without labels there are no classes either; the reader wants some.
    return replace(read_video(path, classes=("any",), report=report), classes=())


READERS: dict[Layout, Callable[[Path, Report], Recording]] = {
    "processed": lambda path, report: read_processed(path, report=report),
    "oak": lambda path, report: read_oak(path, report=report),
    "egoobjects": lambda path, report: read_egoobjects(path, report=report),
    "coco": _read_coco,
}

FILMS: tuple[Layout, ...] = ("folder", "video")
"""Whose labels, if there are any, lie apart."""


def look_at_pictures(entries: Sequence[Entry], *, quick: bool, tell: Tell) -> Generator[Problem]:
    """What is wrong with the pictures of these frames."""
    # Pillow decodes without holding the interpreter, so that threads share the work.
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        for problem in pool.map(lambda entry: _picture_problem(entry, quick), entries):
            tell(len(entries))
            if problem is not None:
                yield problem
    finally:
        # Whoever has seen enough does not want to wait for the rest.
        pool.shutdown(cancel_futures=True)


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


def _picture_problem(entry: Entry, quick: bool) -> Problem | None:
    record = f"frame {entry.index} of {entry.video}"
    try:
        size = size_of(entry.picture) if quick else pixels_of(entry.picture).shape[:2]
    except InvalidFrame as error:
        what = str(error).removeprefix(f"{entry.picture}").lstrip(": ")
        return Problem(entry.picture, record, what, frame=entry.id, kind="picture")
    if entry.size is not None and size != entry.size:
        said, found = (f"{width} x {height}" for height, width in (entry.size, size))
        what = f"it is {found} pixels large, but its record says {said}. Correct the record."
        return Problem(entry.picture, record, what, frame=entry.id, kind="size")
    return None
