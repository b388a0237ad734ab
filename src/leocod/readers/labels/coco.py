"""Labels in a COCO file, which almost every tool writes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from leocod.readers.coco import Coco, find_instance, is_id, list_annotations, name_record, read_coco, read_stated_size
from leocod.readers.coco_video import FRAME_NUMBER_KEYS
from leocod.readers.labels.base import LabelledImage, LabelledObject, LabelSet, find_json, peek
from leocod.readers.recording import Report

NAME = "COCO"


def recognise(path: Path) -> bool:
    """A JSON file with an object in it, or a folder with one such file."""
    return find_json(path, "{") is not None if path.is_dir() else peek(path).startswith("{")


def read(path: Path, report: Report) -> LabelSet:
    """Read the images of a COCO file."""
    coco = read_coco(path if path.is_file() else find_json(path, "{") or path, report)
    images = [_make_image(coco, image) for image in coco.images]
    return LabelSet(coco.file, coco.categories, "under 'categories'", images)


def _make_image(coco: Coco, image: dict[str, Any]) -> LabelledImage:
    name = image.get("file_name")
    made = LabelledImage(coco.file, name_record(image), name if isinstance(name, str) else "")
    made.number = next((image[key] for key in FRAME_NUMBER_KEYS if type(image.get(key)) is int), None)
    if is_id(image.get("video_id")) and len(coco.videos) > 1:
        made.video = coco.videos.get(image["video_id"])
    made.size = read_stated_size(image, made.notes)
    if image["id"] in coco.repeated_ids:
        made.notes.add("", "another image has the same id. Every image needs an id of its own.", "duplicate id")
    elif image.get("labelled") is False:
        made.objects = None
    else:
        made.objects = [
            LabelledObject(*annotation, find_instance=partial(find_instance, record))
            for annotation, record in list_annotations(coco, image, made.notes)
        ]
    return made
