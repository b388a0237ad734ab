"""EgoObjects as it was released: three JSON files in LVIS form beside a folder of images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from urllib.parse import urlsplit

from leocod.errors import InvalidData
from leocod.files.documents import DATA
from leocod.files.paths import Root
from leocod.readers.classes import class_list, class_numbers
from leocod.readers.coco import Coco, CocoFrames, Id, categories_of, is_id, read_coco, record_of
from leocod.readers.marks import Classes
from leocod.readers.recording import Entry, Problem, Recording, Report, split, stop
from leocod.text import one_line, shorten

Test = Literal["split", "eval"]


def files_in(root: Path, part: Literal["train", "eval", "metadata"]) -> list[Path]:
    """The released files of one part; there should be one."""
    return sorted(root.glob(f"EgoObjects*_{part}.json"))


def read_egoobjects(
    root: Path,
    *,
    test: Test = "split",
    classes: Sequence[str] | None = None,
    frames_per_step: int = 16,
    hold_out: int = 1,
    report: Report = stop,
) -> Recording:
    """Frames of the training file, grouped by video in the order of the file, then split into steps and test frames.

    With `test` = "eval" no training frame is held out, and all frames of the evaluation file are the test frames.
    Annotations without a category, which name an instance only, take no part.
    """
    train = _file(root, "train")
    coco = read_coco(train, report)
    wanted = _detection_categories(root, coco)
    names = class_list(tuple(wanted.values()), classes, train, "under 'categories', or in its metadata file")
    numbers = class_numbers(wanted, names)
    images = Root(root / "images" if (root / "images").is_dir() else root)

    def frames_of(part: Coco, first: int) -> Iterator[Entry]:
        # A category that exists, but is not one of detection, is passed over like an object without one.
        known: Classes = {**dict.fromkeys(part.categories), **numbers}
        frames = CocoFrames(part, images, known, report, needs_category=False)
        for video, members in _by_video(part, report):
            for index, image in enumerate(members):
                yield frames.entry(image, file_name(image), id=first, video=video, index=index)
                first += 1

    entries = tuple(frames_of(coco, 0))
    if test == "split":
        return Recording(names, split(entries, frames_per_step=frames_per_step, held_out=hold_out))
    trained = split(entries, frames_per_step=frames_per_step, held_out=0)
    held_out = frames_of(read_coco(_file(root, "eval"), report), len(entries))
    # Step 0: a test set of its own belongs to no later moment of the stream.
    return Recording(names, (*trained, *(replace(entry, step=0, held_out=True) for entry in held_out)))


def _file(root: Path, part: Literal["train", "eval", "metadata"]) -> Path:
    found = files_in(root, part)
    if len(found) != 1:
        raise InvalidData(f"{one_line(root)}: {len(found)} files EgoObjects*_{part}.json. There should be one.")
    return found[0]


def _detection_categories(root: Path, coco: Coco) -> dict[Id, str]:
    """Names by id: `cat_det_cats` of the metadata, else the categories of the training file."""
    if files_in(root, "metadata"):
        file = _file(root, "metadata")
        content = DATA.read_json(file)
        if not isinstance(content, dict):
            raise InvalidData(
                f"{one_line(file)} holds a {type(content).__name__}: it should be an object with cat_det_cats in it."
            )
        if "cat_det_cats" in content:
            return categories_of(content["cat_det_cats"], file, "cat_det_cats")
    return dict(coco.categories)


def _by_video(coco: Coco, report: Report) -> list[tuple[str, list[dict[str, Any]]]]:
    """Images in the order of the file, videos in that of their first image; without a video each is its own."""
    found: dict[str, list[dict[str, Any]]] = {}
    for image in coco.images:
        video = image.get("video_id", image["id"])
        if not is_id(video):
            what = f"its video_id is {shorten(video)}: it should be a whole number or a text, or be left out."
            report(Problem(coco.file, record_of(image), what, kind="order", fatal=True))
        found.setdefault(one_line(video), []).append(image)
    return list(found.items())


def file_name(image: dict[str, Any]) -> Any:
    """The path under `images`: the file name as it is, or the last part of an address."""
    name = image.get("file_name")
    if isinstance(name, str) and name:
        return name.removeprefix("images/")
    address = image.get("url")
    if not isinstance(address, str):
        return name
    try:
        return PurePosixPath(urlsplit(address).path).name
    # Not every text is an address.
    except ValueError:
        return None
