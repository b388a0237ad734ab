"""The authors' processed layout, the same for OAK and EgoObjects: lists of frames by step, one JSON file a frame."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from leocod.errors import InvalidData
from leocod.files.documents import DATA
from leocod.files.images import CURE
from leocod.files.paths import Root, explain_absence
from leocod.readers.classes import class_list, class_numbers
from leocod.readers.coco import is_id, stated_size
from leocod.readers.marks import Classes, Form, Mark, labels_from
from leocod.readers.recording import Entry, FrameProblems, Recording, Report, stop
from leocod.text import one_line, shorten, strip_file_name
from leocod.types import Labels

FORMS: Mapping[int, Form] = {0: "xyxy", 1: "xywh"}
"""What `bbox_mode` says."""

STEP = re.compile(r"step_[0-9]{1,9}")

LARGEST_FRAME = 32 * 1024**2
"""Bytes of the largest JSON file of one frame."""


class Row(NamedTuple):
    """One line of a list of frames."""

    line: int
    step: int
    json_file: str

    @property
    def frame(self) -> tuple[int, str]:
        """What every list must have alike."""
        return self.step, self.json_file


def lists_in(root: Path) -> list[Path]:
    """The folders under a root that hold lists of frames in this layout."""
    return sorted({file.parent for file in root.glob("*/train_anno*.csv")})


def read_processed(root: Path, *, classes: Sequence[str] | None = None, report: Report = stop) -> Recording:
    """All frames, already divided into steps and test frames, and the published choice of labels at each cost.

    A step's test frames come after its training frames.
    """
    folder = _only_folder(root)
    names, numbers = _mapping(folder / "mapping.json", classes)
    trains, tests = max(folder.glob("train_anno*.csv"), key=_cost), folder / "test.csv"
    rows, oracles = _training_rows(folder)
    held_out, _ = _rows(tests)
    frames = _Frames(Root(root), folder.name, numbers, report)
    by_step = {step: list(members) for step, members in groupby(held_out, key=lambda row: row.step)}
    entries: list[Entry] = []
    trained: list[int] = []
    for step, members in groupby(rows, key=lambda row: row.step):
        for row in members:
            trained.append(len(entries))
            entries.append(frames.entry(trains, row, id=len(entries)))
        for row in by_step.pop(step, []):
            entries.append(frames.entry(tests, row, id=len(entries), held_out=True))
    for row in (row for members in by_step.values() for row in members):
        entries.append(frames.entry(tests, row, id=len(entries), held_out=True))
    given = {
        cost: frozenset(id for id, labelled in zip(trained, oracle, strict=True) if labelled)
        for cost, oracle in oracles.items()
    }
    return Recording(names, tuple(entries), given)


class _Frames:
    """Makes entries of rows."""

    def __init__(self, root: Root, video: str, classes: Classes, report: Report) -> None:
        self.root = root
        self.video = video
        self.classes = classes
        self.report = report
        self._met: set[str] = set()

    def entry(self, list_file: Path, row: Row, *, id: int, held_out: bool = False) -> Entry:
        place = f"line {row.line}"
        if wrong := self.root.explain_refusal(row.json_file):
            tell = FrameProblems(self.report, list_file, place, id)
            tell("", wrong, "path")
            return self._broken(list_file, row, tell, held_out=held_out)
        file = self.root.path / row.json_file
        tell = FrameProblems(self.report, file, "", id)
        video, picture, size, labels = self.video, file, None, None
        if row.json_file in self._met:
            tell("", f"{list_file}, {place} lists it a second time. A frame comes once.", "duplicate id")
        self._met.add(row.json_file)
        content = self._content(file, tell)
        if content is not None:
            name = _picture_name(row.json_file, content, file, tell)
            if name is not None and (wrong := self.root.explain_refusal(name)):
                tell("", wrong, "path")
            elif name is not None:
                picture = self.root.path / name
                size, labels = self._seen(content, picture, tell)
            # Written by `leocod data convert`; the authors' files do not say.
            video = self._video(content, tell)
        if tell.broken and (content or {}).get("labelled") is not False:
            labels = Labels.none()
        return Entry(id, video, id, picture, size, labels, row.step, held_out, broken=tell.broken, record=tell.where)

    def _broken(self, list_file: Path, row: Row, tell: FrameProblems, *, held_out: bool) -> Entry:
        """A frame of which nothing may be opened. In the authors' files every frame is labelled."""
        labels, at = Labels.none(), tell.frame
        return Entry(at, self.video, at, list_file, None, labels, row.step, held_out, broken=True, record=tell.where)

    def _video(self, content: Mapping[str, Any], tell: FrameProblems) -> str:
        video = content.get("video", self.video)
        if not is_id(video):
            tell("", f"its video is {shorten(video)}: it should be a name.", "order")
        return one_line(video)

    def _content(self, file: Path, tell: FrameProblems) -> dict[str, Any] | None:
        try:
            content = DATA.read_json(file, largest=LARGEST_FRAME)
        except InvalidData as error:
            # One frame's file: the others can be used without it.
            tell("", strip_file_name(file, error), "file")
            return None
        if isinstance(content, dict) and isinstance(content.get("annotations"), list):
            return content
        tell("", "it should be an object with a list of 'annotations'.", "file")
        return None

    def _seen(
        self, content: dict[str, Any], picture: Path, tell: FrameProblems
    ) -> tuple[tuple[int, int] | None, Labels | None]:
        if absent := explain_absence(picture):
            tell("", f"its picture {picture}: {absent}. {CURE}", "picture")
            return None, None
        size = stated_size(content, tell)
        if size is None:
            if not tell.broken:
                tell("", "it has no height and width.", "size")
            return None, None
        if content.get("labelled") is False:
            return size, None
        return size, labels_from(_marks(content["annotations"], tell), size, self.classes, tell)


def _marks(annotations: list[Any], tell: FrameProblems) -> Iterator[Mark]:
    for number, annotation in enumerate(annotations):
        record = f"annotation {number}"
        if not isinstance(annotation, dict):
            tell(record, f"it is {shorten(annotation)}: it should be an object.", "file")
            continue
        mode = annotation.get("bbox_mode")
        if type(mode) is int and mode in FORMS:
            yield Mark(record, annotation.get("category"), annotation.get("bbox"), FORMS[mode])
        else:
            tell(record, f"its bbox_mode is {shorten(mode)}: it should be 0 (x1, y1, x2, y2) or 1 (x, y, w, h).", "box")


def _picture_name(json_file: str, content: Mapping[str, Any], file: Path, tell: FrameProblems) -> str | None:
    """The picture lies beside the JSON file, under `images` in place of `annotations`.

    Of the `file_name` inside, which may be a full path on its authors' machine, only the last part is used.
    """
    folder, marker, inner = f"/{json_file}".rpartition("/annotations/")
    if not marker:
        what = "it is not under a folder 'annotations', so that its picture under 'images' is unknown. Move it there."
        tell("", what, "path")
        return None
    stated = content.get("file_name")
    last = stated.replace("\\", "/").rpartition("/")[2] if isinstance(stated, str) else ""
    beside, slash, _ = inner.rpartition("/")
    return f"{folder}/images/{beside}{slash}{last or f'{file.stem}.jpg'}"[1:]


def _only_folder(root: Path) -> Path:
    found = lists_in(root)
    if len(found) == 1:
        return found[0]
    if found:
        raise InvalidData(
            f"{one_line(root)} holds lists of frames in {one_line(', '.join(one.name for one in found), 200)}: keep "
            "one of them."
        )
    above = " Its lists lie right in it: name the folder above." if any(root.glob("train_anno*.csv")) else ""
    raise InvalidData(f"{one_line(root)}: no folder in it holds train_anno<k>.csv.{above}")


def _mapping(file: Path, classes: Sequence[str] | None) -> tuple[tuple[str, ...], dict[Any, int | None]]:
    """The class list, and the position in it by name as well as by number in the file."""
    content = DATA.read_json(file)
    if not isinstance(content, dict) or not all(type(number) is int for number in content.values()):
        raise InvalidData(f"{one_line(file)} should be an object of class names, each with its number.")
    if sorted(content.values()) != list(range(len(content))):
        raise InvalidData(
            f"{one_line(file)}: the {len(content)} classes should be numbered 0 to {len(content) - 1}, each once."
        )
    all_names = sorted(content, key=lambda name: int(content[name]))
    names = class_list(all_names, classes, file, "in an object, each with its number")
    places = class_numbers({name: name for name in all_names}, names)
    return names, {**places, **{content[name]: place for name, place in places.items()}}


def _training_rows(folder: Path) -> tuple[list[Row], dict[int, list[bool]]]:
    """The rows, which every list must have alike, and for each cost whether a row's frame is labelled."""
    files = {_cost(file): file for file in folder.glob("train_anno*.csv")}
    rows: list[Row] = []
    oracles: dict[int, list[bool]] = {}
    for cost, file in sorted(files.items(), reverse=True):
        found, oracle = _rows(file, "oracle")
        if rows and [row.frame for row in found] != [row.frame for row in rows]:
            differ = (there.line for here, there in zip(rows, found, strict=False) if here.frame != there.frame)
            line = next(differ, found[-1].line if found else 1)
            raise InvalidData(
                f"{one_line(file)}, line {line}: it lists other frames than {files[max(files)].name}. All should list "
                "the same."
            )
        rows = found
        oracles[cost] = [_is_labelled(text, file, row.line) for text, row in zip(oracle, rows, strict=True)]
    return rows, oracles


def _rows(file: Path, *more: str) -> tuple[list[Row], list[str]]:
    """The rows of a list, and the column besides that training lists have."""
    rows: list[Row] = []
    besides: list[str] = []
    step = -1
    for line, (name, json_file, *others) in DATA.read_csv(file, ("step_name", "json_file", *more)):
        number = int(name[5:]) if STEP.fullmatch(name) else -1
        # Every step has training frames; not every step need have test frames.
        if number < max(step, 0) or (more and number > step + 1):
            after = f"after step_{step:05d}" if step >= 0 else "first"
            raise InvalidData(
                f"{one_line(file)}, line {line}: {shorten(name)} comes {after}. Steps should be in order, from "
                "step_00000 on."
            )
        step = number
        rows.append(Row(line, number, json_file))
        besides += others
    return rows, besides


def _cost(file: Path) -> int:
    found = re.fullmatch(r"train_anno([0-9]{1,4})\.csv", file.name)
    if not found:
        raise InvalidData(
            f"{one_line(file)}: its name should be train_anno<k>.csv, with the number of labelled frames a step."
        )
    return int(found[1])


def _is_labelled(text: str, file: Path, line: int) -> bool:
    if text.strip() not in {"0", "1"}:
        raise InvalidData(f"{one_line(file)}, line {line}: oracle is {shorten(text)}: it should be 1 (labelled) or 0.")
    return text.strip() == "1"
