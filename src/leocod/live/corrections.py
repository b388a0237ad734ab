"""What a person takes back or changes later: labels, class names, frames of the memory. By one thread only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leocod.errors import InvalidData
from leocod.live.book import GivenLabel, check_name
from leocod.live.journal import Entry
from leocod.live.session import LiveSession
from leocod.text import pluralize


class Corrections:
    """Corrects a live run. Every correction is in the journal before it is made."""

    def __init__(self, session: LiveSession) -> None:
        self.session = session

    def undo(self, number: int | None = None) -> str:
        """Take back a label, the last one unless a number says which. Returns what was done, for a person."""
        label = self._find_label(number)
        first = label.first_tried
        state = None if first is None else self.session.learning.checkpoints.read_newest(before=first)
        entry = {
            "kind": "undo",
            "label": label.number,
            "frame": label.frame,
            "step": first,
            "goes_back": state is not None,
            "ask_again": self.session.store.has(label.frame),
        }
        self.session.history.note(entry)
        if state is not None and first is not None:
            self.session.learning.checkpoints.remove_from(first)
            self.session.history.go_back()
        else:
            self.session.learning.perform(entry)
        self.session.publish()
        frame = self.session.learning.load_frame(label.frame) if entry["ask_again"] else None
        self.session.propose([] if frame is None else [frame])
        return self._say_what_was_done(label, state)

    def _say_what_was_done(self, label: GivenLabel, state: Mapping[str, Any] | None) -> str:
        if label.step is None:
            return f"Label {label.number} is taken back. Nothing had been learnt from it."
        if state is None:
            return (
                f"Label {label.number} is out of the memory and of the list, but the detector stays as it is: it has "
                f"learnt from it at step {label.step + 1}, and no state from before that step is kept any more."
            )
        steps = self.session.learning.step - int(state["step"])
        return f"Label {label.number} is taken back. The detector learnt {pluralize(steps, 'step')} again without it."

    def _find_label(self, number: int | None) -> GivenLabel:
        with self.session.lock:
            if number is None:
                number = max(self.session.book.labels, default=None)
            if number is None or number not in self.session.book.labels:
                raise InvalidData("There is no such label to take back.")
            return self.session.book.labels[number]

    def rename(self, name: str, to: str) -> None:
        """Give a class another name."""
        with self.session.lock:
            number, new = self._find_class(name), check_name(to)
            if self.session.book.find_class(new) is not None:
                raise InvalidData(f"There is a class '{new}' already. To make one class of both, merge them.")
            self.session.history.note({"kind": "rename", "class": number, "name": new})
        self._update_names()

    def merge(self, name: str, into: str) -> None:
        """Let a class be part of another."""
        with self.session.lock:
            number, other = self._find_class(name), self._find_class(into)
            if number == other:
                raise InvalidData(f"'{name}' cannot be merged into itself.")
            entry = {"kind": "merge", "class": number, "into": other}
            self.session.history.note(entry)
        self.session.learning.extend_classes()
        self.session.learning.perform(entry)
        self._update_names()

    def _update_names(self) -> None:
        self.session.learning.extend_classes()
        self.session.publish()

    def _find_class(self, name: str) -> int:
        number = self.session.book.find_class(name)
        if number is None:
            raise InvalidData(f"There is no class '{name}'.")
        return number

    def pin(self, frame: int, *, pinned: bool) -> None:
        """Let a frame of the memory stay, or let it go when its turn comes."""
        self._perform_on_memory({"kind": "pin", "frame": self._find_remembered(frame), "pinned": pinned})

    def forget(self, frame: int) -> None:
        """Take a frame out of the memory, with its labels; at the next checkpoint it is off the disk."""
        self._perform_on_memory({"kind": "forget", "frame": self._find_remembered(frame)})
        self.session.has_forgotten = True

    def _perform_on_memory(self, entry: Entry) -> None:
        self.session.history.note(entry)
        self.session.learning.perform(entry)
        self.session.publish()

    def _find_remembered(self, frame: int) -> int:
        known = {frame.id for frame, _ in self.session.learning.learner.remembered_frames()}
        with self.session.lock:
            known |= {label.frame for label in self.session.book.labels.values()}
        if frame not in known:
            raise InvalidData(f"Frame {frame} is not remembered.")
        return frame
