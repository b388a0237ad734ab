"""A PASCAL VOC data set: XML files, as many labelling tools write them, beside pictures that have an order."""

from __future__ import annotations

from pathlib import Path

from pydantic import field_validator

from leocod.benchmarks.base import Recorded, SplitOptions
from leocod.readers.classes import explain_bad_name
from leocod.readers.recording import Recording, Report
from leocod.readers.voc import read_voc
from leocod.text import shorten


class VocOptions(SplitOptions):
    """Options of a PASCAL VOC data set."""

    root: Path
    """The folder with `JPEGImages` and `Annotations` in it."""

    sets: tuple[str, ...] | None = None
    """Names of lists in `ImageSets/Main`, without `.txt`: each is one video, in this order. Null: all images, in the
    order of their names, numbers in them by value."""

    rename: dict[str, str] | None = None
    """Labels to mend: the label as it stands in the files, and the name of its class. Two may become one class. Null:
    none."""

    @field_validator("sets")
    @classmethod
    def _check_sets(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if names == ():
            raise ValueError("at least one list is needed, or null for all images")
        for name in names or ():
            if (names or ()).count(name) > 1:
                raise ValueError(f"{shorten(name)} is named twice")
        return names

    @field_validator("rename")
    @classmethod
    def _check_rename(cls, names: dict[str, str] | None) -> dict[str, str] | None:
        if names is None:
            return None
        mended: dict[str, str] = {}
        # Labels are compared without blanks around them.
        for old, new in ((old.strip(), new.strip()) for old, new in names.items()):
            if old in mended:
                raise ValueError(f"{shorten(old)} is named twice")
            if problem := "a class needs a name" if not new else explain_bad_name(new):
                raise ValueError(f"{shorten(old)} becomes {shorten(new)}: {problem}")
            mended[old] = new
        return mended


class Voc(Recorded):
    """The images of a PASCAL VOC data set, one after another.

    Everingham et al., The PASCAL Visual Object Classes (VOC) Challenge, IJCV 2010.
    """

    Options = VocOptions
    options: VocOptions
    name = "voc"

    def record(self, report: Report) -> Recording:
        options = self.options
        return read_voc(options.root, sets=options.sets, rename=options.rename, classes=options.classes, report=report)
