"""Paths that other files name: whether a file is there, and whether a path stays inside its folder."""

from __future__ import annotations

import os
import stat
from errno import ENAMETOOLONG
from pathlib import Path

from leocod.errors import InvalidData
from leocod.text import one_line, shorten

NO_FILE = "no such file"
NOT_A_FILE = "not a file"


def explain_absence(path: Path) -> str | None:
    """Say why a path is not a file with content; None when it is one. Quick: nothing is opened."""
    try:
        status = path.stat()
    except OSError as error:
        return NO_FILE if isinstance(error, FileNotFoundError) else (error.strerror or str(error)).lower()
    # A NUL, or half of a character.
    except ValueError:
        return "no file can be called that"
    if not stat.S_ISREG(status.st_mode):
        return NOT_A_FILE
    return None if status.st_size else "the file is empty"


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a path, all links followed, lies in a folder."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    # Links in a circle, or a name that no file can have.
    except (OSError, RuntimeError, ValueError):
        return False


class Root:
    """The folder that a data set may not leave, whatever paths its files name and wherever its links lead."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._real = path.resolve()
        self._is_inside: dict[str, bool] = {}
        """Folders that were checked: a data set has many files in few folders."""

    def join(self, name: str, file: Path, record: str) -> Path:
        """The path that a file of the data set names; `file` and `record` say where, for the error."""
        if refusal := self.explain_refusal(name):
            raise InvalidData(one_line(f"{file}, {record}: {refusal}"))
        return self.path / name

    def explain_refusal(self, name: str) -> str | None:
        """Say why a path is not followed; None when it leads to a place inside. Nothing is opened."""
        try:
            encoded = os.fsencode(name)
        except UnicodeEncodeError:
            encoded = b"\0"
        if b"\0" in encoded:
            return f"the path {shorten(name)} has a character that no file name can have. Correct the name."
        odd = not name or "\\" in name or name.startswith("/") or ".." in name.split("/")
        try:
            if not odd and self._leads_inside(name):
                return None
        except OSError as error:
            if error.errno == ENAMETOOLONG:
                return f"the path {shorten(name)} is too long for this disk. Give the file a shorter name."
        # A link to itself.
        except RuntimeError:
            pass
        return (
            f"the path {shorten(name)} leads outside {self.path}. "
            "Paths must be relative to it, without '..' or links to elsewhere."
        )

    def _leads_inside(self, name: str) -> bool:
        folder, _, _ = name.rpartition("/")
        path = self.path / name
        if folder not in self._is_inside:
            self._is_inside[folder] = path.parent.resolve().is_relative_to(self._real)
        return self._is_inside[folder] and (not path.is_symlink() or path.resolve().is_relative_to(self._real))
