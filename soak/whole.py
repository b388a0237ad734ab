"""Is every file of a run directory whole? A file under its real name never is half-written."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import yaml

from leocod.files.checkpoint import read_checkpoint
from leocod.files.images import read_pixels


def whole(path: Path) -> list[str]:
    """What is not, and why. Hidden files, of which a killed process may leave half, do not count."""
    wrong = []
    for file in sorted(path.rglob("*")):
        check = CHECKS.get(file.suffix)
        if check is None or file.name.startswith(".") or not file.is_file():
            continue
        try:
            check(file)
        except Exception as error:
            wrong.append(f"{file.relative_to(path)}: {type(error).__name__} {error}")
    return wrong


def _lines(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    for line in text.splitlines():
        json.loads(line)
    if text and not text.endswith("\n"):
        raise ValueError("the last line is cut off")


def _packed(file: Path) -> None:
    for line in gzip.decompress(file.read_bytes()).decode().splitlines():
        json.loads(line)


def _page(file: Path) -> None:
    if not file.read_text(encoding="utf-8").rstrip().endswith("</html>"):
        raise ValueError("the page has no end")


CHECKS: dict[str, Callable[[Path], object]] = {
    ".json": lambda file: json.loads(file.read_text(encoding="utf-8")),
    ".jsonl": _lines,
    ".gz": _packed,
    ".yaml": lambda file: yaml.safe_load(file.read_text(encoding="utf-8")),
    ".pt": read_checkpoint,
    ".png": read_pixels,
    ".html": _page,
}
