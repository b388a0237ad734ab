"""What has happened in a live run: noted in the journal, believed by the book, performed by the learner, also again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from threading import RLock

from leocod.learner import Learned
from leocod.live.book import Book
from leocod.live.journal import Entry, Journal
from leocod.live.learning import PERFORMED, LiveLearner
from leocod.text import pluralize
from leocod.types import Frame


class History:
    """Keeps journal, book and learner in step, and can go back and do it again."""

    def __init__(
        self, journal: Journal, book: Book, learning: LiveLearner, lock: RLock, tell: Callable[[str, str], None]
    ) -> None:
        self.journal = journal
        self.book = book
        self.learning = learning
        self.lock = lock
        self.tell = tell
        self.performed: list[tuple[int, Entry]] = []
        """Entries that changed the learner since the oldest checkpoint, with their positions."""

    def read(self) -> Iterator[tuple[int, Entry]]:
        """Believe what the journal says, and pass on every entry with its position."""
        for number, entry in enumerate(self.journal.read()):
            try:
                self.book.apply(entry)
            except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
                raise self.journal.make_error(number, f"'{entry['kind']}' does not fit here ({error!r})") from error
            if number >= self.learning.checkpoints.oldest_position:
                self._follow(number, entry)
            yield number, entry

    def go_back(self) -> bool:
        """Load the newest checkpoint, and learn again what came after it. False: there is none."""
        while (state := self.learning.checkpoints.read_newest(before=math.inf)) is not None:
            count = len(self.performed)
            try:
                self.repeat(self.learning.load(state))
                return True
            except Exception as error:
                # Without the step that has failed.
                if len(self.performed) == count:
                    raise
                self.tell("error", f"A step could not be learnt again, and its labels wait: {error}")
        return False

    def repeat(self, position: int) -> None:
        """Perform the journal again from a position on."""
        again = [entry for number, entry in self.performed if number >= position]
        for count, entry in enumerate(again, 1):
            self.perform(entry)
            if count % 10 == 0:
                self.tell("info", f"Learning again: {count} of {pluralize(len(again), 'step')}.")
        self.learning.extend_classes()

    def note(self, entry: Entry) -> None:
        """Write an entry to the journal, and then believe it."""
        with self.lock:
            position = self.journal.write(entry)
            self.book.apply(entry)
            self._follow(position, entry)

    def _follow(self, position: int, entry: Entry) -> None:
        """Keep what is to be performed again."""
        if entry["kind"] in PERFORMED:
            self.performed.append((position, entry))
        elif entry["kind"] == "not_learnt" and entry["failed"]:
            # It would fail again.
            failed = ("step", entry["step"])
            self.performed = [pair for pair in self.performed if (pair[1]["kind"], pair[1].get("step")) != failed]

    def perform(self, entry: Entry, frames: Mapping[int, Frame] | None = None) -> Learned | None:
        """Do what an entry says. The labels of a step that is not learnt wait for another one."""
        try:
            learned = self.learning.perform(entry, frames)
        except Exception:
            self._let_wait(entry, failed=True)
            raise
        if learned is not None and learned.refused:
            self._let_wait(entry, failed=False)
        return learned

    def _let_wait(self, entry: Entry, *, failed: bool) -> None:
        """`failed`: it ended in an error, and is not performed again. A step that was refused is."""
        if entry["kind"] != "step":
            return
        with self.lock:
            labels = self.book.list_of_step(entry["step"])
            if labels or failed:
                self.note({"kind": "not_learnt", "step": entry["step"], "failed": failed})
        for label in labels:
            if label.state == "not learnt":
                self.tell("error", f"Label {label.number} cannot be learnt, and is not tried again. Take it back.")

    def forget_oldest(self) -> set[int]:
        """Leave out what no checkpoint needs any more. Returns the frames that the others need."""
        oldest = self.learning.checkpoints.oldest_position
        self.performed = [pair for pair in self.performed if pair[0] >= oldest]
        return {frame for _, entry in self.performed for key in ("frames", "asked") for frame in entry.get(key, ())}
