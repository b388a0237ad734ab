"""Which frame of a video file a name means: the number at its end, and the video that is named before the number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from leocod.errors import InvalidData
from leocod.readers.frame_names import LONGEST, split_path, split_words, strip_ending
from leocod.text import one_line

NUMBERED = re.compile(r"(?:(.*)[-_. ])?(f|frame_)([0-9]{6,9})", re.IGNORECASE | re.DOTALL)
"""The end of a name: f000012, as `leocod data choose` writes it, or frame_000012, as CVAT does."""

BY_CVAT = ".PNG"
"""The ending that CVAT gives to frames of a video. Other tools that write frame_000012 write .png, or .jpg."""

BY_A_TOOL = re.compile(r"[0-9a-f]{8,}|[0-9]+|task|job|project")
"""Words that a tool puts before a name: the hash of Label Studio, `task 3`, `job_1`."""

SUBSETS = frozenset({"train", "val", "valid", "validation", "test", "default", "obj", "data"})
"""Folders that say which part of a data set they hold, and not which video."""


class FrameNumber(NamedTuple):
    """The frame of a video file that a name means."""

    number: int
    """Counted from 0."""
    names_video: bool
    """Whether the name also says which video it is."""
    is_certain: bool = True
    """Whether only a tool that counts from 0 writes such names."""


def name_frame(video: str, number: int) -> str:
    """Name a frame so that no tool changes the name, and that it cannot be taken for another tool's.

    >>> name_frame("my walk", 12), parse_name("2f0a1b3c-my_walk_f000012.jpg", "my walk")
    ('my_walk_f000012', FrameNumber(number=12, names_video=True, is_certain=True))
    """
    return re.sub(r"[^-\w.]+", "_", video) + f"_f{number:06d}"


def parse_name(name: str, video: str) -> FrameNumber | None:
    """Parse the name of a picture as that of a frame of this video; None when it is another's, or does not say.

    >>> parse_name("task 3/frame_000012.PNG", "walk"), parse_name("garage_frame_000012.PNG", "walk")
    (FrameNumber(number=12, names_video=False, is_certain=True), None)
    """
    if len(name) > LONGEST:
        return None
    _, last = split_path(name)
    match = NUMBERED.fullmatch(strip_ending(last))
    if match is None:
        return None
    before = split_words((match[1] or "").casefold())
    names_video = _end_with(before, video) or lies_in_folder(name, video)
    is_ours = match[2].casefold() == "f"
    # What else stands there may be the name of another video.
    if not all(map(BY_A_TOOL.fullmatch, _take_off(before, video))) or (is_ours and not names_video):
        return None
    return FrameNumber(int(match[3]), names_video, is_certain=is_ours or last.endswith(BY_CVAT))


def refuse_same_names(videos: Sequence[Path]) -> None:
    """Raise if two videos have the same name: their labels could not be told apart, nor they in a report."""
    first: dict[tuple[str, ...], Path] = {}
    for video in videos:
        words = tuple(split_words(video.stem.casefold()))
        if words in first:
            raise InvalidData(
                f"{one_line(first[words])} and {one_line(video)} have the same name. Rename one of them, so "
                "that their frames can be told apart."
            )
        first[words] = video


def ends_in_number(name: str) -> bool:
    """Whether a name says which frame it is, of whatever video."""
    return NUMBERED.fullmatch(strip_ending(split_path(name[-LONGEST:])[1])) is not None


def lies_in_folder(name: str, video: str) -> bool:
    """Whether the folders before a name say that it is a frame of this video."""
    folders, _ = split_path(name)
    while folders and folders[-1] in SUBSETS:
        folders.pop()
    return _end_with(folders, video)


def _end_with(words: list[str], video: str) -> bool:
    return len(_take_off(words, video)) < len(words)


def _take_off(words: list[str], video: str) -> list[str]:
    """Take the words of the video's name off the end, if they are there."""
    own = split_words(video.casefold())
    return words[: -len(own)] if own and words[-len(own) :] == own else words
