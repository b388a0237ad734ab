"""COCO files, of which LVIS files are a kind: images, annotations, categories, videos."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard

from leocod.errors import InvalidData, InvalidFrame
from leocod.files.documents import DATA
from leocod.files.images import CURE, read_size
from leocod.files.paths import Root, explain_absence
from leocod.readers.annotations import Annotation, ClassNumbers, make_labels
from leocod.readers.classes import EMPTY
from leocod.readers.recording import Entry, FrameProblems, Instance, Problem, Problems, Report, raise_problem
from leocod.text import natural_key, one_line, shorten
from leocod.types import Labels

Id = int | str


@dataclass(frozen=True)
class Coco:
    """The content of a COCO file by id. Lists and ids are checked; the rest of a record is checked when it is used."""

    file: Path
    images: tuple[dict[str, Any], ...]
    """Those with an id, in the order of the file."""
    repeated_ids: frozenset[Id]
    """Ids that more than one image has: it is not known whose their annotations are."""
    annotations: Mapping[Id, Sequence[dict[str, Any]]]
    """By the id of their image."""
    categories: Mapping[Id, str]
    """Names by id, in order of id."""
    videos: Mapping[Id, str]
    """Names by id, in the order of the list, or of first appearance where there is no list."""


def read_coco(file: Path, report: Report = raise_problem) -> Coco:
    """Read a COCO file. A record without a usable id is reported as a problem that ends every run."""
    content = DATA.read_json(file)
    if not isinstance(content, dict):
        raise InvalidData(
            f"{one_line(file)} holds a {type(content).__name__}: a COCO file is an object with images in it."
        )
    images = tuple(_list_records(content, "images", "id", file, report))
    counts = Counter(image["id"] for image in images)
    annotations: dict[Id, list[dict[str, Any]]] = {id: [] for id in counts}
    for annotation in _list_records(content, "annotations", "image_id", file, report):
        if annotation["image_id"] in annotations:
            annotations[annotation["image_id"]].append(annotation)
        else:
            what = f"there is no image {shorten(annotation['image_id'])}."
            report(Problem(file, name_record(annotation), what, kind="stray annotation"))
    listed = _list_records(content, "videos", "id", file, raise_problem)
    videos = {video["id"]: one_line(video.get("name", video["id"])) for video in listed}
    mentioned = {image["video_id"]: one_line(image["video_id"]) for image in images if is_id(image.get("video_id"))}
    return Coco(
        file,
        images,
        repeated_ids=frozenset(id for id, count in counts.items() if count > 1),
        annotations=annotations,
        categories=parse_categories(content.get("categories", []), file),
        videos=videos or mentioned,
    )


def parse_categories(records: Any, file: Path, key: str = "categories") -> dict[Id, str]:
    """Return class names by id, in order of id. Nothing can be read without them, so any mistake is an error.

    `key` is what the file calls the list.
    """
    names: dict[Id, str] = {}
    for record in _list_records({key: records}, key, "id", file, raise_problem):
        id, name = record["id"], record.get("name")
        if id in names:
            raise InvalidData(f"{one_line(file)}: two categories have the id {shorten(id)}.")
        if not isinstance(name, str):
            raise InvalidData(f"{one_line(file)}, category {shorten(id)}: its name is {shorten(name)}, no text.")
        if not name.strip():
            raise InvalidData(f"{one_line(file)}, category {shorten(id)}: {EMPTY}")
        names[id] = name
    if repeated := [name for name, count in Counter(names.values()).items() if count > 1]:
        raise InvalidData(
            f"{one_line(file)}: two categories are called {shorten(repeated[0])}. Every class needs a name of its own."
        )
    return dict(sorted(names.items(), key=lambda pair: natural_key(str(pair[0]))))


class CocoFrames:
    """Makes entries of the images of a COCO file."""

    def __init__(
        self, coco: Coco, root: Root, classes: ClassNumbers, report: Report, *, needs_category: bool = True
    ) -> None:
        """`needs_category`: whether an annotation without a category is a mistake, or just takes no part."""
        self.coco = coco
        self.root = root
        self.classes = classes
        self.report = report
        self.needs_category = needs_category

    def make_entry(self, image: dict[str, Any], name: Any, *, id: int, video: str, index: int) -> Entry:
        """Make the entry of an image whose file has this name under the root. A broken image is reported."""
        problems = FrameProblems(self.report, self.coco.file, name_record(image), id)
        path, size, labels = self.coco.file, None, None
        if not isinstance(name, str) or not name:
            stated = image.get("file_name") or image.get("url")
            problems.add("", f"its file_name is {shorten(stated)}: it should be a path.", "path")
        elif refusal := self.root.explain_refusal(name):
            problems.add("", refusal, "path")
        else:
            path = self.root.path / name
            if absence := explain_absence(path):
                problems.add("", f"{path}: {absence}. {CURE}", "picture")
            elif size := read_stated_size(image, problems) or _read_real_size(path, problems):
                labels = self.make_labels(image, size, problems)
        if problems.broken and image.get("labelled") is not False:
            labels = Labels.none()
        entry = Entry(id, video, index, path, size, labels, broken=problems.broken, record=problems.where)
        return self.add_instances(entry, image)

    def add_instances(self, entry: Entry, image: dict[str, Any]) -> Entry:
        """The entry of an image with the things that its labels show, where there are labels and the file says so."""
        if entry.labels is None or entry.broken:
            return entry
        return replace(entry, instances=self._list_instances(image, entry.video))

    def make_labels(self, image: dict[str, Any], size: tuple[int, int], problems: FrameProblems) -> Labels | None:
        """Make the labels of an image of this size; None when they cannot be used, or nobody labelled it."""
        if image["id"] in self.coco.repeated_ids:
            problems.add("", "another image has the same id. Every image needs an id of its own.", "duplicate id")
            return None
        if image.get("labelled") is False:
            return None
        annotations = list_annotations(self.coco, image, problems, needs_category=self.needs_category)
        return make_labels((annotation for annotation, _ in annotations), size, self.classes, problems)

    def _list_instances(self, image: dict[str, Any], video: str) -> tuple[Instance, ...] | None:
        """Name the thing that each label of an image shows; None when the file does not say it of each."""
        found: list[Instance] = []
        for annotation in self.coco.annotations[image["id"]]:
            # As in the labels, which were found to be whole.
            if annotation.get("iscrowd") == 1 or self.classes.get(annotation.get("category_id")) is None:
                continue
            if (instance := find_instance(annotation, video)) is None:
                return None
            found.append(instance)
        return tuple(found)


def list_annotations(
    coco: Coco, image: Mapping[str, Any], problems: Problems, *, needs_category: bool = True
) -> Iterator[tuple[Annotation, Mapping[str, Any]]]:
    """Yield the annotations of an image that take part, each with its record. The others are reported."""
    for annotation in coco.annotations[image["id"]]:
        record, crowd = name_record(annotation), annotation.get("iscrowd")
        if crowd not in (None, 0, 1):
            problems.add(record, f"its iscrowd is {shorten(crowd)}: it should be 0 or 1.", "crowd")
        elif crowd == 1:
            # COCO's own evaluation passes over such regions; here they would be one object too large.
            what = "it stands for a crowd (iscrowd), not for one object, and takes no part."
            problems.add(record, what, "crowd", breaks=False)
        elif needs_category or annotation.get("category_id") is not None:
            yield Annotation(record, annotation.get("category_id"), annotation.get("bbox"), "xywh"), annotation


def find_instance(annotation: Mapping[str, Any], video: str) -> Instance | None:
    """Name the thing that an annotation shows, in a frame of this video; None when the file does not say.

    An `instance_id` is that of a thing in the whole file, a `track_id` that of a thing in its video.
    """
    if is_id(annotation.get("instance_id")):
        return "", annotation["instance_id"]
    return (video, annotation["track_id"]) if is_id(annotation.get("track_id")) else None


def read_stated_size(image: Mapping[str, Any], problems: Problems) -> tuple[int, int] | None:
    """Read height and width from a record; None when it does not state them, or states what cannot be."""
    height, width = image.get("height"), image.get("width")
    if height is None and width is None:
        return None
    if _is_side(height) and _is_side(width):
        return int(height), int(width)
    what = f"its height and width are {shorten(height)} and {shorten(width)}: they should be pixels."
    problems.add("", what, "size")
    return None


def _is_side(value: Any) -> TypeGuard[float]:
    return type(value) in (int, float) and 0 < value < 10**6 and value == int(value)


def _read_real_size(path: Path, problems: FrameProblems) -> tuple[int, int] | None:
    try:
        return None if problems.broken else read_size(path)
    except InvalidFrame as error:
        problems.add("", str(error), "picture")
        return None


def name_record(record: Mapping[str, Any]) -> str:
    """Say which image or annotation a record is, for a message."""
    kind = "annotation" if "image_id" in record else "image"
    if not is_id(record.get("id")):
        return f"{kind} without an id"
    return f"{kind} {one_line(record['id'], 60)}"


def is_id(value: object) -> bool:
    """Whether a value can be the id of a record."""
    return type(value) in (int, str)


def _list_records(
    content: Mapping[str, Any], key: str, id_key: str, file: Path, report: Report
) -> Iterator[dict[str, Any]]:
    """Yield the records of a list that have a usable id; report the others."""
    records = content.get(key, [])
    if not isinstance(records, list):
        raise InvalidData(f"{one_line(file)}: '{key}' is {shorten(records)}: it should be a list.")
    for number, record in enumerate(records):
        if isinstance(record, dict) and is_id(record.get(id_key)):
            yield record
        else:
            what = f"it is {shorten(record)}: it should be an object with its {id_key}."
            if isinstance(record, dict):
                what = f"its {id_key} is {shorten(record.get(id_key))}: it should be a whole number or a text."
            report(Problem(file, f"number {number} of '{key}'", what, kind="file", fatal=True))
