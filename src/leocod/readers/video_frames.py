"""The frames of a video file by number: any of them exactly, and quickly when they are read in order."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import av
import numpy as np
from av.video.reformatter import VideoReformatter

from leocod.errors import InvalidData, InvalidFrame
from leocod.files.videos import count_quarter_turns, open_video, turn_upright
from leocod.readers.recording import Problem, Report, raise_problem
from leocod.text import one_line, pluralize
from leocod.types import Image


@dataclass(frozen=True)
class VideoFrame:
    """One frame of a video file, decoded when it is asked for."""

    video: VideoFrames
    number: int

    def image(self) -> Image:
        return self.video.image(self.number)


class VideoFrames:
    """The frames of a video file by number, from 0, in the order in which they are shown.

    Opening it reads the time of each frame and the key frames, where decoding can start, and decodes the first frame to
    know how a phone was held: images are upright, as a player shows them. A frame is found by its time: decoding goes
    on from where it was, or starts at the last key frame before the frame if that is nearer. Each process opens the
    file for itself.
    """

    def __init__(self, path: Path, report: Report = raise_problem) -> None:
        self.path = path
        index = _build_index(path, report)
        self.size = index.size
        self._turns = index.turns
        self._count = index.count
        self._times = index.times
        self._starts = index.starts
        self._reader: _Reader | None = None
        self._last: tuple[int, Image] | None = None
        """The frame that was read last: it is often read again."""
        self._lock = Lock()

    def __len__(self) -> int:
        return self._count

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_reader": None, "_last": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = {**state, "_lock": Lock()}

    def image(self, number: int) -> Image:
        """The pixels of a frame."""
        if not 0 <= number < len(self):
            raise IndexError(f"Frame {number} of {self.path}, which has {pluralize(len(self), 'frame')}.")
        with self._lock:
            if self._last is not None and self._last[0] == number:
                return self._last[1]
            try:
                frame = self._decode(number)
                # The frame's own converter would live on with it, and has threads.
                whole = frame is not None and not frame.is_corrupt
                converted = VideoReformatter().reformat(frame, format="rgb24").to_ndarray() if whole else None
            # Not every pixel format can be converted to RGB.
            except (av.FFmpegError, OSError, ValueError, MemoryError, InvalidData) as error:
                self.close()
                reason = one_line(error, 200)
                raise InvalidFrame(f"{one_line(self.path)}, frame {number} cannot be decoded ({reason}).") from error
            if converted is None:
                self.close()
                raise InvalidFrame(f"{one_line(self.path)}, frame {number} is damaged or not there. Is the file whole?")
            pixels = turn_upright(np.asarray(converted, np.uint8), self._turns)
            pixels.flags.writeable = False
            self._last = number, pixels
            return pixels

    def close(self) -> None:
        """Close the file; it is opened again when it is needed."""
        if self._reader is not None and self._reader.process == os.getpid():
            self._reader.container.close()
        self._reader = None

    def _decode(self, number: int) -> Any:
        if self._times is None:
            return self._count_until(number)
        reader = self._open()
        start = self._find_start(number)
        if start is not None and not start.number <= reader.next <= number:
            reader.seek(start)
        frame = self._decode_until(number, reader) if reader.next <= number else None
        # Not every container can seek exactly; decoding from the beginning always works.
        return self._decode_until(number, self._reopen()) if frame is None else frame

    def _find_start(self, number: int) -> Start | None:
        """Return the last key frame up to this frame."""
        place = bisect_right(self._starts, number, key=lambda start: start.number)
        return self._starts[place - 1] if place else None

    def _decode_until(self, number: int, reader: _Reader) -> Any:
        for frame in reader.frames:
            if frame.pts is None or frame.pts > self._times[number]:
                reader.lose_place()
                return None
            reader.next = int(np.searchsorted(self._times, frame.pts)) + 1
            if frame.pts == self._times[number]:
                return frame
        reader.lose_place()
        return None

    def _count_until(self, number: int) -> Any:
        """Decode a frame of a file without times: frames can only be counted from the first one on."""
        reader = self._open()
        if reader.next > number:
            reader = self._reopen()
        for frame in reader.frames:
            reader.next += 1
            if reader.next == number + 1:
                return frame
        reader.lose_place()
        return None

    def _open(self) -> _Reader:
        # A forked process must not use its parent's reader: they would share its position in the file.
        if self._reader is None or self._reader.process != os.getpid():
            self._reader = _Reader(self.path)
        return self._reader

    def _reopen(self) -> _Reader:
        self.close()
        return self._open()


class _Reader:
    """An open file, and how far it has been decoded."""

    def __init__(self, path: Path) -> None:
        self.process = os.getpid()
        self.container = open_video(path)
        self.stream = self.container.streams.video[0]
        # A forked process does not have its parent's threads, and would wait for them forever when it closes the
        # decoder. To use more cores, frames are prefetched in several processes.
        self.stream.codec_context.thread_count = 1
        self.frames: Iterator[Any] = self.container.decode(self.stream)
        self.next: float = 0
        """Number of the next frame; infinite where it is not known."""

    def seek(self, start: Start) -> None:
        """Go on from a key frame, if the file can seek."""
        try:
            self.container.seek(start.decoded, stream=self.stream, backward=True, any_frame=False)
        except av.FFmpegError:
            self.lose_place()
            return
        self.frames = self.container.decode(self.stream)
        self.next = start.number

    def lose_place(self) -> None:
        """Note that decoding cannot go on from here."""
        self.next = inf


class Start(NamedTuple):
    """A key frame, where decoding can start."""

    number: int
    decoded: int
    """The time to seek, in the stream's own unit."""


@dataclass(frozen=True)
class _Index:
    size: tuple[int, int]
    """Upright."""
    turns: int
    """Quarter turns that make a frame upright."""
    count: int
    times: Any
    """The time of each frame, in the stream's own unit; None where the file does not say."""
    starts: list[Start]


def _build_index(path: Path, report: Report) -> _Index:
    times: list[int | None] = []
    starts: list[tuple[int, int]] = []
    with open_video(path) as container:
        stream = container.streams.video[0]
        size = stream.codec_context.height, stream.codec_context.width
        promised, present = int(stream.frames), 0
        with suppress(av.FFmpegError):
            for packet in container.demux(stream):
                # The last packet is empty; a cut one holds half a picture.
                if not packet.size or packet.is_corrupt:
                    continue
                present += 1
                if not packet.is_discard:
                    times.append(packet.pts)
                if packet.is_keyframe and packet.pts is not None and packet.dts is not None:
                    starts.append((packet.pts, packet.dts))
    if not times or not all(size):
        raise InvalidData(f"{one_line(path)} has no frames that can be read.")
    if present < promised:
        what = f"it ends early: it has {present} of {pluralize(promised, 'frame')}. Copy it again."
        report(Problem(path, "", what, kind="file"))
    turns = _read_turns(path)
    size = size[::-1] if turns % 2 else size
    known = [time for time in times if time is not None]
    if len(set(known)) < len(times):
        return _Index(size, turns, len(times), None, [])
    ordered = np.array(sorted(known), np.int64)
    numbered = (Start(int(np.searchsorted(ordered, shown)), decoded) for shown, decoded in starts)
    return _Index(size, turns, len(ordered), ordered, sorted(numbered))


def _read_turns(path: Path) -> int:
    """Read the quarter turns from the first frame. If it is damaged, an error comes when it is used."""
    reader = _Reader(path)
    try:
        first = next(reader.frames, None)
    except (av.FFmpegError, OSError):
        first = None
    reader.container.close()
    return 0 if first is None else count_quarter_turns(first)
