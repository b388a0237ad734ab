"""PASCAL VOC: one XML file of objects under `Annotations` for each picture under `JPEGImages`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from leocod.errors import InvalidData, InvalidFrame, UnknownName
from leocod.files.images import CURE, read_size
from leocod.files.paths import NO_FILE, Root, explain_absence
from leocod.readers.annotations import Annotation, ClassNumbers, make_labels
from leocod.readers.classes import choose_classes, explain_bad_name
from leocod.readers.recording import Entry, FrameProblems, Problem, Recording, Report, raise_problem
from leocod.readers.voc_files import ANNOTATIONS, PICTURES, Place, VocFiles
from leocod.readers.voc_objects import VocObject, parse_object, parse_size, parse_voc
from leocod.text import one_line, pluralize, shorten, strip_file_name
from leocod.types import Labels


@dataclass
class VocFrame:
    """A picture with the content of its XML file, before the classes are known."""

    video: str
    index: int
    picture: Path
    label_file: Path | None
    problems: FrameProblems
    size: tuple[int, int] | None = None
    """Height and width, as the XML file says."""
    objects: list[VocObject] = field(default_factory=list)

    @property
    def names(self) -> set[str]:
        """Names of the classes that it shows."""
        return {thing.name for thing in self.objects if thing.name and not explain_bad_name(thing.name)}


def read_voc(
    root: Path,
    *,
    sets: Sequence[str] | None = None,
    rename: Mapping[str, str] | None = None,
    classes: Sequence[str] | None = None,
    report: Report = raise_problem,
) -> Recording:
    """Read all frames in order, not yet divided into steps.

    Each of the `sets`, a list of image names under `ImageSets/Main`, is one video. Without, all images are one, in the
    order of their names, numbers in them by value. A picture without an XML file is a frame that nobody has labelled.
    `rename` maps labels as they stand in the files to the names of classes.
    """
    files = VocFiles(root, report)
    places = files.list_all() if sets is None else files.list_sets(sets)
    reader = _Reader(files, rename or {}, report)
    frames = [reader.read_frame(place, number) for number, place in enumerate(places)]
    if not frames:
        where = root / PICTURES if sets is None else f"{root}: the lists {', '.join(sets)}"
        raise InvalidData(f"{one_line(where)}: no pictures.")
    reader.check_renaming()
    found = sorted({name for frame in frames for name in frame.names})
    if classes is None and not found:
        raise InvalidData(f"{one_line(root / ANNOTATIONS)}: no label names a class. Give the class list as `classes`.")
    names = tuple(classes) if classes is not None else choose_classes(found, None, root / ANNOTATIONS, "as <name>")
    numbers: ClassNumbers = {**dict.fromkeys(found), **{name: number for number, name in enumerate(names)}}
    _report_unused_classes(frames, names, root, report)
    return Recording(names, tuple(_make_entry(frame, id, numbers) for id, frame in enumerate(frames)))


class _Reader:
    """Reads the frames, and remembers which labels it has met."""

    def __init__(self, files: VocFiles, rename: Mapping[str, str], report: Report) -> None:
        self.files = files
        self.rename = rename
        self.report = report
        self.safe_root = Root(files.root)
        self.met: set[str] = set()
        """Labels as they stand in the files."""
        self.opened: set[str] = set()

    def read_frame(self, place: Place, id: int) -> VocFrame:
        picture, label_file = self.files.pictures.get(place.stem), self.files.annotations.get(place.stem)
        problems = self._begin(place, picture, label_file, id)
        path = picture or self.files.root / PICTURES / f"{place.stem}.jpg"
        frame = VocFrame(place.video, place.index, path, label_file, problems)
        paths = (str(file.relative_to(self.files.root)) for file in (picture, label_file) if file is not None)
        if refusal := next(filter(None, map(self.safe_root.explain_refusal, paths)), None):
            problems.add("", refusal, "path")
            return frame
        if absence := NO_FILE if picture is None else explain_absence(picture):
            problems.add("", f"its picture {one_line(path, 300)}: {absence}. {CURE}", "picture")
        if label_file is not None:
            try:
                frame.size, frame.objects = self._read_objects(label_file, problems)
            except (InvalidData, ValueError) as error:
                problems.add("", strip_file_name(label_file, error), "file")
        return frame

    def check_renaming(self) -> None:
        """Raise if a label that is to be renamed is in no XML file, be it one that takes no part in this stream."""
        missing = {*self.rename} - self.met
        for stem, file in self.files.annotations.items():
            if not missing:
                return
            if stem not in self.opened and not self.safe_root.explain_refusal(f"{ANNOTATIONS}/{file.name}"):
                missing -= {thing.name for thing in _list_objects_quietly(file)}
        if missing:
            kind = f"label in {one_line(self.files.root / ANNOTATIONS)} for the option rename"
            raise UnknownName(kind, one_line(min(missing), 60), (one_line(name, 60) for name in self.met))

    def _begin(self, place: Place, picture: Path | None, label_file: Path | None, id: int) -> FrameProblems:
        file, record = label_file or picture, ""
        if file is None:
            # Only a list can name an image of which nothing is there.
            assert place.listed is not None
            file, record = place.listed[0], f"line {place.listed[1]}, image {one_line(place.stem, 60)}"
        problems = FrameProblems(self.report, file, record, id)
        if place.repeats:
            what = f"it is in the lists twice, first in {place.repeats}. List it once."
            problems.add("", what, "duplicate id")
        return problems

    def _read_objects(self, file: Path, problems: FrameProblems) -> tuple[tuple[int, int] | None, list[VocObject]]:
        self.opened.add(file.stem)
        annotation = parse_voc(file)
        objects = [parse_object(element) for element in annotation.list_children("object")]
        self.met |= {thing.name for thing in objects if thing.name is not None}
        renamed = [VocObject(self.rename.get(name or "", name), box) for name, box in objects]
        return parse_size(annotation, problems), renamed


def _list_objects_quietly(file: Path) -> list[VocObject]:
    try:
        return [parse_object(element) for element in parse_voc(file).list_children("object")]
    # It takes no part: that it is damaged stops nobody.
    except (InvalidData, ValueError):
        return []


def _report_unused_classes(frames: Sequence[VocFrame], names: Sequence[str], root: Path, report: Report) -> None:
    known = set(names)
    for name in sorted({name for frame in frames for name in frame.names} - known):
        count = sum(name in frame.names for frame in frames)
        what = f"the class {shorten(name)}, in {pluralize(count, 'frame')}, is not in the class list: it takes no part."
        report(Problem(root, "", what, breaks=False, kind="unused class"))


def _make_entry(frame: VocFrame, id: int, classes: ClassNumbers) -> Entry:
    problems, labels, size = frame.problems, None, frame.size
    if frame.label_file is not None and not problems.broken:
        size = size or _read_real_size(frame.picture, problems)
        if size is not None:
            annotations = (
                Annotation(thing.name_record(number), *thing, "xyxy")
                for number, thing in enumerate(frame.objects, start=1)
            )
            labels = make_labels(annotations, size, classes, problems)
    if problems.broken and frame.label_file is not None:
        labels = Labels.none()
    return Entry(
        *(id, frame.video, frame.index, frame.picture, size, labels), broken=problems.broken, record=problems.where
    )


def _read_real_size(picture: Path, problems: FrameProblems) -> tuple[int, int] | None:
    try:
        return read_size(picture)
    except InvalidFrame as error:
        problems.add("", str(error), "picture")
        return None
