"""The layouts of data sets on disk: which one lies at a path."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, get_args

from leocod.errors import InvalidData
from leocod.files.images import SUFFIXES
from leocod.readers.egoobjects import find_files
from leocod.readers.labels import cvat, label_studio, yolo
from leocod.readers.oak import PICTURES
from leocod.readers.processed import find_lists
from leocod.readers.voc_files import PICTURES as VOC_PICTURES
from leocod.text import one_line

Layout = Literal["processed", "oak", "egoobjects", "voc", "coco", "yolo", "cvat", "label-studio", "folder", "video"]

VIDEO_LAYOUTS: tuple[Layout, ...] = ("folder", "video")
"""Frames without labels of their own: a file or folder beside them may have some."""

TOOL_LAYOUTS: tuple[Layout, ...] = ("yolo", "cvat", "label-studio")
"""Labels as other tools have them, with pictures beside: they are read as those of a folder of frames."""


def detect_layout(path: Path) -> Layout:
    """Detect the layout by the files that are there."""
    if path.is_file():
        if cvat.recognise(path):
            return "cvat"
        if path.suffix.lower() != ".json":
            return "video"
        return "label-studio" if label_studio.recognise(path) else "coco"
    if not path.is_dir():
        raise InvalidData(f"{one_line(path)}: not a file, nor a folder. Name the data set itself.")
    layouts: dict[Layout, bool] = {
        "processed": bool(find_lists(path)),
        "oak": (path / PICTURES).is_dir(),
        "egoobjects": bool(find_files(path, "train")),
        "voc": (path / VOC_PICTURES).is_dir(),
        "yolo": yolo.recognise(path),
        "cvat": cvat.recognise(path),
        "label-studio": label_studio.recognise(path) and not (yolo.recognise(path) or cvat.recognise(path)),
    }
    there = [layout for layout, known in layouts.items() if known]
    if len(there) > 1:
        raise InvalidData(f"{one_line(path)} looks like {' and '.join(there)}. Say which with --layout.")
    if there:
        return there[0]
    # The folder of the processed layout has a JSON file in it, too: its class list.
    if list_coco_files(path) and not any(path.glob("train_anno*.csv")):
        return "coco"
    if any(file.suffix.lower() in SUFFIXES for file in path.iterdir()):
        return "folder"
    hint = _suggest_folder(path)
    raise InvalidData(f"{one_line(path)} holds no data in a known layout.{hint} Known: {', '.join(get_args(Layout))}.")


def find_pictures(path: Path) -> Path:
    """Find the folder of the pictures that go with labels: `images`, else the folder of the labels itself."""
    folder = path if path.is_dir() else path.parent
    if (folder / "images").is_dir():
        return folder / "images"
    # A file may lie anywhere: what is far below it has nothing to do with it.
    if path.is_file() and not any(file.suffix.lower() in SUFFIXES for file in folder.iterdir()):
        hint = f"Name the frames: leocod data check FRAMES --labels {one_line(path.name)}"
        raise InvalidData(f"{one_line(path)} has labels, but there are no pictures beside it, nor in images. {hint}.")
    return folder


def list_coco_files(folder: Path) -> list[Path]:
    """List the JSON files right in a folder that may be COCO files."""
    return sorted(file for file in folder.glob("*.json") if not re.fullmatch(r"labels_[0-9]+", file.stem))


def _suggest_folder(path: Path) -> str:
    """Suggest the folder that may have been meant: the one around it, or the only one in it that holds a data set."""
    around = path.resolve().parent
    if any(path.glob("train_anno*.csv")) or _holds_data(around):
        return f" Did you mean the folder around it, {one_line(around)}?"
    inner = [folder for folder in path.iterdir() if folder.is_dir() and _holds_data(folder)]
    return f" Did you mean {one_line(inner[0])}?" if len(inner) == 1 else ""


def _holds_data(folder: Path) -> bool:
    is_known = (folder / PICTURES).is_dir() or (folder / VOC_PICTURES).is_dir()
    return bool(is_known or find_lists(folder) or find_files(folder, "train") or list_coco_files(folder))
