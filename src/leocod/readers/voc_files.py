"""The files of a PASCAL VOC data set, and the order of its images: that of lists, or of names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from leocod.errors import InvalidData, UnknownName
from leocod.files.documents import DATA
from leocod.files.images import SUFFIXES
from leocod.files.paths import Root
from leocod.readers.recording import Problem, Report
from leocod.text import natural_key, one_line

PICTURES, ANNOTATIONS, SETS = "JPEGImages", "Annotations", "ImageSets/Main"

FLAG = re.compile(r"\s+-?[01]$")
"""What follows a name in the lists of VOC that are about one class: whether the image shows it."""


@dataclass(frozen=True)
class Place:
    """One image of the stream, by its name without an ending."""

    stem: str
    video: str
    index: int
    listed: tuple[Path, int] | None = None
    """The list that names it, and the line."""
    repeats: str = ""
    """Where it was listed before."""


class VocFiles:
    """The files of a data set by the names of its images."""

    def __init__(self, root: Path, report: Report) -> None:
        if not root.is_dir():
            raise InvalidData(f"{one_line(root)}: no such folder. Name the one that holds the data set as `root`.")
        self.root = root
        self.pictures = self._list_files(PICTURES, SUFFIXES, report)
        self.annotations = self._list_files(ANNOTATIONS, {".xml"}, report)

    def list_all(self) -> Iterator[Place]:
        """List all images, in the order of their names; also those of which only the XML file is there."""
        video = one_line(self.root.absolute().name or "voc")
        stems = sorted({*self.pictures, *self.annotations}, key=natural_key)
        return (Place(stem, video, index) for index, stem in enumerate(stems))

    def list_sets(self, sets: Sequence[str]) -> Iterator[Place]:
        """List the images that these lists name, in their order."""
        seen: dict[str, str] = {}
        for name in sets:
            file = self._find_set(name)
            lines = enumerate(DATA.read_text(file).splitlines(), start=1)
            named = [(number, FLAG.sub("", line.strip())) for number, line in lines if line.strip()]
            for index, (number, stem) in enumerate(named):
                yield Place(stem, one_line(name), index, (file, number), seen.get(stem, ""))
                seen.setdefault(stem, f"{one_line(file)}, line {number}")

    def _find_set(self, name: str) -> Path:
        file = Root(self.root).join(f"{SETS}/{name}.txt", self.root, "sets")
        if not file.is_file():
            known = [one_line(file.stem) for file in (self.root / SETS).glob("*.txt")]
            raise UnknownName(f"list in {one_line(self.root / SETS)}", name, known)
        return file

    def _list_files(self, folder: str, endings: frozenset[str] | set[str], report: Report) -> dict[str, Path]:
        """Map names without an ending to the files of a folder. Of two with one name, the first is used."""
        if not (self.root / folder).is_dir():
            raise InvalidData(
                f"{one_line(self.root / folder)}: no such folder. PASCAL VOC has pictures in {PICTURES} and an XML "
                f"file for each in {ANNOTATIONS}."
            )
        found: dict[str, Path] = {}
        # Files that begin with a dot are no data: some systems put one beside each file that they pack.
        visible = (file for file in (self.root / folder).iterdir() if not file.name.startswith("."))
        for file in sorted(file for file in visible if file.suffix.lower() in endings):
            if file.stem in found:
                what = f"{one_line(found[file.stem].name)} has the same name but for its ending, and is used instead."
                report(Problem(file, "", what, breaks=False, kind="duplicate picture"))
            found.setdefault(file.stem, file)
        return found
