"""What a file of labels says, whichever tool wrote it: boxes and classes of images, before their frames are known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from leocod.files.paths import explain_absence
from leocod.readers.annotations import Annotation, BoxFormat
from leocod.readers.recording import Instance, ProblemKind, Report
from leocod.text import natural_key, one_line, pluralize

HEAD = 4096
"""Bytes from the beginning of a file by which its format is known."""

Unit = Literal["pixels", "share"]
"""What the numbers of a box count: pixels, or shares of the width and height of the frame."""


class LabelledObject(NamedTuple):
    """One object as a file describes it, before anything is checked. A box in shares is four numbers."""

    record: str
    category: Any
    box: Any
    format: BoxFormat
    unit: Unit = "pixels"
    find_instance: Callable[[str], Instance | None] = lambda video: None
    """Says which thing it is in a frame of this video."""

    def scale(self, size: tuple[int, int]) -> Annotation:
        """The object in pixels of a frame of this height and width."""
        box = self.box
        if self.unit == "share":
            height, width = size
            box = [number * side for number, side in zip(box, (width, height, width, height), strict=True)]
        return Annotation(self.record, self.category, box, self.format)


class Note(NamedTuple):
    """A problem of an image that was found when its file was read; it is told once the frame is known."""

    part: str
    what: str
    kind: ProblemKind
    breaks: bool


class Notes(list[Note]):
    """Keeps the problems of one image."""

    def add(self, part: str, what: str, kind: ProblemKind, *, breaks: bool = True) -> None:
        """Keep a problem. `part` is the record within the image that is wrong; empty for the image itself."""
        self.append(Note(part, what, kind, breaks))


@dataclass
class LabelledImage:
    """What a file says of one image."""

    file: Path
    record: str
    """Which record of the file it is, in words; empty for the whole file."""
    name: str | None
    """What the tool calls the picture: a file name, often with folders and letters that the tool has put before it.
    None: the format has no names."""
    number: int | None = None
    """Which frame of the video it is, counted from 0, where the file says."""
    count: int | None = None
    """Among how many frames it was counted, where the file says."""
    size: tuple[int, int] | None = None
    """Height and width in pixels, where the file says."""
    objects: Sequence[LabelledObject] | None = ()
    """None: nobody has labelled it."""
    notes: Notes = field(default_factory=Notes)
    video: str | None = None
    """The video that it is a frame of, where the file has several and says so."""


@dataclass(frozen=True)
class LabelSet:
    """All that a file, or a folder of files, says."""

    path: Path
    classes: Mapping[Any, str]
    """What the files call a class -> its name, in the order of the class list."""
    where: str
    """Where the files name classes, in words."""
    images: Sequence[LabelledImage]
    remarks: Sequence[str] = ()
    """What was left out of all images together, in sentences."""
    is_listed: bool = True
    """Whether the files list their classes. If not, classes are those of objects, and there may be more."""
    is_numbered: bool = False
    """Whether the files call classes by numbers, and the list that would name them may be missing."""


class LabelFormat(Protocol):
    """A module that reads one format."""

    @property
    def NAME(self) -> str:  # noqa: N802
        """What people call the format."""
        ...

    def recognise(self, path: Path) -> bool:
        """Whether labels in this format lie at the path, by what is there; nothing is read in full."""
        ...

    def read(self, path: Path, report: Report) -> LabelSet:
        """Read them all. What is wrong with one image is among its notes, the rest is reported or raised."""
        ...


def peek(path: Path) -> str:
    """The beginning of a text file without blanks; empty when there is no such file."""
    if explain_absence(path):
        return ""
    try:
        with path.open("rb") as opened:
            return opened.read(HEAD).decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    except OSError:
        return ""


def find_xml_root(path: Path) -> str:
    """The name of the outermost element of an XML file; empty when it is none."""
    match = re.match(r"(?:<\?[^>]*>|<!--.*?-->|\s)*<(\w+)", peek(path), re.DOTALL)
    return match[1] if match else ""


def list_files(folder: Path, ending: str) -> list[Path]:
    """The files below a folder whose names end like this, numbers in them by value; without hidden ones."""
    files = (file for file in folder.rglob(f"*{ending}") if file.is_file())
    found = sorted(files, key=lambda file: natural_key(str(file)))
    return [file for file in found if not any(part.startswith(".") for part in file.relative_to(folder).parts)]


def find_json(folder: Path, start: str) -> Path | None:
    """The only JSON file in a folder, or in `annotations` in it, that begins with this; None if there is not one."""
    found = [file for place in (folder, folder / "annotations") for file in sorted(place.glob("*.json"))]
    fitting = [file for file in found if peek(file).startswith(start)]
    return fitting[0] if len(fitting) == 1 else None


def count_left_out(shapes: Iterable[str]) -> list[str]:
    """The remark about shapes that are no upright boxes; none where there are none."""
    counts = Counter(shapes)
    if not counts:
        return []
    listed = ", ".join(f"{count} {one_line(name, 60)}" for name, count in counts.most_common(8))
    more = f" and {len(counts) - 8} more kinds" if len(counts) > 8 else ""
    total = pluralize(sum(counts.values()), "shape")
    return [f"{total} left out, because only upright boxes are read: {listed}{more}."]
