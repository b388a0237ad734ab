"""A folder of pictures as a camera: they come in the order of their names."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from threading import Event

from leocod.errors import InvalidData, InvalidFrame
from leocod.files.images import Image, read_pixels
from leocod.live.sources.base import Captured, Pace, Source
from leocod.live.sources.clock import Clock
from leocod.readers.frame_sources import FolderFrames
from leocod.text import one_line, pluralize

logger = logging.getLogger(__name__)

USUAL_RATE = 10.0
"""Pictures a second, unless somebody says another number."""


class FolderSource(Source):
    """The pictures of a folder and of those in it, upright, once or again and again. They may have several sizes.

    A damaged picture is left out, with a warning.
    """

    def __init__(self, path: Path, *, fps: float | None, loop: bool, clock: Clock, stopped: Event) -> None:
        super().__init__(clock, stopped)
        self.path = path
        self.endless = loop
        self._fps = fps or USUAL_RATE
        self._frames = FolderFrames(path)

    def describe(self) -> str:
        again = ", again and again" if self.endless else ""
        pictures = pluralize(len(self._frames), "picture")
        return f"{one_line(self.path)}, {pictures} at {self._fps:.3g} a second{again}"

    def __iter__(self) -> Iterator[Captured]:
        pace = Pace(self.clock, self.stopped)
        number = 0
        while True:
            before = number
            for position in range(len(self._frames)):
                image = self._read(position)
                if image is None:
                    continue
                if not pace.wait_until(number / self._fps):
                    return
                yield self.capture(image, number)
                number += 1
            if number == before:
                raise InvalidData(f"{one_line(self.path)} has no picture that can be read.")
            if not self.endless:
                return

    def _read(self, position: int) -> Image | None:
        try:
            if refusal := self._frames.explain_refusal(position):
                raise InvalidFrame(refusal)
            return read_pixels(self._frames.get_path(position), upright=True)
        except InvalidFrame as error:
            logger.warning("Left out: %s", error)
            return None
