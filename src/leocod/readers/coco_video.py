"""A COCO file as a video: its images in order, in the steps that the file says, or to be divided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from leocod.errors import InvalidConfig, InvalidData, UnknownName
from leocod.files.documents import DATA
from leocod.files.paths import Root, explain_absence
from leocod.readers.classes import choose_classes, number_classes
from leocod.readers.coco import Coco, CocoFrames, Id, is_id, name_record, read_coco
from leocod.readers.recording import Problem, Recording, Report, raise_problem
from leocod.text import natural_key, one_line, shorten

FRAME_NUMBER_KEYS = ("frame_id", "frame_number", "frame_index")
"""Where an image may say which frame of its video it is; the first key that all images of the video have counts."""


def read_coco_video(
    annotations: Path,
    images: Path | None = None,
    *,
    videos: Sequence[Id] | None = None,
    classes: Sequence[str] | None = None,
    own_steps: bool = True,
    report: Report = raise_problem,
) -> Recording:
    """Read all frames of a COCO file in the order of the video; divided into steps only where the file says how.

    Videos come in the order of `videos`, else of the file's own list of them, else of their first image. Within one,
    frames are ordered by their number, else by file name, numbers in it by value.
    """
    coco = read_coco(annotations, report)
    names = choose_classes(tuple(coco.categories.values()), classes, annotations, "under 'categories'")
    root = Root(_find_image_folder(coco, images))
    frames = CocoFrames(coco, root, number_classes(coco.categories, names), report)
    ordered = [
        (image, video, index)
        for video, members in _group_by_video(coco, videos, report)
        for index, image in enumerate(_sort_frames(members))
    ]
    # Where a file says the steps, its list is the stream: its videos may take turns.
    follows_steps = own_steps and videos is None and has_steps(coco)
    if follows_steps:
        places = {id(image): number for number, image in enumerate(coco.images)}
        ordered.sort(key=lambda frame: places[id(frame[0])])
    entries = []
    for number, (image, video, index) in enumerate(ordered):
        entry = frames.make_entry(image, image.get("file_name"), id=number, video=video, index=index)
        entries.append(replace(entry, step=image["step"], held_out=image["held_out"]) if follows_steps else entry)
    ids = [image["id"] for image, _, _ in ordered]
    return Recording(names, tuple(entries), _read_label_choices(annotations.parent, ids) if follows_steps else {})


def has_steps(coco: Coco) -> bool:
    """Whether every image says its `step` and whether it is `held_out`, as the files of `leocod data convert` do."""
    steps = [image.get("step") for image in coco.images]
    if not steps or not all(type(step) is int for step in steps):
        return False
    if not all(type(image.get("held_out")) is bool for image in coco.images):
        return False
    last = 0
    for number, image in enumerate(coco.images):
        if not last <= image["step"] <= last + (number > 0):
            raise InvalidData(
                f"{one_line(coco.file)}, {name_record(image)}: its step {shorten(image['step'])} comes after step "
                f"{last}. The images must be listed in the order of their steps, from 0 on, with none left out."
            )
        last = image["step"]
    return True


def _read_label_choices(folder: Path, ids: Sequence[Id]) -> dict[int, frozenset[int]]:
    """Read which frames are labelled at each cost from the files labels_<cost>.json, which name images by id."""
    places = {id: number for number, id in enumerate(ids)}
    choices = {}
    for file in sorted(folder.glob("labels_*.json")):
        cost = file.stem.removeprefix("labels_")
        if not (cost.isascii() and cost.isdigit()):
            continue
        content = DATA.read_json(file)
        steps = content.get("frames") if isinstance(content, dict) else None
        if not isinstance(steps, dict) or not all(isinstance(chosen, list) for chosen in steps.values()):
            raise InvalidData(f"{one_line(file)}: it should have 'frames', with a list of image ids for each step.")
        labelled = [id for chosen in steps.values() for id in chosen]
        for id in labelled:
            if not is_id(id) or id not in places:
                raise InvalidData(f"{one_line(file)}: there is no image {shorten(id)}.")
        choices[int(cost)] = frozenset(places[id] for id in labelled)
    return choices


def _find_image_folder(coco: Coco, given: Path | None) -> Path:
    """Return the folder of the images: the given one, else the file's own, else `images` beside the file."""
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


def _group_by_video(
    coco: Coco, chosen: Sequence[Id] | None, report: Report
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the name and the images of each video that takes part."""
    if not coco.videos:
        if chosen is not None:
            raise InvalidConfig(f"{coco.file} has no videos to choose from: no image has a video_id.")
        for image in coco.images:
            if image.get("video_id") is not None:
                report(_make_video_problem(coco, image))
        yield coco.file.stem, list(coco.images)
        return
    members: dict[Id, list[dict[str, Any]]] = {id: [] for id in coco.videos}
    for image in coco.images:
        video = image.get("video_id")
        if is_id(video) and video in members:
            members[video].append(image)
        else:
            report(_make_video_problem(coco, image))
    for id in coco.videos if chosen is None else [_find_video(coco, video) for video in chosen]:
        yield coco.videos[id], members[id]


def _make_video_problem(coco: Coco, image: Mapping[str, Any]) -> Problem:
    video = shorten(image.get("video_id"))
    what = f"its video_id is {video}, which is none of the videos. Name the one that it is from."
    return Problem(coco.file, name_record(image), what, kind="order", fatal=True)


def _find_video(coco: Coco, chosen: Id) -> Id:
    """Return the id of a video that is chosen by id or by name."""
    if chosen in coco.videos:
        return chosen
    for id, name in coco.videos.items():
        if name == str(chosen):
            return id
    raise UnknownName(f"video in {one_line(coco.file)}", str(chosen), coco.videos.values())


def _sort_frames(members: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for key in FRAME_NUMBER_KEYS:
        if all(type(image.get(key)) is int for image in members):
            return sorted(members, key=lambda image: int(image[key]))
    return sorted(members, key=lambda image: natural_key(str(image.get("file_name"))))
