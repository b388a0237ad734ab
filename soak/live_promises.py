"""What `leocod live` promises of its journal and its state, looked at from outside, without its own code."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from live_page import Sent

Entry = Mapping[str, Any]

MOST_LISTED = 20


@dataclass
class Told:
    """What a journal says."""

    entries: list[Entry]
    labels: dict[int, Entry] = field(default_factory=dict)
    """By number; without those that were taken back or forgotten."""
    classes: list[str | None] = field(default_factory=list)
    """None: merged into another."""
    pinned: set[int] = field(default_factory=set)
    steps: int = 0

    def __post_init__(self) -> None:
        for entry in self.entries:
            match entry["kind"]:
                case "begin":
                    self.classes = list(entry["classes"])
                case "label":
                    self.classes += entry["new_classes"]
                    self.labels[entry["label"]] = entry
                case "undo":
                    self.labels.pop(entry["label"])
                case "rename":
                    self.classes[entry["class"]] = entry["name"]
                case "merge":
                    self.classes[entry["class"]] = None
                case "pin":
                    (self.pinned.add if entry["pinned"] else self.pinned.discard)(entry["frame"])
                case "forget":
                    self.pinned.discard(entry["frame"])
                    self.labels = {key: one for key, one in self.labels.items() if one["frame"] != entry["frame"]}
                case "step":
                    self.steps += 1

    def of(self, kind: str) -> list[Entry]:
        """The entries of a kind."""
        return [entry for entry in self.entries if entry["kind"] == kind]


def read_journal(file: Path) -> Told:
    """All whole lines."""
    content = file.read_bytes() if file.exists() else b""
    return Told([json.loads(line) for line in content[: content.rfind(b"\n") + 1].splitlines()])


def check_journal(told: Told, sent: Sequence[Sent]) -> list[str]:
    """What is not as a page was told."""
    return [*_check_labels(told, sent), *_check_corrections(told, sent), *_check_steps(told)]


def _check_labels(told: Told, sent: Sequence[Sent]) -> list[str]:
    given = told.of("label")
    by_number = {entry["label"]: entry for entry in given}
    by_key = {entry["key"]: entry for entry in given}
    wrong = [f"label {number} twice" for number, count in Counter(e["label"] for e in given).items() if count > 1]
    wrong += [f"key {key} twice" for key, count in Counter(e["key"] for e in given).items() if count > 1]
    labels = [one for one in sent if one.command["type"] == "label"]
    for one in labels:
        if one.taken and one.answer is not None:
            entry = by_number.get(one.answer["label"])
            if entry is None:
                wrong.append(f"label {one.answer['label']} was acknowledged and is not there")
            elif (entry["frame"], entry["key"]) != (one.command["frame"], one.command["key"]):
                wrong.append(f"label {one.answer['label']} is another one")
            elif len(entry["boxes"]) != len(one.command["objects"]) or entry["complete"] != one.command["complete"]:
                wrong.append(f"label {one.answer['label']} has changed")
    known = {one.command["key"] for one in labels}
    wrong += [f"label {entry['label']}: nobody has given it" for key, entry in by_key.items() if key not in known]
    return wrong


def _check_corrections(told: Told, sent: Sequence[Sent]) -> list[str]:
    """As many as were acknowledged, and no more than were sent; each label taken back at somebody's wish."""
    wrong = []
    for kind in ("undo", "rename", "merge", "pin", "forget"):
        asked = [one for one in sent if one.command["type"] == kind and (one.taken or one.answer is None)]
        there, least = len(told.of(kind)), sum(one.taken for one in asked)
        if not least <= there <= len(asked):
            wrong.append(f"{there} entries '{kind}': {least} were acknowledged, {len(asked)} sent and not refused")
    asked = [one.command.get("label") for one in sent if one.command["type"] == "undo"]
    undone = [entry["label"] for entry in told.of("undo")]
    if not any(number is None for number in asked):
        wrong += [f"label {number} was taken back, and nobody asked for it" for number in undone if number not in asked]
    gone = {one.command.get("label") for one in sent if one.taken and one.command["type"] == "undo"}
    wrong += [f"label {number} was taken back and is there" for number in gone & told.labels.keys()]
    forgotten = {one.command["frame"] for one in sent if one.taken and one.command["type"] == "forget"}
    wrong += [f"label {number} was forgotten" for number, one in told.labels.items() if one["frame"] in forgotten]
    return wrong


def _check_steps(told: Told) -> list[str]:
    steps = told.of("step")
    wrong = [] if [entry["step"] for entry in steps] == list(range(len(steps))) else ["steps are not in order"]
    not_learnt = {entry["step"] for entry in told.of("not_learnt")}
    learnt = Counter(number for entry in steps if entry["step"] not in not_learnt for number in entry["labels"])
    wrong += [f"label {number} was learnt {count} times" for number, count in learnt.items() if count > 1]
    frames = Counter(frame for entry in steps for frame in (*entry["frames"], *entry["asked"]))
    return wrong + [f"frame {frame} arrived {count} times" for frame, count in frames.items() if count > 1]


def check_state(state: Mapping[str, Any], told: Told) -> list[str]:
    """What the state of a run that was started again does not say as its journal does."""
    expected = {
        "number of labels": (state["counters"]["labels"], len(told.labels)),
        "newest labels": (
            [one["label"] for one in state["labels"]],
            list(told.labels)[: -MOST_LISTED - 1 : -1],
        ),
        "classes": ([one["name"] for one in state["classes"]], [name for name in told.classes if name is not None]),
        "pinned": (
            {one["frame"] for one in state["memory"] if one["pinned"]},
            told.pinned & {one["frame"] for one in state["memory"]},
        ),
    }
    return [f"{what}: {is_now} and not {was}" for what, (is_now, was) in expected.items() if is_now != was]


def check_frames(run: Path, told: Told) -> list[str]:
    """Labelled frames that are not on the disk."""
    frames = {entry["frame"] for entry in told.labels.values()}
    return [f"frame {frame} is labelled and gone" for frame in frames if not (run / "frames" / f"{frame}.jpg").exists()]
