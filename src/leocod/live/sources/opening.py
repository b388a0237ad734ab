"""From what a person writes to an open source."""

from __future__ import annotations

import math
from pathlib import Path
from threading import Event

from leocod.benchmarks.wander import WanderOptions
from leocod.errors import InvalidConfig, InvalidData
from leocod.files.addresses import is_address, is_camera
from leocod.files.paths import NO_FILE, NOT_A_FILE, explain_absence
from leocod.live.sources.address import open_address
from leocod.live.sources.base import Source
from leocod.live.sources.camera import open_camera
from leocod.live.sources.clock import REAL, Clock
from leocod.live.sources.folder import FolderSource
from leocod.live.sources.video_file import VideoFileSource
from leocod.live.sources.world import WorldSource
from leocod.text import one_line

WORLD = "world"
FILMED = WanderOptions(width=256, height=192, speed=0.1)
"""The world for a person to look at: large enough, and not hectic."""
FASTEST = 1000
"""Frames a second."""


def open_source(
    text: str,
    *,
    fps: float | None = None,
    seed: int = 0,
    loop: bool = False,
    clock: Clock = REAL,
    stopped: Event | None = None,
) -> Source:
    """Open `world`, a camera by number or device, an address, a folder or a video file.

    `fps`: frames a second; None: the source's own pace, or 10. Cameras and addresses keep their pace, but hand out no
    more than that. `seed` draws the world. `loop`: files and folders begin again at their end. A file called `0` or
    `world` is meant by `./0`. `stopped` ends opening and reading. Cameras and addresses need the real clock.
    """
    if fps is not None and not (math.isfinite(fps) and 0 < fps <= FASTEST):
        raise InvalidConfig(f"fps is {fps}: it should be more than 0 and at most {FASTEST}.")
    stopped = stopped or Event()
    if text == WORLD:
        return WorldSource(FILMED, seed=seed, fps=fps, clock=clock, stopped=stopped)
    if is_camera(text):
        return open_camera(text, fps=fps, stopped=stopped)
    if is_address(text):
        return open_address(text, fps=fps, loop=loop, stopped=stopped)
    path = Path(text)
    absence = explain_absence(path)
    if absence == NOT_A_FILE and path.is_dir():
        return FolderSource(path, fps=fps, loop=loop, clock=clock, stopped=stopped)
    if absence == NO_FILE:
        kinds = "a video file, a folder, a camera such as 0, an address such as rtsp://host/stream, or `world`"
        raise InvalidData(f"{one_line(text)}: no such file or folder. A source is {kinds}.")
    return VideoFileSource(path, fps=fps, loop=loop, clock=clock, stopped=stopped)
