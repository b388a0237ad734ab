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
from leocod.readers.annotations import ClassNumbers
from leocod.readers.classes import choose_classes, number_classes
from leocod.readers.coco import Coco, CocoFrames, Id, is_id, name_record, parse_categories, read_coco
from leocod.readers.recording import Entry, Problem, Recording, Report, raise_problem, split
from leocod.text import one_line, shorten

Test = Literal["split", "eval"]


def find_files(root: Path, part: Literal["train", "eval", "metadata"]) -> list[Path]:
    """List the released files of one part; there should be one."""
    return sorted(root.glob(f"EgoObjects*_{part}.json"))


def read_egoobjects(
    root: Path,
    *,
    test: Test = "split",
    classes: Sequence[str] | None = None,
    frames_per_step: int = 16,
    hold_out: int = 1,
    report: Report = raise_problem,
) -> Recording:
    """Read the training file: frames grouped by video in the order of the file, split into steps and test frames.

    With `test` = "eval" no training frame is held out, and all frames of the evaluation file are the test frames.
    Annotations without a category, which name an instance only, take no part.
    """
    train = _find_file(root, "train")
    coco = read_coco(train, report)
    categories = _read_detection_categories(root, coco)
    names = choose_classes(tuple(categories.values()), classes, train, "under 'categories', or in its metadata file")
    numbers = number_classes(categories, names)
    images = Root(root / "images" if (root / "images").is_dir() else root)

    def list_entries(part: Coco, first: int) -> Iterator[Entry]:
        # A category that exists but is not for detection is passed over, like an object without a category.
        known: ClassNumbers = {**dict.fromkeys(part.categories), **numbers}
        frames = CocoFrames(part, images, known, report, needs_category=False)
        for video, members in _group_by_video(part, report):
            for index, image in enumerate(members):
                yield frames.make_entry(image, get_file_name(image), id=first, video=video, index=index)
                first += 1

    entries = tuple(list_entries(coco, 0))
    if test == "split":
        return Recording(names, split(entries, frames_per_step=frames_per_step, held_out=hold_out))
    training = split(entries, frames_per_step=frames_per_step, held_out=0)
    held_out = list_entries(read_coco(_find_file(root, "eval"), report), len(entries))
    # Step 0: a separate test set belongs to no later step of the stream.
    return Recording(names, (*training, *(replace(entry, step=0, held_out=True) for entry in held_out)))


def _find_file(root: Path, part: Literal["train", "eval", "metadata"]) -> Path:
    files = find_files(root, part)
    if len(files) != 1:
        raise InvalidData(f"{one_line(root)}: {len(files)} files EgoObjects*_{part}.json. There should be one.")
    return files[0]


def _read_detection_categories(root: Path, coco: Coco) -> dict[Id, str]:
    """Return names by id: `cat_det_cats` of the metadata, else the categories of the training file."""
    if find_files(root, "metadata"):
        file = _find_file(root, "metadata")
        content = DATA.read_json(file)
        if not isinstance(content, dict):
            raise InvalidData(
                f"{one_line(file)} holds a {type(content).__name__}: it should be an object with cat_det_cats in it."
            )
        if "cat_det_cats" in content:
            return parse_categories(content["cat_det_cats"], file, "cat_det_cats")
    return dict(coco.categories)


def _group_by_video(coco: Coco, report: Report) -> list[tuple[str, list[dict[str, Any]]]]:
    """Group images by video, in the order of the file; an image without a video is a video of its own."""
    members: dict[str, list[dict[str, Any]]] = {}
    for image in coco.images:
        video = image.get("video_id", image["id"])
        if not is_id(video):
            what = f"its video_id is {shorten(video)}: it should be a whole number or a text, or be left out."
            report(Problem(coco.file, name_record(image), what, kind="order", fatal=True))
        members.setdefault(one_line(video), []).append(image)
    return list(members.items())


def get_file_name(image: dict[str, Any]) -> Any:
    """Return the path under `images`: the file name as it is, or the last part of an address."""
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
