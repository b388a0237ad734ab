"""COCO files, of which LVIS files are a kind: images, annotations, categories, videos; and a stream made of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard

from leocod.errors import InvalidConfig, InvalidData, InvalidFrame, UnknownName
from leocod.files.documents import DATA
from leocod.files.images import CURE, read_size
from leocod.files.paths import Root, explain_absence
from leocod.readers.classes import class_list, class_numbers
from leocod.readers.marks import Classes, Mark, labels_from
from leocod.readers.recording import Entry, FrameProblems, Problem, Recording, Report, stop
from leocod.text import natural_key, one_line, shorten
from leocod.types import Labels

Id = int | str
NUMBERS = ("frame_id", "frame_number", "frame_index")
"""Where an image may say which frame of its video it is; the first that all images of the video have."""


@dataclass(frozen=True)
class Coco:
    """What a COCO file says, by id. Only its skeleton is checked; records are, when they are used."""

    file: Path
    images: tuple[dict[str, Any], ...]
    """Those with an id, in the order of the file."""
    twice: frozenset[Id]
    """Ids that more than one image has: nobody can tell whose the annotations are."""
    annotations: Mapping[Id, Sequence[dict[str, Any]]]
    """By the id of their image."""
    categories: Mapping[Id, str]
    """Names by id, in order of id."""
    videos: Mapping[Id, str]
    """Names by id, in the order of the list, or of first appearance where there is no list."""
    lists_videos: bool


def read_coco(file: Path, report: Report = stop) -> Coco:
    """Take a COCO file apart. Records without a usable id are told of, as something that no run can go on with."""
    content = DATA.read_json(file)
    if not isinstance(content, dict):
        raise InvalidData(
            f"{one_line(file)} holds a {type(content).__name__}: a COCO file is an object with images in it."
        )
    images = tuple(_with_id(content, "images", "id", file, report))
    twice = frozenset(id for id, count in Counter(image["id"] for image in images).items() if count > 1)
    annotations: dict[Id, list[dict[str, Any]]] = {image["id"]: [] for image in images}
    for annotation in _with_id(content, "annotations", "image_id", file, report):
        if annotation["image_id"] in annotations:
            annotations[annotation["image_id"]].append(annotation)
        else:
            what = f"there is no image {shorten(annotation['image_id'])}."
            report(Problem(file, record_of(annotation), what, kind="stray annotation"))
    videos = {
        video["id"]: one_line(video.get("name", video["id"])) for video in _with_id(content, "videos", "id", file, stop)
    }
    unlisted = {image["video_id"]: one_line(image["video_id"]) for image in images if is_id(image.get("video_id"))}
    categories = categories_of(content.get("categories", []), file)
    return Coco(file, images, twice, annotations, categories, videos or unlisted, lists_videos=bool(videos))


def categories_of(records: Any, file: Path, key: str = "categories") -> dict[Id, str]:
    """Class names by id, in order of id. Without them nothing can be read, so that any mistake ends the reading.

    `key` is what the file calls the list.
    """
    found = {}
    for record in _with_id({key: records}, key, "id", file, stop):
        if record["id"] in found:
            raise InvalidData(f"{one_line(file)}: two categories have the id {shorten(record['id'])}.")
        if not isinstance(record.get("name"), str):
            raise InvalidData(
                f"{one_line(file)}, category {shorten(record['id'])}: "
                f"its name is {shorten(record.get('name'))}, no text."
            )
        found[record["id"]] = record["name"]
    if twice := [name for name, count in Counter(found.values()).items() if count > 1]:
        raise InvalidData(
            f"{one_line(file)}: two categories are called {shorten(twice[0])}. Every class needs a name of its own."
        )
    return dict(sorted(found.items(), key=lambda one: natural_key(str(one[0]))))


class CocoFrames:
    """Makes entries of the images of a COCO file."""

    def __init__(
        self,
        coco: Coco,
        root: Root,
        classes: Classes,
        report: Report,
        *,
        needs_category: bool = True,
    ) -> None:
        """`needs_category`: whether an annotation without a category is a mistake, or just takes no part."""
        self.coco = coco
        self.needs_category = needs_category
        self.root = root
        self.classes = classes
        self.report = report

    def entry(self, image: dict[str, Any], name: Any, *, id: int, video: str, index: int) -> Entry:
        """The entry of an image whose file has this name under the root; a broken one, and a report, if it must be."""
        tell = FrameProblems(self.report, self.coco.file, record_of(image), id)
        picture, size, labels = self.coco.file, None, None
        if not isinstance(name, str) or not name:
            said = image.get("file_name") or image.get("url")
            tell("", f"its file_name is {shorten(said)}: it should be a path.", "path")
        elif wrong := self.root.explain_refusal(name):
            tell("", wrong, "path")
        else:
            picture = self.root.path / name
            if absent := explain_absence(picture):
                tell("", f"{picture}: {absent}. {CURE}", "picture")
            elif size := stated_size(image, tell) or _size_of(picture, tell):
                labels = self.labels(image, size, tell)
        if tell.broken and image.get("labelled") is not False:
            labels = Labels.none()
        return Entry(id, video, index, picture, size, labels, broken=tell.broken, record=tell.where)

    def labels(self, image: dict[str, Any], size: tuple[int, int], tell: FrameProblems) -> Labels | None:
        """The labels of an image of this size; None when they cannot be used, or it says that nobody labelled it."""
        if image["id"] in self.coco.twice:
            tell("", "another image has the same id. Every image needs an id of its own.", "duplicate id")
            return None
        if image.get("labelled") is False:
            return None
        return labels_from(self._marks(image, tell), size, self.classes, tell)

    def _marks(self, image: dict[str, Any], tell: FrameProblems) -> Iterator[Mark]:
        for annotation in self.coco.annotations[image["id"]]:
            record, crowd = record_of(annotation), annotation.get("iscrowd")
            if crowd not in (None, 0, 1):
                tell(record, f"its iscrowd is {shorten(crowd)}: it should be 0 or 1.", "crowd")
            elif crowd == 1:
                # COCO's own evaluation passes over such regions; here they would be one object too large.
                what = "it stands for a crowd (iscrowd), not for one object, and takes no part."
                tell(record, what, "crowd", breaks=False)
            elif self.needs_category or annotation.get("category_id") is not None:
                yield Mark(record, annotation.get("category_id"), annotation.get("bbox"), "xywh")


def read_coco_video(
    annotations: Path,
    images: Path | None = None,
    *,
    videos: Sequence[Id] | None = None,
    classes: Sequence[str] | None = None,
    own_steps: bool = True,
    report: Report = stop,
) -> Recording:
    """All frames of a COCO file in the order of the video; divided into steps only where the file says how.

    Videos come in the order of `videos`, else of the file's own list of them, else of their first image. Within one,
    frames are ordered by their number, else by file name, numbers in it by value.
    """
    coco = read_coco(annotations, report)
    names = class_list(tuple(coco.categories.values()), classes, annotations, "under 'categories'")
    root = Root(_image_folder(coco, images))
    frames = CocoFrames(coco, root, class_numbers(coco.categories, names), report)
    ordered = [
        (image, video, index)
        for video, members in _by_video(coco, videos, report)
        for index, image in enumerate(_ordered(members))
    ]
    # Where a file tells the steps, its list is the stream: its videos may come in turns.
    told = own_steps and videos is None and tells_steps(coco)
    if told:
        places = {id(image): number for number, image in enumerate(coco.images)}
        ordered.sort(key=lambda one: places[id(one[0])])
    entries = []
    for number, (image, video, index) in enumerate(ordered):
        entry = frames.entry(image, image.get("file_name"), id=number, video=video, index=index)
        entries.append(replace(entry, step=image["step"], held_out=image["held_out"]) if told else entry)
    chosen = _given(annotations.parent, [image["id"] for image, _, _ in ordered]) if told else {}
    return Recording(names, tuple(entries), chosen)


def tells_steps(coco: Coco) -> bool:
    """Whether every image says its `step` and whether it is `held_out`, as the files of `leocod data convert` do."""
    steps = [image.get("step") for image in coco.images]
    if not steps or not all(type(step) is int for step in steps):
        return False
    if not all(type(image.get("held_out")) is bool for image in coco.images):
        return False
    before = 0
    for number, image in enumerate(coco.images):
        if not before <= image["step"] <= before + (number > 0):
            raise InvalidData(
                f"{one_line(coco.file)}, {record_of(image)}: its step {shorten(image['step'])} comes after step "
                f"{before}. The images must be listed in the order of their steps, from 0 on, with none left out."
            )
        before = image["step"]
    return True


def _given(folder: Path, ids: Sequence[Id]) -> dict[int, frozenset[int]]:
    """The frames labelled at each cost, from the files labels_<cost>.json, which name images by id."""
    places = {id: number for number, id in enumerate(ids)}
    given = {}
    for file in sorted(folder.glob("labels_*.json")):
        cost = file.stem.removeprefix("labels_")
        if not (cost.isascii() and cost.isdigit()):
            continue
        content = DATA.read_json(file)
        steps = content.get("frames") if isinstance(content, dict) else None
        if not isinstance(steps, dict) or not all(isinstance(chosen, list) for chosen in steps.values()):
            raise InvalidData(f"{one_line(file)}: it should have 'frames', with a list of image ids for each step.")
        chosen = [one for ids in steps.values() for one in ids]
        for one in chosen:
            if not is_id(one) or one not in places:
                raise InvalidData(f"{one_line(file)}: there is no image {shorten(one)}.")
        given[int(cost)] = frozenset(places[one] for one in chosen)
    return given


def stated_size(image: Mapping[str, Any], tell: FrameProblems) -> tuple[int, int] | None:
    """Height and width as a record says them; None when it does not, or tells what cannot be."""
    height, width = image.get("height"), image.get("width")
    if height is None and width is None:
        return None
    if _is_side(height) and _is_side(width):
        return int(height), int(width)
    tell("", f"its height and width are {shorten(height)} and {shorten(width)}: they should be pixels.", "size")
    return None


def _is_side(value: Any) -> TypeGuard[float]:
    return type(value) in (int, float) and 0 < value < 10**6 and value == int(value)


def record_of(record: Mapping[str, Any]) -> str:
    """How a message calls an image or an annotation."""
    kind = "annotation" if "image_id" in record else "image"
    if not is_id(record.get("id")):
        return f"{kind} without an id"
    return f"{kind} {one_line(record['id'], 60)}"


def _with_id(content: Mapping[str, Any], key: str, id_key: str, file: Path, report: Report) -> Iterator[dict[str, Any]]:
    """The records of a list that have a usable id."""
    records = content.get(key, [])
    if not isinstance(records, list):
        raise InvalidData(f"{one_line(file)}: '{key}' is {shorten(records)}: it should be a list.")
    for number, record in enumerate(records):
        if isinstance(record, dict) and is_id(record.get(id_key)):
            yield record
        else:
            place = f"number {number} of '{key}'"
            what = f"it is {shorten(record)}: it should be an object with its {id_key}."
            if isinstance(record, dict):
                what = f"its {id_key} is {shorten(record.get(id_key))}: it should be a whole number or a text."
            report(Problem(file, place, what, kind="file", fatal=True))


def is_id(value: object) -> bool:
    """Whether a value can be the id of a record."""
    return type(value) in (int, str)


def _size_of(picture: Path, tell: FrameProblems) -> tuple[int, int] | None:
    try:
        return None if tell.broken else read_size(picture)
    except InvalidFrame as error:
        tell("", str(error), "picture")
        return None


def _image_folder(coco: Coco, given: Path | None) -> Path:
    """Where the pictures are: as given, else beside the file, else in `images` beside it."""
    if given is not None:
        if not given.is_dir():
            raise InvalidData(f"{one_line(given)}: no such folder. It should hold the images of {coco.file}.")
        return given
    beside = coco.file.parent
    names = (image.get("file_name") for image in coco.images)
    roots = Root(beside), Root(beside / "images")
    for name in (name for name in names if isinstance(name, str)):
        for root in roots:
            if root.explain_refusal(name) is None and explain_absence(root.path / name) is None:
                return root.path
    return beside


def _by_video(coco: Coco, chosen: Sequence[Id] | None, report: Report) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Name and images of each video that takes part."""
    if not coco.videos:
        if chosen is not None:
            raise InvalidConfig(f"{coco.file} has no videos to choose from: no image has a video_id.")
        for image in coco.images:
            if image.get("video_id") is not None:
                report(_no_video(coco, image))
        yield coco.file.stem, list(coco.images)
        return
    members: dict[Id, list[dict[str, Any]]] = {id: [] for id in coco.videos}
    for image in coco.images:
        video = image.get("video_id")
        if is_id(video) and video in members:
            members[video].append(image)
        else:
            report(_no_video(coco, image))
    for id in coco.videos if chosen is None else [_video(coco, one) for one in chosen]:
        yield coco.videos[id], members[id]


def _no_video(coco: Coco, image: Mapping[str, Any]) -> Problem:
    what = (
        f"its video_id is {shorten(image.get('video_id'))}, which is none of the videos. Name the one that it is from."
    )
    return Problem(coco.file, record_of(image), what, kind="order", fatal=True)


def _video(coco: Coco, chosen: Id) -> Id:
    """The id of a video that is chosen by id or by name."""
    if chosen in coco.videos:
        return chosen
    for id, name in coco.videos.items():
        if name == str(chosen):
            return id
    raise UnknownName(f"video in {one_line(coco.file)}", str(chosen), coco.videos.values())


def _ordered(members: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for key in NUMBERS:
        if all(type(image.get(key)) is int for image in members):
            return sorted(members, key=lambda image: int(image[key]))
    return sorted(members, key=lambda image: natural_key(str(image.get("file_name"))))
