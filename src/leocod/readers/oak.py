"""OAK as it was released: pictures under `Raw`, one JSON file of objects for each under `Label`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from leocod.errors import InvalidData, InvalidFrame
from leocod.files.documents import DATA
from leocod.files.images import CURE, SUFFIXES, read_size
from leocod.files.paths import Root, explain_absence
from leocod.readers.classes import class_list, why_unfit
from leocod.readers.marks import FARTHEST, Classes, Mark, labels_from
from leocod.readers.recording import Entry, FrameProblems, Problem, Recording, Report, split, stop
from leocod.text import natural_key, one_line, shorten, strip_file_name
from leocod.types import Labels

PICTURES, LABELS, TEST_LABELS = "Raw", "Label", "Label_test"

LARGEST_FRAME = 32 * 1024**2
"""Bytes of the largest JSON file of one frame."""


@dataclass
class Found:
    """A picture with what its label file says, before the classes are known."""

    step: int
    picture: Path
    label_file: Path | None
    held_out: bool
    tell: FrameProblems
    objects: list[Any]
    outside: bool
    """Whether a path of it leads out of the data set, so that nothing of it may be opened."""

    @property
    def names(self) -> set[str]:
        """Of the classes it shows."""
        named = (one.get("category") for one in self.objects if isinstance(one, dict))
        return {name for name in named if isinstance(name, str) and not why_unfit(name)}


def read_oak(
    root: Path,
    *,
    test_labels: str | None = None,
    classes: Sequence[str] | None = None,
    frames_per_step: int = 16,
    hold_out: int = 1,
    report: Report = stop,
) -> Recording:
    """All frames in order, divided into steps and test frames.

    With labels of test frames in a folder of their own, each folder under `Raw` is a step, and the frames labelled in
    that other folder are the held-out ones. Without, all frames in a row are split into steps of `frames_per_step`,
    each followed by `hold_out` test frames. A picture without a label file is a frame that nobody has labelled.
    """
    tests = _test_folder(root, test_labels)
    found = list(_found(root, tests, report))
    if not found:
        raise InvalidData(f"{one_line(root / PICTURES)} holds no pictures in folders of steps.")
    names = tuple(classes) if classes is not None else _class_names(found, apart=tests is not None, root=root)
    _tell_of_others(found, names, root, report)
    entries = tuple(_entry(one, id, names) for id, one in enumerate(found))
    if tests is None:
        entries = split(entries, frames_per_step=frames_per_step, held_out=hold_out)
    return Recording(names, tuple(_numbered(entries)))


def objects_in(content: Any) -> list[Any]:
    """The objects of a label file, in any of the forms that were released: bare, in a list of lists, in a DataList.

    >>> objects_in({"DataList": [{"labels": [1, 2]}]}), objects_in([{"labels": [1]}]), objects_in([])
    ([1, 2], [1], [])
    """
    if isinstance(content, dict):
        content = content.get("DataList", [content])
    if not isinstance(content, list):
        raise ValueError(f"it holds {shorten(content)}: it should be a list of objects.")
    found: list[Any] = []
    for one in content:
        if isinstance(one, dict) and "labels" in one:
            inner = [] if one["labels"] is None else one["labels"]
            if not isinstance(inner, list):
                raise ValueError(f"its labels are {shorten(inner)}: they should be a list.")
            found += inner
        else:
            found.append(one)
    return found


def _test_folder(root: Path, given: str | None) -> Path | None:
    if given is None:
        return root / TEST_LABELS if (root / TEST_LABELS).is_dir() else None
    folder = Root(root).join(given, root, "test_labels")
    if not folder.is_dir():
        raise InvalidData(
            f"{one_line(folder)}: no such folder. test_labels should name one with the labels of test frames."
        )
    return folder


def _found(root: Path, tests: Path | None, report: Report) -> Iterator[Found]:
    """Every picture with its label file, in order: folders as people sort them, then video, then number."""
    if not (root / PICTURES).is_dir():
        raise InvalidData(
            f"{one_line(root / PICTURES)}: no such folder. It should hold one folder of pictures for each step."
        )
    safe = Root(root)
    number = 0
    folders = sorted(
        (one for one in (root / PICTURES).iterdir() if one.is_dir()), key=lambda one: natural_key(one.name)
    )
    for step, folder in enumerate(folders):
        pictures = {file.stem: file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES}
        labels = _label_files(root / LABELS / folder.name)
        held_out = _label_files(tests / folder.name) if tests is not None else {}
        for stem in sorted({*pictures, *labels, *held_out}, key=_place):
            label_file = held_out.get(stem, labels.get(stem))
            picture = pictures.get(stem, folder / f"{stem}.jpg")
            tell = FrameProblems(report, label_file or picture, "", number)
            paths = (str(file.relative_to(root)) for file in (picture, label_file) if file is not None)
            wrong = next(filter(None, map(safe.explain_refusal, paths)), None)
            if wrong:
                tell("", wrong, "path")
            objects = [] if wrong else _objects(label_file, tell)
            yield Found(step, picture, label_file, stem in held_out, tell, objects, outside=wrong is not None)
            number += 1


def _label_files(folder: Path) -> dict[str, Path]:
    return {file.stem: file for file in folder.iterdir() if file.suffix == ".json"} if folder.is_dir() else {}


def _place(stem: str) -> tuple[str, Any]:
    """By the name of the video, then by number: what follows the last `_`."""
    video, _, number = stem.rpartition("_")
    return video, natural_key(number)


def _objects(file: Path | None, tell: FrameProblems) -> list[Any]:
    if file is None:
        return []
    try:
        return objects_in(DATA.read_json(file, largest=LARGEST_FRAME))
    except (InvalidData, ValueError) as error:
        tell("", strip_file_name(file, error), "file")
        return []


def _class_names(found: Sequence[Found], *, apart: bool, root: Path) -> tuple[str, ...]:
    """Sorted names: all, or, where test labels are apart, those in both kinds of labels, as OAK's own code has it."""
    trained = {name for one in found if not one.held_out for name in one.names}
    tested = {name for one in found if one.held_out for name in one.names}
    names = trained & tested if apart else trained
    if not names:
        where = "training and test labels have no class in common" if apart else "no label names a class"
        raise InvalidData(f"{one_line(root)}: {where}. Give the class list as `classes`.")
    return class_list(sorted(names), None, root, "in its label files")


def _tell_of_others(found: Sequence[Found], names: Sequence[str], root: Path, report: Report) -> None:
    known = set(names)
    counts = Counter(name for one in found for name in one.names - known)
    for name, count in sorted(counts.items()):
        what = f"the class {shorten(name)}, in {count} frames, is not in the class list: it takes no part."
        report(Problem(root, "", what, breaks=False, kind="unused class"))


def _entry(one: Found, id: int, names: Sequence[str]) -> Entry:
    labels, size = None, None
    video, _, _ = one.picture.stem.rpartition("_")
    if one.outside:
        pass
    elif absent := explain_absence(one.picture):
        one.tell("", f"its picture {one.picture}: {absent}. {CURE}", "picture")
    else:
        try:
            size = read_size(one.picture)
        except InvalidFrame as error:
            one.tell("", strip_file_name(one.tell.file, error), "picture")
    if one.label_file is not None and size is not None and not one.tell.broken:
        classes: Classes = {**dict.fromkeys(one.names), **{name: number for number, name in enumerate(names)}}
        labels = labels_from(_marks(one.objects, one.tell), size, classes, one.tell)
    broken = one.tell.broken
    if broken and one.label_file is not None:
        labels = Labels.none()
    video = one_line(video)
    place = one.tell.where
    return Entry(id, video, -1, one.picture, size, labels, one.step, one.held_out, broken=broken, record=place)


def _marks(objects: Sequence[Any], tell: FrameProblems) -> Iterator[Mark]:
    for number, one in enumerate(objects):
        known = one if isinstance(one, dict) else {}
        record = f"object {shorten(known.get('id', number))}"
        corners = known.get("box2d")
        box: Any = corners
        if isinstance(corners, dict):
            box = [corners.get(key) for key in ("x1", "y1", "x2", "y2")]
            if all(type(value) in (int, float) and abs(value) < FARTHEST for value in box):
                if box[0] > box[2] or box[1] > box[3]:
                    # OAK's own code does that, too.
                    what = f"the corners of the box {shorten(box)} are swapped, and are put in order."
                    tell(record, what, "swapped box", breaks=False)
                box = [min(box[0], box[2]), min(box[1], box[3]), max(box[0], box[2]), max(box[1], box[3])]
        yield Mark(record, known.get("category"), box, "xyxy")


def _numbered(entries: Sequence[Entry]) -> Iterator[Entry]:
    """With the position of each in its video."""
    met: Counter[str] = Counter()
    for entry in entries:
        yield replace(entry, index=met[entry.video])
        met[entry.video] += 1
