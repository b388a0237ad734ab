"""Which frame of a video file a name means where its user says so: by a pattern, or by a table in a CSV file."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import NamedTuple, Protocol

from leocod.errors import InvalidConfig, InvalidData
from leocod.files.documents import DATA
from leocod.readers.frame_names import LONGEST, FrameNames, is_same_name, strip_ending
from leocod.readers.frame_numbers import FrameNumber
from leocod.text import one_line, shorten

LARGEST = 64 * 1024**2
"""Bytes of the largest table."""

PARTS = {"{number}": "(?P<number>[0-9]{1,9})", "{number_from_1}": "(?P<from_1>[0-9]{1,9})", "{video}": "(?P<video>.+)"}
PARTS |= {"*": ".*"}
"""What a pattern may have besides plain text, and what it stands for."""

HASH = re.compile(r"[0-9a-f]{8}-")
"""What Label Studio puts before the name of a picture that is uploaded."""


class NamedFrames(Protocol):
    """Says which frame a name means."""

    def find(self, name: str, video: str) -> FrameNumber | None:
        """The frame of this video that a name means; None when it means none."""
        ...


def read_frame_names(given: str) -> NamedFrames:
    """A table when a CSV file is given, else a pattern."""
    return FrameTable(Path(given)) if given.lower().endswith(".csv") else FramePattern(given)


class FramePattern:
    """A pattern such as `shot-{number}`: plain text, one number, and perhaps `{video}` and `*`.

    The ending, capitals, and the hash of Label Studio make no difference. Folders do if the pattern has one.

    >>> FramePattern("shot-{number_from_1}").find("2f0a1b3c-shot-0013.jpg", "walk")
    FrameNumber(number=12, names_video=False, is_certain=True)
    """

    def __init__(self, pattern: str) -> None:
        words = re.split(f"({'|'.join(map(re.escape, PARTS))})", strip_ending(pattern))
        if sum(word in ("{number}", "{number_from_1}") for word in words) != 1 or words.count("{video}") > 1:
            raise InvalidConfig(
                f"frame_names is {shorten(pattern)}: it should be the path of a .csv file, or a pattern with one "
                "{number}, counted from 0, or {number_from_1}, and perhaps {video} and *, such as {video}_{number}."
            )
        self._form = re.compile("".join(PARTS.get(word, re.escape(word)) for word in words), re.IGNORECASE)
        self._has_folder = "/" in pattern

    def find(self, name: str, video: str) -> FrameNumber | None:
        name = strip_ending(name.replace("\\", "/")[-LONGEST:])
        last = name if self._has_folder else name.rpartition("/")[2]
        match = self._form.fullmatch(last) or self._form.fullmatch(HASH.sub("", last, count=1))
        if match is None:
            return None
        found = match.groupdict()
        stated = found.get("video")
        if stated is not None and not is_same_name(stated, video):
            return None
        number = int(found["number"]) if found.get("number") else int(found["from_1"]) - 1
        return FrameNumber(number, names_video=stated is not None)


class FrameTable:
    """A CSV file with the columns `name` and `frame`, counted from 0, and perhaps `video`.

    Names are compared as those of a folder: what a tool put before a name makes no difference.
    """

    def __init__(self, file: Path) -> None:
        self._rows = _read_rows(file)
        self._names = FrameNames([row.name for row in self._rows])

    def find(self, name: str, video: str) -> FrameNumber | None:
        rows = [self._rows[place] for place in self._names.find(name)]
        if len(rows) != 1 or (rows[0].video and video.casefold() not in (rows[0].video, Path(rows[0].video).stem)):
            return None
        return FrameNumber(rows[0].frame, names_video=bool(rows[0].video))


class _Row(NamedTuple):
    name: str
    frame: int
    video: str
    """In small letters, with its ending or without; empty where the table does not say."""


def _read_rows(file: Path) -> list[_Row]:
    try:
        lines = list(csv.reader(DATA.read_text(file, largest=LARGEST).splitlines()))
    except csv.Error as error:
        raise DATA.make_error(file, error) from error
    head = [word.strip().casefold() for word in lines[0]] if lines else []
    if not {"name", "frame"} <= {*head}:
        raise InvalidData(
            f"{one_line(file)}: its first line is {shorten(','.join(head))}: it should name the columns name and "
            "frame, and video where there are several."
        )
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        values = dict(zip(head, (word.strip() for word in line), strict=False))
        if not line:
            continue
        if not values.get("name") or not re.fullmatch("[0-9]{1,9}", values.get("frame", "")):
            what = f"it is {shorten(','.join(line))}: it should have a name and the number of a frame, counted from 0"
            raise InvalidData(f"{one_line(file)}, line {number}: {what}.")
        rows.append(_Row(values["name"], int(values["frame"]), values.get("video", "").casefold()))
    return rows
