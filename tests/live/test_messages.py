"""What the page may say."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from leocod.live.messages import PAGE_MESSAGE, LabelCommand, Shown

LABEL = {
    "type": "label",
    "id": 1,
    "frame": 7,
    "objects": [{"box": [1, 2.5, 30, 40], "name": "mug"}],
    "complete": True,
    "seconds": 4.2,
    "key": "abc",
}


def test_every_command_of_the_contract_is_understood() -> None:
    commands = [
        LABEL,
        {"type": "skip", "id": 2, "frame": 7},
        {"type": "undo", "id": 3},
        {"type": "undo", "id": 3, "label": 4},
        {"type": "rename", "id": 4, "name": "mug", "to": "cup"},
        {"type": "merge", "id": 5, "name": "cup", "into": "mug"},
        {"type": "pin", "id": 6, "frame": 7, "pinned": False},
        {"type": "forget", "id": 7, "frame": 7},
        {"type": "pause", "id": 8},
        {"type": "resume", "id": 9},
        {"type": "checkpoint", "id": 10},
        {"type": "export", "id": 11, "format": "onnx"},
        {"type": "shown", "picture": 3},
    ]
    understood = [PAGE_MESSAGE.validate_json(json.dumps(command)) for command in commands]

    assert isinstance(understood[0], LabelCommand)
    assert understood[0].objects[0].box == (1, 2.5, 30, 40)
    assert isinstance(understood[-1], Shown)


@pytest.mark.parametrize(
    "change",
    [
        {"type": "explode"},
        {"id": None},
        {"id": -1},
        {"id": "1"},
        {"frame": 1.5},
        {"frame": 2**60},
        {"objects": None},
        {"objects": [{"box": [1, 2, 3], "name": "mug"}]},
        {"objects": [{"box": [1, 2, 3, 1e9], "name": "mug"}]},
        {"objects": [{"box": [1, 2, 3, "4"], "name": "mug"}]},
        {"objects": [{"box": [1, 2, 3, 4], "name": ""}]},
        {"objects": [{"box": [1, 2, 3, 4], "name": "m" * 201}]},
        {"objects": [{"box": [1, 2, 3, 4], "name": "mug", "color": "red"}]},
        {"objects": [{"box": [1, 2, 3, 4], "name": "mug"}] * 301},
        {"complete": "yes"},
        {"seconds": -1},
        {"key": "k" * 65},
        {"more": 1},
    ],
    ids=str,
)
def test_anything_else_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        PAGE_MESSAGE.validate_json(json.dumps({**LABEL, **change}))


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", '{"type": "label", "seconds": NaN}', "[" * 5000])
def test_what_is_no_message_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        PAGE_MESSAGE.validate_json(text)
