"""A video file as a camera: its frames come at the file's own pace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event

from leocod.errors import InvalidData
from leocod.files.videos import VideoFile
from leocod.live.sources.base import Captured, Pace, Source
from leocod.live.sources.clock import Clock
from leocod.text import one_line


class VideoFileSource(Source):
    """The frames of a file, once or again and again. They may have several sizes."""

    def __init__(self, path: Path, *, fps: float | None, loop: bool, clock: Clock, stopped: Event) -> None:
        super().__init__(clock, stopped)
        self.path = path
        self.endless = loop
        self._fps = fps
        self._video = VideoFile(path)
        first = next(iter(self._video), None)
        if first is None:
            raise InvalidData(f"{one_line(path)} has no frames that can be read.")
        self.height, self.width = first.image.shape[:2]

    def describe(self) -> str:
        rate = float(self._video.rate) if self._fps is None else self._fps
        again = ", again and again" if self.endless else ""
        return f"{one_line(self.path)} at {rate:.3g} frames a second{again}"

    def __iter__(self) -> Iterator[Captured]:
        pace = Pace(self.clock, self.stopped)
        number, start, due = 0, 0.0, 0.0
        while True:
            before = number
            for image, seconds in self._video:
                due = start + float(seconds) if self._fps is None else number / self._fps
                if not pace.wait_until(due):
                    return
                yield self.capture(image, number)
                number += 1
            if not self.endless:
                return
            if number == before:
                raise InvalidData(f"{one_line(self.path)} has no frames any more.")
            start = due + 1 / float(self._video.rate)
