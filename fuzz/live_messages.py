"""Messages of a page that are not what a page may say, made from some that are."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from byte_mutations import mutate_bytes
from live_wire import BINARY, make_frame
from odd_values import ODD_JSON
from text_mutations import mutate_json

LONGEST = 64 * 1024
"""Characters, of which a server says that it takes no more."""

NOBODY = 2**52
"""Of no frame and no label."""

ODD = (
    *ODD_JSON, "-1", "1.0", "1e3", str(2**53), str(2**53 - 1), "[0, 0, 1e7, 1]", "[0, 0, 1]", "[0, 0, 1, 1, 1]",
    '["0", "0", "1", "1"]', '"true"', "86401", '"' + "k" * 65 + '"', '"' + "n" * 201 + '"', '"label"', '"undo"',
    '[{"box": [0, 0, 9, 9]}]', '[{"name": "mug"}]', '[{"box": [0, 0, 9, 9], "name": 5}]', '"pin\\u0000"', '"__proto__"',
    "[" + ", ".join(['{"box": [0, 0, 9, 9], "name": "mug"}'] * 301) + "]",
)  # fmt: skip
"""Values that a field may not have, or that make a message too long."""


def list_messages(frame: int, label: int, remembered: int) -> list[dict[str, Any]]:
    """One of each kind, which would be done if it came as it is."""
    drawn = [{"box": [5, 5, 40.5, 30], "name": "mug"}, {"box": [1, 2, 30, 40], "name": "Löffel"}]
    return [
        {"type": "label", "id": 1, "frame": frame, "objects": drawn, "complete": True, "seconds": 4.2, "key": "k1"},
        {"type": "label", "id": 2, "frame": frame, "objects": []},
        {"type": "skip", "id": 3, "frame": frame},
        {"type": "undo", "id": 4},
        {"type": "undo", "id": 5, "label": label},
        {"type": "rename", "id": 6, "name": "mug", "to": "cup"},
        {"type": "merge", "id": 7, "name": "mug", "into": "book"},
        {"type": "pin", "id": 8, "frame": remembered, "pinned": True},
        {"type": "forget", "id": 9, "frame": remembered},
        {"type": "pause", "id": 10},
        {"type": "resume", "id": 11},
        {"type": "checkpoint", "id": 12},
        {"type": "export", "id": 13, "format": "safetensors"},
        {"type": "shown", "picture": 1},
    ]


def list_impossible(frame: int) -> list[dict[str, Any]]:
    """Well-formed, and not to be done all the same."""
    small = [{"box": [5, 5, 5.2, 30], "name": "mug"}]
    hidden = [{"box": [5, 5, 40, 30], "name": "\u202emug"}]
    outside = [{"box": [5000, 5, 6000, 30], "name": "mug"}]
    long = [{"box": [5, 5, 40, 30], "name": "n" * 65}]
    labels = [small, hidden, outside, long, [{"box": [5, 5, 40, 30], "name": " \t "}], [{"box": [9] * 4, "name": "x"}]]
    return [
        *({"type": "label", "id": 20, "frame": frame, "objects": objects} for objects in labels),
        {"type": "label", "id": 21, "frame": NOBODY, "objects": []},
        {"type": "undo", "id": 22, "label": NOBODY},
        {"type": "rename", "id": 23, "name": "no such class", "to": "x"},
        {"type": "rename", "id": 24, "name": "mug", "to": "book"},
        {"type": "rename", "id": 25, "name": "mug", "to": "a\u200bb"},
        {"type": "merge", "id": 26, "name": "mug", "into": "mug"},
        {"type": "merge", "id": 27, "name": "mug", "into": "../../etc/passwd"},
        {"type": "pin", "id": 28, "frame": NOBODY, "pinned": True},
        {"type": "forget", "id": 29, "frame": NOBODY},
    ]


def damage_message(messages: list[dict[str, Any]], random: Random) -> tuple[bytes, int]:
    """Payload and kind of a frame that no page may send."""
    while True:
        payload = json.dumps(random.choice(messages), ensure_ascii=random.random() < 0.5).encode()
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            payload = random.choice(DAMAGES)(payload, random)
        if random.random() < 0.05:
            return payload, BINARY
        if not is_message(payload):
            return payload, 1


def damage_frame(messages: list[dict[str, Any]], random: Random) -> bytes:
    """A damaged frame. Were its payload understood, there would still be nothing to do."""
    harmless = {"type": "skip", "id": 30, "frame": NOBODY}
    refused = random.choice(messages) | {"id": "none"}
    raw = make_frame(json.dumps(random.choice((harmless, refused))).encode(), random.choice((1, 1, 1, 2, 0, 9, 10, 8)))
    for _ in range(random.choice((1, 1, 2, 4))):
        raw = mutate_bytes(raw, random)
    return raw


def _mutate_value(payload: bytes, random: Random) -> bytes:
    return mutate_json(payload, random, ODD)


def _pad(payload: bytes, random: Random) -> bytes:
    """Too long, though it would be a message without that."""
    return payload[:-1] + b" " * random.choice((LONGEST, LONGEST + 1, 2 * LONGEST, 300_000)) + payload[-1:]


def _add_key(payload: bytes, random: Random) -> bytes:
    key = json.dumps(random.choice(("frame", "label", "x", "__class__", "constructor", "", "type", "id")))
    return payload[:-1] + f", {key}: {random.choice(ODD)}".encode("utf-8", "surrogatepass") + payload[-1:]


def _rename_key(payload: bytes, random: Random) -> bytes:
    keys = [key.encode() for key in ("type", "id", "frame", "objects", "box", "name", "label", "pinned", "to", "into")]
    return payload.replace(b'"' + random.choice(keys) + b'"', random.choice((b'"Type"', b'""', b"'id'", b"frame")), 1)


def _recode(payload: bytes, random: Random) -> bytes:
    text = payload.decode("utf-8", "replace")
    return text.encode(random.choice(("utf-16", "utf-32", "utf-8-sig", "utf-16-be", "cp500")), "replace")


DAMAGES: tuple[Callable[[bytes, Random], bytes], ...] = (
    _mutate_value, _mutate_value, _mutate_value, _mutate_value, mutate_bytes, mutate_bytes, _add_key, _add_key,
    _rename_key, _pad, _recode,
)  # fmt: skip


def is_message(payload: bytes) -> bool:
    """Whether a page may say this. Written from the contract with the page, and not with the server's own code."""
    try:
        text = payload.decode()
        message = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return len(text) <= LONGEST and isinstance(message, dict) and _is_known(message)


def _refuse(word: str) -> Any:
    raise ValueError(word)


def _is_known(message: dict[str, Any]) -> bool:
    kind = message.get("type")
    if not isinstance(kind, str) or kind not in FIELDS:
        return False
    needed, optional = FIELDS[kind]
    keys = message.keys() - {"type"}
    return needed.keys() <= keys <= needed.keys() | optional.keys() and all(
        {**needed, **optional}[key](message[key]) for key in keys
    )


def _is_number(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**53


def _is_text(least: int, most: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and least <= len(value) <= most and not _is_broken(value)


def _is_broken(text: str) -> bool:
    """Half a character is no text."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_between(low: float, high: float) -> Callable[[Any], bool]:
    return lambda value: type(value) in (int, float) and low <= value <= high


def _is_drawn(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"box", "name"}
        and isinstance(value["box"], list)
        and len(value["box"]) == 4
        and all(map(_is_between(-1e6, 1e6), value["box"]))
        and _is_text(1, 200)(value["name"])
    )


def _is_list_of_drawn(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= 300 and all(map(_is_drawn, value))


Fields = dict[str, Callable[[Any], bool]]
NAME = _is_text(1, 200)
ID: Fields = {"id": _is_number}
FIELDS: dict[str, tuple[Fields, Fields]] = {
    "label": (
        {**ID, "frame": _is_number, "objects": _is_list_of_drawn},
        {"complete": _is_bool, "seconds": _is_between(0, 86_400), "key": _is_text(0, 64)},
    ),
    "skip": ({**ID, "frame": _is_number}, {}),
    "forget": ({**ID, "frame": _is_number}, {}),
    "pin": ({**ID, "frame": _is_number, "pinned": _is_bool}, {}),
    "undo": (ID, {"label": lambda value: value is None or _is_number(value)}),
    "rename": ({**ID, "name": NAME, "to": NAME}, {}),
    "merge": ({**ID, "name": NAME, "into": NAME}, {}),
    "pause": (ID, {}),
    "resume": (ID, {}),
    "checkpoint": (ID, {}),
    "export": ({**ID, "format": lambda value: value in ("onnx", "torchscript", "safetensors")}, {}),
    "shown": ({"picture": _is_number}, {}),
}
"""Kind of message -> what it must have, and what it may have."""
