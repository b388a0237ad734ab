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
from leocod.readers.annotations import FARTHEST, Annotation, ClassNumbers, make_labels, show_box
from leocod.readers.classes import choose_classes, explain_bad_name
from leocod.readers.recording import Entry, FrameProblems, Problem, Recording, Report, raise_problem, split
from leocod.text import natural_key, one_line, pluralize, shorten, strip_file_name
from leocod.types import Labels

PICTURES, LABELS, TEST_LABELS = "Raw", "Label", "Label_test"

LARGEST_FRAME = 32 * 1024**2
"""Bytes of the largest JSON file of one frame."""


@dataclass
class OakFrame:
    """A picture with the content of its label file, before the classes are known."""

    step: int
    picture: Path
    label_file: Path | None
    held_out: bool
    problems: FrameProblems
    objects: list[Any]
    leads_outside: bool
    """Whether a path of it leads out of the data set, so that nothing of it may be opened."""

    @property
    def names(self) -> set[str]:
        """Names of the classes that it shows."""
        names = (thing.get("category") for thing in self.objects if isinstance(thing, dict))
        return {name for name in names if isinstance(name, str) and not explain_bad_name(name)}


def read_oak(
    root: Path,
    *,
    test_labels: str | None = None,
    classes: Sequence[str] | None = None,
    frames_per_step: int = 16,
    hold_out: int = 1,
    report: Report = raise_problem,
) -> Recording:
    """Read all frames in order, divided into steps and test frames.

    With labels of test frames in a folder of their own, each folder under `Raw` is a step, and the frames labelled in
    that other folder are the held-out ones. Without, all frames in a row are split into steps of `frames_per_step`,
    each followed by `hold_out` test frames. A picture without a label file is a frame that nobody has labelled.
    """
    tests = _find_test_folder(root, test_labels)
    frames = list(_list_frames(root, tests, report))
    if not frames:
        raise InvalidData(f"{one_line(root / PICTURES)} holds no pictures in folders of steps.")
    names = tuple(classes) if classes is not None else _find_class_names(frames, apart=tests is not None, root=root)
    _report_unused_classes(frames, names, root, report)
    entries = tuple(_make_entry(frame, id, names) for id, frame in enumerate(frames))
    if tests is None:
        entries = split(entries, frames_per_step=frames_per_step, held_out=hold_out)
    return Recording(names, tuple(_number_in_video(entries)))


def list_objects(content: Any) -> list[Any]:
    """List the objects of a label file in any of the released forms: bare, in a list of lists, in a DataList.

    >>> list_objects({"DataList": [{"labels": [1, 2]}]}), list_objects([{"labels": [1]}]), list_objects([])
    ([1, 2], [1], [])
    """
    if isinstance(content, dict):
        content = content.get("DataList", [content])
    if not isinstance(content, list):
        raise ValueError(f"it holds {shorten(content)}: it should be a list of objects.")
    objects: list[Any] = []
    for item in content:
        if isinstance(item, dict) and "labels" in item:
            inner = [] if item["labels"] is None else item["labels"]
            if not isinstance(inner, list):
                raise ValueError(f"its labels are {shorten(inner)}: they should be a list.")
            objects += inner
        else:
            objects.append(item)
    return objects


def _find_test_folder(root: Path, given: str | None) -> Path | None:
    if given is None:
        return root / TEST_LABELS if (root / TEST_LABELS).is_dir() else None
    folder = Root(root).join(given, root, "test_labels")
    if not folder.is_dir():
        raise InvalidData(
            f"{one_line(folder)}: no such folder. test_labels should name one with the labels of test frames."
        )
    return folder


def _list_frames(root: Path, tests: Path | None, report: Report) -> Iterator[OakFrame]:
    """Yield every picture with its label file: folders in natural order, in each by video, then by number."""
    pictures_root = root / PICTURES
    if not pictures_root.is_dir():
        raise InvalidData(
            f"{one_line(pictures_root)}: no such folder. It should hold one folder of pictures for each step."
        )
    safe_root = Root(root)
    number = 0
    folders = (folder for folder in pictures_root.iterdir() if folder.is_dir())
    for step, folder in enumerate(sorted(folders, key=lambda folder: natural_key(folder.name))):
        pictures = {file.stem: file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES}
        labels = _list_label_files(root / LABELS / folder.name)
        held_out = _list_label_files(tests / folder.name) if tests is not None else {}
        for stem in sorted({*pictures, *labels, *held_out}, key=_sort_key):
            label_file = held_out.get(stem, labels.get(stem))
            picture = pictures.get(stem, folder / f"{stem}.jpg")
            problems = FrameProblems(report, label_file or picture, "", number)
            paths = (str(file.relative_to(root)) for file in (picture, label_file) if file is not None)
            refusal = next(filter(None, map(safe_root.explain_refusal, paths)), None)
            if refusal:
                problems.add("", refusal, "path")
            objects = [] if refusal else _read_objects(label_file, problems)
            yield OakFrame(step, picture, label_file, stem in held_out, problems, objects, bool(refusal))
            number += 1


def _list_label_files(folder: Path) -> dict[str, Path]:
    return {file.stem: file for file in folder.iterdir() if file.suffix == ".json"} if folder.is_dir() else {}


def _sort_key(stem: str) -> tuple[str, Any]:
    """Sort by the name of the video, then by number: what follows the last `_`."""
    video, _, number = stem.rpartition("_")
    return video, natural_key(number)


def _read_objects(file: Path | None, problems: FrameProblems) -> list[Any]:
    if file is None:
        return []
    try:
        return list_objects(DATA.read_json(file, largest=LARGEST_FRAME))
    except (InvalidData, ValueError) as error:
        problems.add("", strip_file_name(file, error), "file")
        return []


def _find_class_names(frames: Sequence[OakFrame], *, apart: bool, root: Path) -> tuple[str, ...]:
    """Return sorted names: all, or, where test labels are apart, those in both, as in OAK's own code."""
    trained = {name for frame in frames if not frame.held_out for name in frame.names}
    tested = {name for frame in frames if frame.held_out for name in frame.names}
    names = trained & tested if apart else trained
    if not names:
        where = "training and test labels have no class in common" if apart else "no label names a class"
        raise InvalidData(f"{one_line(root)}: {where}. Give the class list as `classes`.")
    return choose_classes(sorted(names), None, root, "in its label files")


def _report_unused_classes(frames: Sequence[OakFrame], names: Sequence[str], root: Path, report: Report) -> None:
    known = set(names)
    counts = Counter(name for frame in frames for name in frame.names - known)
    for name, count in sorted(counts.items()):
        what = f"the class {shorten(name)}, in {pluralize(count, 'frame')}, is not in the class list: it takes no part."
        report(Problem(root, "", what, breaks=False, kind="unused class"))


def _make_entry(frame: OakFrame, id: int, names: Sequence[str]) -> Entry:
    problems, labels, size = frame.problems, None, None
    if not frame.leads_outside:
        size = _read_size(frame.picture, problems)
    if frame.label_file is not None and size is not None and not problems.broken:
        classes: ClassNumbers = {**dict.fromkeys(frame.names), **{name: number for number, name in enumerate(names)}}
        labels = make_labels(_list_annotations(frame.objects, problems), size, classes, problems)
    if problems.broken and frame.label_file is not None:
        labels = Labels.none()
    video, step, held_out = one_line(frame.picture.stem.rpartition("_")[0]), frame.step, frame.held_out
    broken, record = problems.broken, problems.where
    return Entry(id, video, -1, frame.picture, size, labels, step, held_out, broken=broken, record=record)


def _read_size(picture: Path, problems: FrameProblems) -> tuple[int, int] | None:
    if absence := explain_absence(picture):
        problems.add("", f"its picture {picture}: {absence}. {CURE}", "picture")
        return None
    try:
        return read_size(picture)
    except InvalidFrame as error:
        problems.add("", strip_file_name(problems.file, error), "picture")
        return None


def _list_annotations(objects: Sequence[Any], problems: FrameProblems) -> Iterator[Annotation]:
    for number, thing in enumerate(objects):
        content = thing if isinstance(thing, dict) else {}
        record = f"object {shorten(content.get('id', number))}"
        corners = content.get("box2d")
        box: Any = corners
        if isinstance(corners, dict):
            box = [corners.get(key) for key in ("x1", "y1", "x2", "y2")]
            if all(type(value) in (int, float) and abs(value) < FARTHEST for value in box):
                if box[0] > box[2] or box[1] > box[3]:
                    # OAK's own code does that, too.
                    what = f"the corners of the box {show_box(box, 'xyxy')} are swapped, and are put in order."
                    problems.add(record, what, "swapped box", breaks=False)
                box = [min(box[0], box[2]), min(box[1], box[3]), max(box[0], box[2]), max(box[1], box[3])]
        yield Annotation(record, content.get("category"), box, "xyxy")


def _number_in_video(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Give each entry its position in its video."""
    counts: Counter[str] = Counter()
    for entry in entries:
        yield replace(entry, index=counts[entry.video])
        counts[entry.video] += 1
