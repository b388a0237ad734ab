"""Tiny pictures for data sets that the tests write themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from leocod.data.recording import Problem, Recording


@pytest.fixture
def a_picture() -> Callable[..., Path]:
    """Writes a plain picture; its size is height and width."""

    def write(path: Path, size: tuple[int, int] = (60, 80), value: int = 0) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((*size, 3), value, np.uint8)).save(path)
        return path

    return write


@pytest.fixture
def a_json() -> Callable[..., Path]:
    def write(path: Path, content: Any) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write


@pytest.fixture
def met() -> list[Problem]:
    """Give its `append` to a reader, and it goes on past every problem."""
    return []


@pytest.fixture
def boxes() -> Callable[[Recording], list[Any]]:
    """What a recording says: for each frame its labels as class name and corners; None where nobody labelled."""

    def listed(recording: Recording) -> list[Any]:
        return [
            None
            if entry.labels is None
            else [
                (recording.classes[number], *corners)
                for number, corners in zip(entry.labels.classes.tolist(), entry.labels.boxes.tolist(), strict=True)
            ]
            for entry in recording.entries
        ]

    return listed
