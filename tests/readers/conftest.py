"""What a reader says, in a form that tests can compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from leocod.readers.recording import Problem, Recording


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
