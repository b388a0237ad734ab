"""A camera with trouble, for as long as a file says so: the built-in walk, seen through it."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from leocod.benchmarks.wander import Wander, WanderOptions
from leocod.errors import SourceAway, SourceEnded
from leocod.types import LabelledFrame


class ShakyOptions(WanderOptions):
    """Options of a walk with trouble."""

    trouble: Path
    """A JSON file, read at every step from which on there is trouble: {"kind": "away", "step": 5}. Kinds are away,
    stall (for `seconds`), end, lie, which is about the size of the frames, and ask, which is by SIGTERM to stop. None
    there: no trouble."""

    resized_from: int | None = None
    """The step from which on frames are half as wide and high again."""


class Shaky(Wander):
    """A walk whose frames do not always come.

    Beside the config, so that the cause of a trouble can be removed and the run go on.
    """

    Options: type[WanderOptions] = ShakyOptions
    options: ShakyOptions
    name = "shaky"

    def __init__(self, options: ShakyOptions, *, seed: int) -> None:
        super().__init__(options, seed=seed)
        self._larger: Wander | None = None
        if options.resized_from is not None:
            plain = WanderOptions.model_validate(options.model_dump(include=set(WanderOptions.model_fields)))
            size = {"width": options.width * 3 // 2, "height": options.height * 3 // 2}
            self._larger = Wander(plain.model_copy(update=size), seed=seed)

    def frames_of(self, step: int) -> Sequence[LabelledFrame]:
        trouble = self._trouble(step)
        if trouble.get("kind") == "away":
            raise SourceAway("the camera does not answer. Plug it in.")
        if trouble.get("kind") == "end":
            raise SourceEnded(f"The camera was switched off before step {step}.")
        if trouble.get("kind") == "stall":
            time.sleep(trouble["seconds"])
        if trouble.get("kind") == "ask":
            os.kill(os.getpid(), signal.SIGTERM)
        source = self._larger if self._larger is not None and step >= (self.options.resized_from or 0) else None
        pairs = super().frames_of(step) if source is None else source.frames_of(step)
        if trouble.get("kind") == "lie":
            return [(replace(frame, size=(frame.size[0] + 1, frame.size[1])), labels) for frame, labels in pairs]
        return pairs

    def _trouble(self, step: int) -> dict[str, Any]:
        try:
            trouble: dict[str, Any] = json.loads(self.options.trouble.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        return trouble if step >= trouble["step"] else {}
