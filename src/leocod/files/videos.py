"""Video files, read and written: frames are upright, each with the time at which it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import av
import numpy as np
from PIL import Image as PillowImage
from PIL import ImageOps

from leocod.errors import InvalidData
from leocod.files.images import LARGEST, Image
from leocod.files.paths import explain_absence
from leocod.text import one_line, pluralize

USUAL_RATE = Fraction(25)
"""Frames a second, where a file does not say."""

CONTAINERS = (
    "3g2", "3gp", "apng", "asf", "av1", "avi", "dv", "flv", "gif", "h264", "hevc", "ivf", "m4v", "matroska", "mj2",
    "mjpeg", "mov", "mp4", "mpeg", "mpegts", "mpegvideo", "mpjpeg", "mxf", "nut", "obu", "ogg", "webm", "wtv",
    "yuv4mpegpipe",
)  # fmt: skip
"""Containers that are read, whatever a file is called. FFmpeg has more, but a playlist would open other files."""

LIMITS = {"max_pixels": str(LARGEST)}
"""Options of a decoder: a frame of more pixels is an error before memory is allocated for it."""


class TimedImage(NamedTuple):
    """A frame of a video, and when it is shown."""

    image: Image
    seconds: Fraction
    """Time after the first frame."""


class VideoFile:
    """A video to be read once, frame by frame. What the header says is known at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with open_video(path) as container:
            stream = container.streams.video[0]
            self.frames: int | None = stream.frames or None
            """Number of frames that the file says it has, if it says."""
            self.rate = Fraction(stream.average_rate or USUAL_RATE)
            self.time_base = Fraction(stream.time_base or 1 / self.rate)
        self.damage: str | None = None
        """Why frames are missing after the last one that was read, if there is a sign that some are."""
        self.corrupt: list[int] = []
        """Numbers of frames, from 0, that the decoder could only partly decode and filled in from others."""

    def __iter__(self) -> Iterator[TimedImage]:
        with open_video(self.path) as container:
            decoded = container.decode(video=0)
            first: Fraction | None = None
            number = 0
            while (pair := self._decode_next(decoded, number, container.format.name)) is not None:
                frame, pixels = pair
                timed = frame.pts is not None and frame.time_base is not None
                stamp = Fraction(frame.pts) * frame.time_base if timed else number / self.rate
                first = stamp if first is None else first
                if frame.is_corrupt:
                    self.corrupt.append(number)
                yield TimedImage(turn_upright(pixels, count_quarter_turns(frame)), stamp - first)
                number += 1
        if self.damage is None and self.frames and number < self.frames:
            self.damage = f"it says that it has {pluralize(self.frames, 'frame')}"

    def _decode_next(self, decoded: Iterator[Any], number: int, kind: str) -> tuple[Any, Image] | None:
        """Return the next frame and its pixels as they are stored; None at the end."""
        try:
            frame = next(decoded, None)
            return None if frame is None else (frame, frame.to_ndarray(format="rgb24"))
        # Not every pixel format can be converted to RGB.
        except (av.FFmpegError, ValueError, MemoryError) as error:
            if number == 0:
                raise InvalidData(
                    f"{one_line(self.path)} is not a readable video ({_explain_error(error)})."
                ) from error
            # A multipart MJPEG file ends with a boundary, which is read as a broken frame.
            if kind != "mpjpeg":
                self.damage = _explain_error(error)
            return None


def write_video(path: Path, frames: Iterable[TimedImage], like: VideoFile) -> int:
    """Write frames as H.264 in mp4, each at its own time; return how many. All get the size of the first frame."""
    count, last = 0, -1
    size: tuple[int, int] | None = None
    with av.open(str(path), "w", format="mp4") as container:
        # No B-frames: with them, a video of uneven rate comes out too short.
        stream = container.add_stream("libx264", rate=like.rate, options={"bf": "0"})
        stream.pix_fmt, stream.codec_context.time_base = "yuv420p", like.time_base
        for image, seconds in frames:
            if size is None:
                # The codec takes even sizes only.
                size = (image.shape[0] + image.shape[0] % 2, image.shape[1] + image.shape[1] % 2)
                stream.height, stream.width = size
            frame = av.VideoFrame.from_ndarray(_fit_to_size(image, size), format="rgb24")
            # Always later than the frame before, whatever the source says.
            last = max(last + 1, round(seconds / like.time_base))
            frame.pts, frame.time_base = last, like.time_base
            container.mux(stream.encode(frame))
            count += 1
        if not count:
            raise InvalidData(f"{like.path} has no frames.")
        container.mux(stream.encode())
    return count


def _fit_to_size(image: Image, size: tuple[int, int]) -> Image:
    """Repeat the last row or column where one is missing; fit an image of another size, with black around it."""
    more = (size[0] - image.shape[0], size[1] - image.shape[1])
    if all(missing in (0, 1) for missing in more):
        return np.ascontiguousarray(np.pad(image, ((0, more[0]), (0, more[1]), (0, 0)), mode="edge"))
    return np.asarray(ImageOps.pad(PillowImage.fromarray(image), (size[1], size[0])))


def count_quarter_turns(frame: Any) -> int:
    """Count the quarter turns, counterclockwise, that make a decoded frame upright, as a player shows it.

    A phone notes how it was held instead of turning the pixels.
    """
    return int(round(frame.rotation / 90) % 4)


def turn_upright(pixels: Image, turns: int) -> Image:
    """Turn pixels by so many quarters."""
    return np.ascontiguousarray(np.rot90(pixels, turns))


def open_video(path: Path) -> Any:
    """Open a file with video in it."""
    if absence := explain_absence(path):
        raise InvalidData(f"{one_line(path)}: {absence}.")
    try:
        # The full path, so that no part of it is taken for a protocol. Metadata may be in any encoding.
        container = av.open(
            str(path.absolute()), options={"format_whitelist": ",".join(CONTAINERS)}, metadata_errors="replace"
        )
    except (av.FFmpegError, OSError, ValueError) as error:
        what = "is not a readable video, nor an image"
        raise InvalidData(f"{one_line(path)} {what} ({_explain_error(error)}). Is it whole?") from error
    problem = _explain_unreadable(container)
    if problem:
        container.close()
        raise InvalidData(f"{one_line(path)} {problem}")
    container.streams.video[0].codec_context.options = LIMITS
    return container


def _explain_unreadable(container: Any) -> str | None:
    if not container.streams.video:
        return "has no video in it."
    codec = container.streams.video[0].codec_context
    if codec is None:
        return "has video of a kind that is not known here. Convert it."
    if codec.width * codec.height > LARGEST:
        return f"has frames of more than {LARGEST // 10**6} million pixels. Make them smaller."
    return None


def _explain_error(error: Exception) -> str:
    if isinstance(error, av.ArgumentError):
        return "it is of a kind that is not read as video"
    return one_line(getattr(error, "strerror", None) or error, 200)
