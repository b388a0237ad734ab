"""The live picture: the newest frame with what the deployed detector finds in it, made in a thread of its own."""

from __future__ import annotations

import io
import json
import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any

import numpy as np
from PIL import Image as PillowImage

from leocod.live.sources.base import Captured
from leocod.types import Detections, Image

logger = logging.getLogger(__name__)

WIDEST = 960
"""Pixels of the picture that is sent: more would only cost time."""
QUALITY = 80
SHOWN_FROM = 0.5
"""Score from which a box is shown."""
IDLE = 0.5
"""Seconds between two pictures that nobody looks at: they tell when a class was seen last."""


@dataclass(frozen=True)
class LivePicture:
    """A picture as it is sent: the length of the header, the header, a JPEG file."""

    number: int
    message: bytes
    captured: float


class Pictures:
    """Detects in the newest frame, again and again. A viewer is never sent an older picture than there is."""

    def __init__(
        self,
        newest: Callable[[], Captured | None],
        detect: Callable[[Image], Detections],
        name: Callable[[int], str],
        seen: Callable[[set[int]], None],
    ) -> None:
        """`newest`: the newest frame; `name`: of a class; `seen` is told which classes are in the picture."""
        self._newest = newest
        self._detect = detect
        self._name = name
        self._seen = seen
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="leocod-pictures", daemon=True)
        self.current: LivePicture | None = None
        self.viewers = 0
        self.lags: deque[float] = deque(maxlen=300)
        """Seconds from the capture to the finished picture, of those that somebody looked at."""
        self.listeners: set[Callable[[], None]] = set()
        """Called when there is a new picture."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End soon."""
        self._stopped.set()
        self._thread.join(5)

    def _run(self) -> None:
        last: Captured | None = None
        while not self._stopped.is_set():
            captured = self._newest()
            if captured is None or captured is last:
                self._stopped.wait(0.01)
                continue
            last = captured
            try:
                self._show(captured)
            # A picture that fails must not end all later ones.
            except Exception:
                logger.exception("A live picture could not be made.")
                self._stopped.wait(1)
            if not self.viewers:
                self._stopped.wait(IDLE)

    def _show(self, captured: Captured) -> None:
        found = self._detect(captured.image).above(SHOWN_FROM)
        self._seen({int(number) for number in found.classes})
        if not self.viewers:
            return
        number = self.current.number + 1 if self.current else 1
        lag = max(0.0, time.time() - captured.captured)
        header: dict[str, Any] = {
            "picture": number,
            "size": list(captured.image.shape[:2]),
            "captured": captured.captured,
            "lag": round(lag, 3),
            "boxes": np.round(found.boxes.astype(float), 1).tolist(),
            "names": [self._name(int(one)) for one in found.classes],
            "scores": np.round(found.scores.astype(float), 3).tolist(),
        }
        text = json.dumps(header, separators=(",", ":")).encode()
        message = len(text).to_bytes(4, "big") + text + encode_jpeg(captured.image)
        self.lags.append(max(0.0, time.time() - captured.captured))
        self.current = LivePicture(number, message, captured.captured)
        for listener in list(self.listeners):
            listener()


def encode_jpeg(image: Image) -> bytes:
    """A JPEG file for a page, not wider than needed."""
    picture = PillowImage.fromarray(image)
    if picture.width > WIDEST:
        picture = picture.resize((WIDEST, max(1, round(picture.height * WIDEST / picture.width))))
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=QUALITY)
    return file.getvalue()
