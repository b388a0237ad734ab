"""What a live run knows of classes, labels and requests: all of it follows from the journal, entry by entry."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from leocod.errors import InvalidLabels
from leocod.live.journal import Entry
from leocod.text import one_line

WORKED_ON = 4
"""The oldest requests, which the person may be working on: these do not give way to new ones."""

MOST_TOGETHER = 16
"""Times that a label may be refused beside others: float16 halves its scale about so often before its first step.
Then the label is tried once more by itself."""

LabelState = Literal["waiting", "learnt", "not learnt", "kept aside"]


@dataclass
class NamedClass:
    """A class of the list. Its place in the list is its number for ever; its name may change."""

    name: str
    from_start: bool
    merged_into: int | None = None
    """Number of the class that it is now part of."""


@dataclass
class GivenLabel:
    """What a person said of one frame."""

    number: int
    frame: int
    boxes: tuple[tuple[float, float, float, float], ...]
    classes: tuple[int, ...]
    complete: bool
    """Whether every object is labelled. If not, the rest of the frame is not taught as background."""
    seconds: float
    time: float
    kept_aside: bool
    step: int | None = None
    """The step that it was learnt with; None: it waits, is kept aside, or cannot be learnt."""
    first_tried: int | None = None
    """The first step with it, learnt or not."""
    refusals: int = 0
    """Steps with it that the learner refused."""

    @property
    def state(self) -> LabelState:
        """Where it is on its way."""
        if self.kept_aside:
            return "kept aside"
        if self.step is not None:
            return "learnt"
        return "waiting" if self.refusals <= MOST_TOGETHER else "not learnt"


@dataclass
class Book:
    """Classes, labels and requests as they are by now."""

    most_requests: int
    classes: list[NamedClass] = field(default_factory=list)
    labels: dict[int, GivenLabel] = field(default_factory=dict)
    """By number, oldest first; without those that were taken back."""
    requests: dict[int, int] = field(default_factory=dict)
    """Frame that wants a label -> the step that it arrived with; oldest first."""
    pinned: set[int] = field(default_factory=set)
    keys: dict[str, int] = field(default_factory=dict)
    """What a page called a label -> its number: a page that has heard no answer sends a label again."""
    steps: int = 0
    """Steps that were learnt, or are being learnt."""
    next_frame: int = 0
    next_label: int = 1
    given: int = 0
    """Labels ever given, also those that were taken back."""
    seconds: float = 0.0
    """Of a person's time, all labels together."""

    def apply(self, entry: Entry) -> None:
        """Take in an entry of the journal."""
        getattr(self, f"_apply_{entry['kind']}")(entry)

    def _apply_begin(self, entry: Entry) -> None:
        known = entry["from_start"]
        self.classes = [NamedClass(name, number < known) for number, name in enumerate(entry["classes"])]

    def _apply_label(self, entry: Entry) -> None:
        self.classes += [NamedClass(name, from_start=False) for name in entry["new_classes"]]
        label = GivenLabel(
            entry["label"],
            entry["frame"],
            tuple(tuple(box) for box in entry["boxes"]),
            tuple(entry["classes"]),
            entry["complete"],
            entry["seconds"],
            entry["time"],
            entry["kept_aside"],
        )
        self.labels[label.number] = label
        self.requests.pop(label.frame, None)
        self.next_label = label.number + 1
        self.given += 1
        self.seconds += label.seconds
        if entry["key"]:
            self.keys[entry["key"]] = label.number

    def _apply_skip(self, entry: Entry) -> None:
        self.requests.pop(entry["frame"], None)

    def _apply_step(self, entry: Entry) -> None:
        self.steps = entry["step"] + 1
        self.next_frame = max(self.next_frame, entry["next_frame"])
        for number in entry["labels"]:
            if label := self.labels.get(number):
                label.step = entry["step"]
                label.first_tried = label.step if label.first_tried is None else label.first_tried
        self.requests |= dict.fromkeys(entry["asked"], entry["step"])
        self._limit_requests()

    def _apply_not_learnt(self, entry: Entry) -> None:
        """Its labels wait again."""
        for label in self.list_of_step(entry["step"]):
            label.step = None
            # What has failed for another reason, such as a lack of memory, is not the label's fault.
            label.refusals += not entry["failed"]

    def _limit_requests(self) -> None:
        """Let those go that are too many, but not the first few, which the person may be working on."""
        while len(self.requests) > self.most_requests:
            del self.requests[list(self.requests)[min(WORKED_ON, self.most_requests // 2)]]

    def _apply_undo(self, entry: Entry) -> None:
        label = self.labels.pop(entry["label"])
        if entry["ask_again"]:
            step = self.steps if label.step is None else label.step
            self.requests = {label.frame: step, **self.requests}
            self._limit_requests()

    def _apply_rename(self, entry: Entry) -> None:
        self.classes[entry["class"]].name = entry["name"]

    def _apply_merge(self, entry: Entry) -> None:
        self.classes[entry["class"]].merged_into = entry["into"]

    def _apply_pin(self, entry: Entry) -> None:
        (self.pinned.add if entry["pinned"] else self.pinned.discard)(entry["frame"])

    def _apply_forget(self, entry: Entry) -> None:
        self.pinned.discard(entry["frame"])
        self.requests.pop(entry["frame"], None)
        self.labels = {number: label for number, label in self.labels.items() if label.frame != entry["frame"]}

    def resolve(self, number: int) -> int:
        """The class that a class is part of by now."""
        into = self.classes[number].merged_into
        return number if into is None else self.resolve(into)

    def find_class(self, name: str) -> int | None:
        """The number of the class of this name; None: there is none."""
        live = (number for number, known in enumerate(self.classes) if known.merged_into is None)
        return next((number for number in live if self.classes[number].name == name), None)

    def name(self, number: int) -> str:
        """The name of a class, or of the class that it is part of by now."""
        return self.classes[self.resolve(number)].name

    @property
    def detector_names(self) -> tuple[str, ...]:
        """A name for every output of the detector, each once, also for classes that are part of others."""
        given = {known.name for known in self.classes if known.merged_into is None}
        return tuple(
            known.name if known.merged_into is None else self._name_merged(number, given)
            for number, known in enumerate(self.classes)
        )

    def _name_merged(self, number: int, given: Collection[str]) -> str:
        name = f"{self.classes[number].name} (now {self.name(number)}, class {number})"
        # A person may have given this very name.
        while name in given:
            name += "'"
        return name

    def number_names(self, names: Sequence[str]) -> tuple[list[int], list[str]]:
        """The class numbers of names, and those names that are new, which get the next numbers."""
        new: list[str] = []
        numbers = []
        for name in names:
            number = self.find_class(name)
            if number is None:
                if name not in new:
                    new.append(name)
                number = len(self.classes) + new.index(name)
            numbers.append(number)
        return numbers, new

    def list_waiting(self) -> list[GivenLabel]:
        """The labels that no step has learnt yet, oldest first."""
        return [label for label in self.labels.values() if label.state == "waiting"]

    def list_next(self) -> list[GivenLabel]:
        """The labels of the next step: all that wait. One that was refused often comes alone: it may be at fault."""
        waiting = self.list_waiting()
        doubtful = [label for label in waiting if label.refusals >= MOST_TOGETHER]
        return doubtful[:1] or waiting

    def list_of_step(self, step: int) -> list[GivenLabel]:
        """The labels that were learnt with a step."""
        return [label for label in self.labels.values() if label.step == step]

    def list_kept_aside(self) -> list[GivenLabel]:
        """The labels that AP is measured on."""
        return [label for label in self.labels.values() if label.kept_aside]


def check_name(name: Any) -> str:
    """A class name that can be shown: trimmed, 1 to 64 characters, none of them a control character."""
    if not isinstance(name, str) or not (trimmed := " ".join(name.split())) or len(trimmed) > 64:
        raise InvalidLabels(f"A class name must have 1 to 64 characters, and {one_line(repr(name), 80)} has not.")
    if one_line(trimmed) != trimmed or not trimmed.isprintable():
        raise InvalidLabels(f"The class name {one_line(repr(name), 80)} has characters that cannot be shown.")
    return trimmed
