"""A camera of this machine, by its number or device.

On Linux, through Video4Linux. macOS (AVFoundation) and Windows (DirectShow) are written by the book and untested.
"""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Event

from leocod.errors import InvalidConfig, SourceAway
from leocod.live.sources.decoder import Feed
from leocod.live.sources.remote import RemoteSource

DEVICES = Path("/dev")


def open_camera(text: str, *, fps: float | None, stopped: Event) -> RemoteSource:
    """Open a camera. `fps`: frames a second at most; the camera itself runs as it is set."""
    title = f"camera {text}"
    return RemoteSource(make_feed(text, title, fps, sys.platform), title, stopped=stopped)


def make_feed(text: str, title: str, fps: float | None, platform: str) -> Feed:
    """Say what FFmpeg has to open on a platform."""
    if platform.startswith("linux"):
        device = Path(text) if text.startswith("/") else DEVICES / f"video{text}"
        if not device.exists():
            here = ", ".join(sorted(str(one) for one in DEVICES.glob("video*"))) or "none"
            raise SourceAway(f"{title}: there is no such camera. Is it plugged in? Cameras here: {here}.")
        return Feed(str(device), "v4l2", fps=fps)
    if not text.isdecimal():
        raise InvalidConfig(f"{title}: on this system cameras have numbers. Use 0 for the first one.")
    if platform == "darwin":
        # AVFoundation's own default of 29.97 frames a second is refused by most cameras.
        return Feed(f"{text}:none", "avfoundation", {"framerate": "30"}, fps=fps)
    if platform == "win32":
        return Feed(f"video={_find_windows_name(int(text), title)}", "dshow", fps=fps)
    raise InvalidConfig(f"{title}: cameras are not read on this system. Use the address of a stream, or a file.")


def _find_windows_name(number: int, title: str) -> str:
    """Find the name of a camera; DirectShow knows no numbers."""
    try:
        from av.device import enumerate_input_devices
    except ImportError as error:
        raise SourceAway(f"{title}: this PyAV cannot list cameras. Install a newer one: pip install -U av.") from error
    names = [one.name for one in enumerate_input_devices("dshow") if "video" in one.media_types]
    if number >= len(names):
        raise SourceAway(f"{title}: there is no such camera. Is it plugged in? Cameras here: {len(names)}.")
    return names[number]
