"""Which frame a name means that a labelling tool has changed: by the end of the name, as far as it agrees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from leocod.files.images import SUFFIXES

LONGEST = 1000
"""Letters of a name that is compared; no file system has longer ones."""

SEPARATOR = re.compile(r"[-_. ]")
"""What stands between the name of a frame and what a tool puts before it."""

ENDINGS = SUFFIXES | {".txt", ".xml"}
"""Endings of pictures, and of the files that label one each."""

UNNAMED = frozenset({"images", "labels", "jpegimages", "annotations"})
"""Folders that only say what is in them."""


class FrameNames:
    """Frames by name. Capitals, the ending, and what a tool put before a name make no difference."""

    def __init__(self, names: Sequence[str]) -> None:
        """`names` are paths with `/`, one for each frame."""
        self._names = [split_path(name) for name in names]
        self._by_stem: dict[str, list[int]] = {}
        for number, (_, last) in enumerate(self._names):
            self._by_stem.setdefault(strip_ending(last), []).append(number)

    def find(self, name: str) -> list[int]:
        """Return the frames that a name can mean: one, or none, or several if nothing tells them apart.

        A frame fits whose own name, without its ending, is the end of the given one: `2f0a-frame_000005.png` means
        frame_000005.jpg. Of the frames that fit, the one with the longest name is meant. Of two in different folders,
        it is the one whose folder agrees farther with what stands before, word by word from the last one on: tools
        make `walk_1_5.png` of `walk 1/5.png`. Of two in one folder, it is the one with the same ending.

        >>> frames = FrameNames(["a/frame_5.png", "b/frame_5.png", "b/5.png"])
        >>> frames.find("task/b/frame_5.PNG"), frames.find("task_b_frame_5.PNG"), frames.find("2f0a-5.png")
        ([1], [1], [2])
        >>> frames.find("frame_5.png"), frames.find("frame_15.png")
        ([0, 1], [])
        """
        if len(name) > LONGEST:
            return []
        folders, last = split_path(name)
        whole = strip_ending(last)
        for stem in _list_ends(whole):
            if fitting := self._by_stem.get(stem):
                before = [*folders, *split_words(whole.removesuffix(stem))]
                return fitting if len(fitting) == 1 else self._choose(fitting, before, last)
        return []

    def _choose(self, fitting: list[int], before: list[str], last: str) -> list[int]:
        grades = {}
        for number in fitting:
            folders, own = self._names[number]
            grades[number] = (_count_alike(folders, before), own == last)
        best = max(grades.values())
        return [number for number in fitting if grades[number] == best]


def is_same_name(name: str, other: str) -> bool:
    """Whether two names are the same but for capitals, and for what stands between their words.

    >>> is_same_name("My walk (2)", "my_walk_2"), is_same_name("walk", "walk 2")
    (True, False)
    """
    return split_words(name.casefold()) == split_words(other.casefold())


def split_path(name: str) -> tuple[list[str], str]:
    """Split a path into the words of its folders, and its last part."""
    *folders, last = name.replace("\\", "/").split("/")
    named = (folder for folder in folders if folder.casefold() not in UNNAMED)
    return [word for folder in named for word in split_words(folder.casefold())], last


def split_words(text: str) -> list[str]:
    """Split a text at everything that is no letter or digit."""
    return [word for word in re.split(r"[\W_]+", text) if word]


def strip_ending(name: str) -> str:
    """Return a name in small letters, without the ending of a picture or of its labels."""
    stem, dot, ending = name.rpartition(".")
    return (stem if stem and f"{dot}{ending}".lower() in ENDINGS else name).casefold()


def _list_ends(stem: str) -> Iterator[str]:
    """Yield a name, and what is left of it after each separator: the longest first."""
    yield stem
    for separator in SEPARATOR.finditer(stem):
        yield stem[separator.end() :]


def _count_alike(some: list[str], others: list[str]) -> int:
    """Count the words that are the same, from the last one on."""
    count = 0
    for one, other in zip(reversed(some), reversed(others), strict=False):
        if one != other:
            break
        count += 1
    return count
