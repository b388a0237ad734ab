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
from leocod.readers.annotations import Annotation, BoxFormat, ClassNumbers, make_labels
from leocod.readers.classes import choose_classes, number_classes
from leocod.readers.coco import is_id, read_stated_size
from leocod.readers.recording import Entry, FrameProblems, Recording, Report, raise_problem
from leocod.text import one_line, shorten, strip_file_name
from leocod.types import Labels

BOX_MODES: Mapping[int, BoxFormat] = {0: "xyxy", 1: "xywh"}
"""The values of `bbox_mode`."""

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
        """What must be the same in every list."""
        return self.step, self.json_file


def find_lists(root: Path) -> list[Path]:
    """Return the folders under a root that hold lists of frames in this layout."""
    return sorted({file.parent for file in root.glob("*/train_anno*.csv")})


def read_processed(root: Path, *, classes: Sequence[str] | None = None, report: Report = raise_problem) -> Recording:
    """Read all frames, divided into steps and test frames as listed, and the published choice of labels at each cost.

    A step's test frames come after its training frames.
    """
    folder = _find_only_folder(root)
    names, numbers = _read_classes(folder / "mapping.json", classes)
    train_list, test_list = max(folder.glob("train_anno*.csv"), key=_parse_cost), folder / "test.csv"
    rows, oracles = _read_training_rows(folder)
    held_out, _ = _read_rows(test_list)
    frames = _Frames(Root(root), folder.name, numbers, report)
    tests = {step: list(members) for step, members in groupby(held_out, key=lambda row: row.step)}
    entries: list[Entry] = []
    trained: list[int] = []
    for step, members in groupby(rows, key=lambda row: row.step):
        for row in members:
            trained.append(len(entries))
            entries.append(frames.make_entry(train_list, row, id=len(entries)))
        for row in tests.pop(step, []):
            entries.append(frames.make_entry(test_list, row, id=len(entries), held_out=True))
    for row in (row for members in tests.values() for row in members):
        entries.append(frames.make_entry(test_list, row, id=len(entries), held_out=True))
    given = {
        cost: frozenset(id for id, labelled in zip(trained, oracle, strict=True) if labelled)
        for cost, oracle in oracles.items()
    }
    return Recording(names, tuple(entries), given)


class _Frames:
    """Makes entries of rows."""

    def __init__(self, root: Root, video: str, classes: ClassNumbers, report: Report) -> None:
        self.root = root
        self.video = video
        self.classes = classes
        self.report = report
        self._listed: set[str] = set()

    def make_entry(self, list_file: Path, row: Row, *, id: int, held_out: bool = False) -> Entry:
        place = f"line {row.line}"
        if refusal := self.root.explain_refusal(row.json_file):
            problems = FrameProblems(self.report, list_file, place, id)
            problems.add("", refusal, "path")
            # In the authors' files every frame is labelled.
            labels, record = Labels.none(), problems.where
            return Entry(id, self.video, id, list_file, None, labels, row.step, held_out, broken=True, record=record)
        file = self.root.path / row.json_file
        problems = FrameProblems(self.report, file, "", id)
        if row.json_file in self._listed:
            problems.add("", f"{list_file}, {place} lists it a second time. A frame comes once.", "duplicate id")
        self._listed.add(row.json_file)
        video, picture, size, known = self.video, file, None, None
        content = _read_content(file, problems)
        if content is not None:
            name = _find_image_name(row.json_file, content, file, problems)
            if name is not None and (refusal := self.root.explain_refusal(name)):
                problems.add("", refusal, "path")
            elif name is not None:
                picture = self.root.path / name
                size, known = self._read_labels(content, picture, problems)
            # `leocod data convert` writes the video; the authors' files do not have it.
            video = self._read_video(content, problems)
        if problems.broken and (content or {}).get("labelled") is not False:
            known = Labels.none()
        broken, record = problems.broken, problems.where
        return Entry(id, video, id, picture, size, known, row.step, held_out, broken=broken, record=record)

    def _read_video(self, content: Mapping[str, Any], problems: FrameProblems) -> str:
        video = content.get("video", self.video)
        if not is_id(video):
            problems.add("", f"its video is {shorten(video)}: it should be a name.", "order")
        return one_line(video)

    def _read_labels(
        self, content: dict[str, Any], picture: Path, problems: FrameProblems
    ) -> tuple[tuple[int, int] | None, Labels | None]:
        """Read the size of a frame, and its labels."""
        if absence := explain_absence(picture):
            problems.add("", f"its picture {picture}: {absence}. {CURE}", "picture")
            return None, None
        size = read_stated_size(content, problems)
        if size is None:
            if not problems.broken:
                problems.add("", "it has no height and width.", "size")
            return None, None
        if content.get("labelled") is False:
            return size, None
        return size, make_labels(_list_annotations(content["annotations"], problems), size, self.classes, problems)


def _read_content(file: Path, problems: FrameProblems) -> dict[str, Any] | None:
    try:
        content = DATA.read_json(file, largest=LARGEST_FRAME)
    except InvalidData as error:
        # It is the file of one frame: the others can be used without it.
        problems.add("", strip_file_name(file, error), "file")
        return None
    if isinstance(content, dict) and isinstance(content.get("annotations"), list):
        return content
    problems.add("", "it should be an object with a list of 'annotations'.", "file")
    return None


def _list_annotations(annotations: list[Any], problems: FrameProblems) -> Iterator[Annotation]:
    for number, annotation in enumerate(annotations):
        record = f"annotation {number}"
        if not isinstance(annotation, dict):
            problems.add(record, f"it is {shorten(annotation)}: it should be an object.", "file")
            continue
        mode = annotation.get("bbox_mode")
        if type(mode) is int and mode in BOX_MODES:
            yield Annotation(record, annotation.get("category"), annotation.get("bbox"), BOX_MODES[mode])
        else:
            what = f"its bbox_mode is {shorten(mode)}: it should be 0 (x1, y1, x2, y2) or 1 (x, y, w, h)."
            problems.add(record, what, "box")


def _find_image_name(json_file: str, content: Mapping[str, Any], file: Path, problems: FrameProblems) -> str | None:
    """Return the path of the picture: that of the JSON file, with `images` in place of `annotations`.

    Of the `file_name` inside, which may be a full path on its authors' machine, only the last part is used.
    """
    folder, marker, inner = f"/{json_file}".rpartition("/annotations/")
    if not marker:
        what = "it is not under a folder 'annotations', so that its picture under 'images' is unknown. Move it there."
        problems.add("", what, "path")
        return None
    stated = content.get("file_name")
    last = stated.replace("\\", "/").rpartition("/")[2] if isinstance(stated, str) else ""
    beside, slash, _ = inner.rpartition("/")
    return f"{folder}/images/{beside}{slash}{last or f'{file.stem}.jpg'}"[1:]


def _find_only_folder(root: Path) -> Path:
    folders = find_lists(root)
    if len(folders) == 1:
        return folders[0]
    if folders:
        names = one_line(", ".join(folder.name for folder in folders), 200)
        raise InvalidData(f"{one_line(root)} holds lists of frames in {names}: keep one of them.")
    above = " Its lists lie right in it: name the folder above." if any(root.glob("train_anno*.csv")) else ""
    raise InvalidData(f"{one_line(root)}: no folder in it holds train_anno<k>.csv.{above}")


def _read_classes(file: Path, classes: Sequence[str] | None) -> tuple[tuple[str, ...], dict[Any, int | None]]:
    """Read the class list, and the position in it by name as well as by number in the file."""
    content = DATA.read_json(file)
    if not isinstance(content, dict) or not all(type(number) is int for number in content.values()):
        raise InvalidData(f"{one_line(file)} should be an object of class names, each with its number.")
    if sorted(content.values()) != list(range(len(content))):
        raise InvalidData(
            f"{one_line(file)}: the {len(content)} classes should be numbered 0 to {len(content) - 1}, each once."
        )
    all_names = sorted(content, key=lambda name: int(content[name]))
    names = choose_classes(all_names, classes, file, "in an object, each with its number")
    places = number_classes({name: name for name in all_names}, names)
    return names, {**places, **{content[name]: place for name, place in places.items()}}


def _read_training_rows(folder: Path) -> tuple[list[Row], dict[int, list[bool]]]:
    """Read the rows, which must be the same in every list, and for each cost whether a row's frame is labelled."""
    files = {_parse_cost(file): file for file in folder.glob("train_anno*.csv")}
    rows: list[Row] = []
    oracles: dict[int, list[bool]] = {}
    for cost, file in sorted(files.items(), reverse=True):
        listed, oracle = _read_rows(file, "oracle")
        if rows and [row.frame for row in listed] != [row.frame for row in rows]:
            differ = (there.line for here, there in zip(rows, listed, strict=False) if here.frame != there.frame)
            line = next(differ, listed[-1].line if listed else 1)
            raise InvalidData(
                f"{one_line(file)}, line {line}: it lists other frames than {files[max(files)].name}. All should list "
                "the same."
            )
        rows = listed
        oracles[cost] = [_parse_oracle(text, file, row.line) for text, row in zip(oracle, rows, strict=True)]
    return rows, oracles


def _read_rows(file: Path, *more: str) -> tuple[list[Row], list[str]]:
    """Read the rows of a list, and the further column that training lists have."""
    rows: list[Row] = []
    further: list[str] = []
    step = -1
    for line, (name, json_file, *others) in DATA.read_csv(file, ("step_name", "json_file", *more)):
        number = int(name[5:]) if STEP.fullmatch(name) else -1
        # Every step has training frames, but not every step needs test frames.
        if number < max(step, 0) or (more and number > step + 1):
            after = f"after step_{step:05d}" if step >= 0 else "first"
            raise InvalidData(
                f"{one_line(file)}, line {line}: {shorten(name)} comes {after}. Steps should be in order, from "
                "step_00000 on."
            )
        step = number
        rows.append(Row(line, number, json_file))
        further += others
    return rows, further


def _parse_cost(file: Path) -> int:
    """Return the labelled frames a step from the name of a list."""
    match = re.fullmatch(r"train_anno([0-9]{1,4})\.csv", file.name)
    if not match:
        raise InvalidData(
            f"{one_line(file)}: its name should be train_anno<k>.csv, with the number of labelled frames a step."
        )
    return int(match[1])


def _parse_oracle(text: str, file: Path, line: int) -> bool:
    if text.strip() not in {"0", "1"}:
        raise InvalidData(f"{one_line(file)}, line {line}: oracle is {shorten(text)}: it should be 1 (labelled) or 0.")
    return text.strip() == "1"
