"""COCO files as video: their images in order, in the steps that the files say, or to be divided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import Any

from leocod.errors import InvalidConfig, InvalidData, UnknownName
from leocod.files.documents import DATA
from leocod.files.paths import Root, explain_absence
from leocod.readers.classes import choose_classes, number_classes
from leocod.readers.coco import Coco, CocoFrames, Id, is_id, name_record, read_coco
from leocod.readers.recording import Entry, Problem, Recording, Report, raise_problem
from leocod.text import natural_key, one_line, shorten

FRAME_NUMBER_KEYS = ("frame_id", "frame_number", "frame_index")
"""Where an image may say which frame of its video it is; the first key that all images of the video have counts."""


def read_coco_video(
    annotations: Path | Sequence[Path],
    images: Path | None = None,
    *,
    videos: Sequence[Id] | None = None,
    classes: Sequence[str] | None = None,
    own_steps: bool = True,
    report: Report = raise_problem,
) -> Recording:
    """Read all frames of a COCO file in the order of the video; divided into steps only where the file says how.

    Videos come in the order of `videos`, else of the file's own list of them, else of their first image. Within one,
    frames are ordered by their number, else by file name, numbers in it by value. Of several files, all frames of the
    first come first. They have one class list: names in the order in which they first appear. Two videos in two files
    are two videos, also where they have the same name.
    """
    cocos = [read_coco(file, report) for file in ([annotations] if isinstance(annotations, Path) else annotations)]
    names = _merge_classes(cocos, classes)
    chosen = [None for _ in cocos] if videos is None else _find_videos(cocos, videos)
    follows_steps = own_steps and videos is None and all(has_steps(coco) for coco in cocos)
    # In a folder that files share, nobody knows whose images a choice of labels names.
    has_own_folders = len({coco.file.parent for coco in cocos}) == len(cocos)
    entries: list[Entry] = []
    choices: list[dict[int, frozenset[int]]] = []
    for coco, ids, titles in zip(cocos, chosen, _name_videos(cocos), strict=True):
        root = Root(_find_image_folder(coco, images))
        frames = CocoFrames(coco, root, number_classes(coco.categories, names), report)
        ordered = _order_frames(coco, ids, report, follows_steps=follows_steps)
        first, first_step = len(entries), entries[-1].step + 1 if entries else 0
        for number, (image, video, index) in enumerate(ordered, start=first):
            entry = frames.make_entry(image, image.get("file_name"), id=number, video=titles[video], index=index)
            if follows_steps:
                entry = replace(entry, step=first_step + image["step"], held_out=image["held_out"])
            entries.append(entry)
        if follows_steps and has_own_folders:
            places = {image["id"]: number for number, (image, _, _) in enumerate(ordered, start=first)}
            choices.append(_read_label_choices(coco.file.parent, places))
    return Recording(names, tuple(entries), _merge_choices(choices))


def _merge_classes(cocos: Sequence[Coco], chosen: Sequence[str] | None) -> tuple[str, ...]:
    """Return the classes that take part: the chosen ones, or all in the order in which they first appear."""
    where = "under 'categories'"
    for coco in cocos:
        choose_classes(tuple(coco.categories.values()), None, coco.file, where)
    names = dict.fromkeys(name for coco in cocos for name in coco.categories.values())
    return choose_classes(tuple(names), chosen, _list_files(cocos), where)


def _order_frames(
    coco: Coco, chosen: Sequence[Id] | None, report: Report, *, follows_steps: bool
) -> list[tuple[dict[str, Any], str, int]]:
    """Return the images of a file in the order of the stream, each with its video and its position in that."""
    ordered = [
        (image, video, index)
        for video, members in _group_by_video(coco, chosen, report)
        for index, image in enumerate(_sort_frames(members))
    ]
    # Where a file says the steps, its list is the stream: its videos may take turns.
    if follows_steps:
        places = {id(image): number for number, image in enumerate(coco.images)}
        ordered.sort(key=lambda frame: places[id(frame[0])])
    return ordered


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


def _read_label_choices(folder: Path, places: Mapping[Id, int]) -> dict[int, frozenset[int]]:
    """Read which frames are labelled at each cost from the files labels_<cost>.json, which name images by id.

    `places` are the frames by the id of their image.
    """
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


def _merge_choices(choices: Sequence[Mapping[int, frozenset[int]]]) -> dict[int, frozenset[int]]:
    """Merge the choices of labels of all files: those of the costs that each of them has."""
    costs = [cost for cost in (choices[0] if choices else ()) if all(cost in given for given in choices)]
    return {cost: frozenset().union(*(given[cost] for given in choices)) for cost in costs}


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
    for id in coco.videos if chosen is None else chosen:
        yield coco.videos[id], members[id]


def _make_video_problem(coco: Coco, image: Mapping[str, Any]) -> Problem:
    video = shorten(image.get("video_id"))
    what = f"its video_id is {video}, which is none of the videos. Name the one that it is from."
    return Problem(coco.file, name_record(image), what, kind="order", fatal=True)


def _find_videos(cocos: Sequence[Coco], chosen: Sequence[Id]) -> list[list[Id]]:
    """Return, for each file, the ids of those chosen videos that it has, in the order of the choice."""
    for coco in cocos:
        if not coco.videos:
            raise InvalidConfig(f"{one_line(coco.file)} has no videos to choose from: no image has a video_id.")
    found = [[_find_video(coco, video) for video in chosen] for coco in cocos]
    for video, ids in zip(chosen, zip(*found, strict=True), strict=True):
        if all(id is None for id in ids):
            known = dict.fromkeys(name for coco in cocos for name in coco.videos.values())
            raise UnknownName(f"video in {_list_files(cocos)}", str(video), known)
    return [[id for id in ids if id is not None] for ids in found]


def _find_video(coco: Coco, chosen: Id) -> Id | None:
    """Return the id of a video that is chosen by id or by name; None where the file does not have it."""
    if chosen in coco.videos:
        return chosen
    return next((id for id, name in coco.videos.items() if name == str(chosen)), None)


def _name_videos(cocos: Sequence[Coco]) -> list[dict[str, str]]:
    """Give the videos of each file names that no other file has: where two are alike, the later file's folder first."""
    folders = [one_line(coco.file.absolute().parent.name) for coco in cocos]
    prefixes = folders if len({*folders}) == len(folders) else [one_line(coco.file.stem) for coco in cocos]
    taken: set[str] = set()
    titles = []
    for coco, prefix in zip(cocos, prefixes, strict=True):
        names = dict.fromkeys(coco.videos.values()) if coco.videos else {coco.file.stem: None}
        used = {*taken, *names}
        titles.append({name: name if name not in taken else _make_title(f"{prefix}/{name}", used) for name in names})
        taken.update(titles[-1].values())
    return titles


def _make_title(wanted: str, used: set[str]) -> str:
    """Return the wanted name, with a number where it is used already."""
    return next(title for title in chain([wanted], (f"{wanted}-{n}" for n in count(2))) if title not in used)


def _list_files(cocos: Sequence[Coco]) -> str:
    return ", ".join(one_line(coco.file) for coco in cocos)


def _sort_frames(members: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for key in FRAME_NUMBER_KEYS:
        if all(type(image.get(key)) is int for image in members):
            return sorted(members, key=lambda image: int(image[key]))
    return sorted(members, key=lambda image: natural_key(str(image.get("file_name"))))
