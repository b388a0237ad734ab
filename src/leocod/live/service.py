"""Grabbing, detecting and learning side by side: none waits for another, and every queue is bounded."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from itertools import pairwise
from pathlib import Path
from threading import Condition, Event, Lock, Thread
from typing import Any, Literal, TypeVar

from leocod.errors import LeocodError
from leocod.live.grabber import Grabber
from leocod.live.pictures import Pictures
from leocod.live.session import LiveSession
from leocod.live.sources.base import Captured, Source
from leocod.types import Detections, Image

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")
Level = Literal["info", "warning", "error"]

MOST_MESSAGES = 50
FAR_LONGER = 10
"""Times the mean of the other gaps of a step."""

MOST_COMMANDS = 32
"""Commands that wait for the learner, at most."""


class Messages:
    """What a person should know, newest last."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._messages: deque[dict[str, Any]] = deque(maxlen=MOST_MESSAGES)

    def add(self, level: str, text: str) -> None:
        """Add a message. The same one again only changes its time."""
        with self._lock:
            if self._messages and self._messages[-1]["text"] == text:
                self._messages.pop()
            self._messages.append({"time": time.time(), "level": level, "text": text})

    def list(self) -> list[dict[str, Any]]:
        """All of them."""
        with self._lock:
            return list(self._messages)


def measure_seconds(captured: Sequence[float]) -> float:
    """How long a step is, from its first frame to the first one of the next, as far as that is known.

    A gap far longer than the others is a pause, or a camera that was away: no time in which frames could be labelled.

    >>> measure_seconds([0.0, 0.5, 1.0, 3600.0, 3600.5])
    2.5
    """
    *others, longest = sorted(after - before for before, after in pairwise(captured)) or [0.0]
    usual = sum(others) / len(others) if others else longest
    seconds = sum(others) + (usual if longest > FAR_LONGER * usual > 0 else longest)
    return max(seconds, 0.0) * len(captured) / (len(others) + 1)


class LiveService:
    """Runs a session: frames become steps, steps are learnt, commands are done in between, pictures are shown."""

    def __init__(self, session: LiveSession, open_source: Callable[[Event], Source], messages: Messages) -> None:
        self.session = session
        self.messages = messages
        self.paused = False
        self.activity: str | None = None
        """What the learner is busy with, when it is no step."""
        self.steps_seen = 0
        self.exports: list[Path] = []
        self.source_name = ""
        self._ended = False
        self._changed = Condition()
        self._stopping = False
        self._step: list[Captured] = []
        """Frames of the step that is being filled."""
        self._waiting: deque[list[Captured]] = deque()
        self._commands: deque[tuple[Callable[[], Any], Future[Any], str | None]] = deque()
        self.grabber = Grabber(open_source, self._offer)
        self.pictures = Pictures(lambda: self.grabber.newest, self._detect, self._name, self._note_seen)
        self._learner = Thread(target=self._run, name="leocod-learner", daemon=True)

    def start(self) -> None:
        """Open the source and begin. A source that cannot be opened is an error here and now."""
        self.source_name = self.grabber.start().describe()
        self.pictures.start()
        self._learner.start()

    def stop(self) -> None:
        """Stop grabbing, finish the step that is being learnt, save."""
        self.grabber.stop()
        self.pictures.stop()
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._learner.join()
        self.session.close()

    @property
    def steps_waiting(self) -> int:
        """Steps that are complete and not learnt yet."""
        return len(self._waiting)

    @property
    def status(self) -> str:
        """In a word."""
        if self.activity:
            return "busy"
        over = self.grabber.state.status == "ended" and not self._waiting
        return "paused" if self.paused else "ended" if over else "learning"

    # -- frames become steps

    def _offer(self, captured: Captured) -> bool:
        """Take a frame if there is room for it. Never waits."""
        with self._changed:
            if self.paused:
                return True
            if len(self._waiting) >= self.session.options.steps_waiting:
                return False
            self._step.append(captured)
            if len(self._step) >= self.session.options.frames_per_step:
                self._waiting.append(self._step)
                self._step = []
                self.steps_seen += 1
                self._changed.notify_all()
            return True

    # -- the learner's thread

    def submit(self, command: Callable[[], Answer], activity: str | None = None) -> Future[Answer]:
        """Let the learner's thread do something before its next step."""
        future: Future[Answer] = Future()
        with self._changed:
            if self._stopping or len(self._commands) >= MOST_COMMANDS:
                future.set_exception(LeocodError("leocod is too busy for this now. Try it again in a moment."))
                return future
            self._commands.append((command, future, activity))
            self._changed.notify_all()
        return future

    def pause(self, paused: bool) -> None:
        """Learn nothing for a while, or go on. The picture stays live."""
        with self._changed:
            self.paused = paused
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopping or self._commands or (self._waiting and not self.paused))
                if self._commands:
                    task: Any = self._commands.popleft()
                elif self._stopping:
                    return
                else:
                    task = self._waiting.popleft()
            if isinstance(task, list):
                self._learn(task)
            else:
                self._do(*task)

    def _learn(self, frames: list[Captured]) -> None:
        seconds = measure_seconds([frame.captured for frame in frames])
        try:
            self.session.take_step([frame.image for frame in frames], seconds)
        except LeocodError as error:
            self.messages.add("error", f"A step was not learnt: {error}")
        except OSError as error:
            logger.exception("A step could not be kept.")
            why = error.strerror or type(error).__name__
            self.messages.add(
                "error", f"A step could not be kept on the disk: {why}. Labels that were taken are there."
            )
        # One step that fails, such as by a full disk, must not end the stream.
        except Exception as error:
            logger.exception("A step could not be learnt.")
            self.messages.add("error", f"A step was not learnt ({type(error).__name__}); the log says more.")

    def _do(self, command: Callable[[], Any], future: Future[Any], activity: str | None) -> None:
        # Nobody waits for it any more.
        if not future.set_running_or_notify_cancel():
            return
        self.activity = activity
        try:
            answer = command()
        # The one who asked gets it, whatever it is.
        except Exception as error:
            self.activity = None
            future.set_exception(error)
        else:
            # Before it is answered: who has the answer finds the learner free.
            self.activity = None
            future.set_result(answer)

    # -- what pictures need

    def _detect(self, image: Image) -> Detections:
        return self.session.deployed.predict([image])[0]

    def _name(self, number: int) -> str:
        return self.session.book.name(number)

    def _note_seen(self, classes: set[int]) -> None:
        now = time.time()
        self.session.last_seen |= {self.session.book.resolve(number): now for number in classes}
