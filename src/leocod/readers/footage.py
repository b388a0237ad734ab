"""A video file as a sequence of pictures: any frame, exactly, and quickly when they are asked for in order."""

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
from leocod.readers.recording import Problem, Report, stop
from leocod.text import one_line
from leocod.types import Image


@dataclass(frozen=True)
class Shot:
    """One frame of a video file, decoded when it is asked for."""

    footage: Footage
    number: int

    def image(self) -> Image:
        return self.footage.image(self.number)


class Footage:
    """The frames of a video file by number, from 0, in the order in which they are shown.

    Opening it reads when each frame is shown and which ones can be started from, and decodes the first one to know how
    a phone was held: pictures are upright, as a player shows them. A frame is found
    by its time: decoding goes on from where it was, or starts at the last such point before the frame if that is
    nearer. The file is held open by each process for itself, so that it can be used in several.
    """

    def __init__(self, path: Path, report: Report = stop) -> None:
        self.path = path
        index = _indexed(path, report)
        self.size = index.size
        self._turns = index.turns
        self._count = index.count
        self._times = index.times
        self._starts = index.starts
        self._reader: _Reader | None = None
        self._last: tuple[int, Image] | None = None
        """The frame that was asked for last, which may well be asked for again."""
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
            raise IndexError(f"Frame {number} of {self.path}, which has {len(self)} frames.")
        with self._lock:
            if self._last is not None and self._last[0] == number:
                return self._last[1]
            try:
                frame = self._decoded(number)
                # Converted by a converter of its own, which is gone when this is done: the frame's would stay with it,
                # and has threads, too.
                whole = frame is not None and not frame.is_corrupt
                converted = VideoReformatter().reformat(frame, format="rgb24").to_ndarray() if whole else None
            # Not every form of pixels can be turned into the usual one.
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
        """Let go of the file; it is opened again when it is needed."""
        if self._reader is not None and self._reader.process == os.getpid():
            self._reader.container.close()
        self._reader = None

    def _decoded(self, number: int) -> Any:
        if self._times is None:
            return self._counted_to(number)
        reader = self._opened()
        start = self._start(number)
        if start is not None and not start.number <= reader.next <= number:
            reader.seek(start)
        found = self._forward_to(number, reader) if reader.next <= number else None
        # Not every container starts where it is asked to; from the beginning, all of them do.
        return self._forward_to(number, self._reopened()) if found is None else found

    def _start(self, number: int) -> Start | None:
        """The last frame up to this one that decoding can start from."""
        place = bisect_right(self._starts, number, key=lambda start: start.number)
        return self._starts[place - 1] if place else None

    def _forward_to(self, number: int, reader: _Reader) -> Any:
        for frame in reader.frames:
            if frame.pts is None or frame.pts > self._times[number]:
                reader.lost()
                return None
            reader.next = int(np.searchsorted(self._times, frame.pts)) + 1
            if frame.pts == self._times[number]:
                return frame
        reader.lost()
        return None

    def _counted_to(self, number: int) -> Any:
        """Without times in the file, frames can only be counted, from the first one on."""
        reader = self._opened()
        if reader.next > number:
            reader = self._reopened()
        for frame in reader.frames:
            reader.next += 1
            if reader.next == number + 1:
                return frame
        reader.lost()
        return None

    def _opened(self) -> _Reader:
        # A process that was forked must not use its parent's reader, whose place in the file they would share.
        if self._reader is None or self._reader.process != os.getpid():
            self._reader = _Reader(self.path)
        return self._reader

    def _reopened(self) -> _Reader:
        self.close()
        return self._opened()


class _Reader:
    """An open file, and how far it is decoded."""

    def __init__(self, path: Path) -> None:
        self.process = os.getpid()
        self.container = open_video(path)
        self.stream = self.container.streams.video[0]
        # A forked process has none of its parent's threads, and would wait for them forever when it lets go of a
        # decoder that has some. Whoever wants more than one core reads ahead in several processes.
        self.stream.codec_context.thread_count = 1
        self.frames: Iterator[Any] = self.container.decode(self.stream)
        self.next: float = 0
        """Number of the frame that comes next."""

    def seek(self, start: Start) -> None:
        """Go on from that frame, if the file lets one."""
        try:
            self.container.seek(start.decoded, stream=self.stream, backward=True, any_frame=False)
        except av.FFmpegError:
            self.lost()
            return
        self.frames = self.container.decode(self.stream)
        self.next = start.number

    def lost(self) -> None:
        """Note that it cannot go on from here."""
        self.next = inf


class Start(NamedTuple):
    """A frame that decoding can start from."""

    number: int
    decoded: int
    """When, in the stream's own unit: the time to seek."""


@dataclass(frozen=True)
class _Index:
    size: tuple[int, int]
    """Upright."""
    turns: int
    """Quarters by which every frame is turned to be so."""
    count: int
    times: Any
    """When each frame is shown, in the stream's own unit; None where the file does not say."""
    starts: list[Start]


def _indexed(path: Path, report: Report) -> _Index:
    found: list[int | None] = []
    starts: list[tuple[int, int]] = []
    with open_video(path) as container:
        stream = container.streams.video[0]
        size = stream.codec_context.height, stream.codec_context.width
        promised, met = int(stream.frames), 0
        with suppress(av.FFmpegError):
            for packet in container.demux(stream):
                # The last packet of all is empty; a cut one holds half a picture.
                if not packet.size or packet.is_corrupt:
                    continue
                met += 1
                if not packet.is_discard:
                    found.append(packet.pts)
                if packet.is_keyframe and packet.pts is not None and packet.dts is not None:
                    starts.append((packet.pts, packet.dts))
    if not found or not all(size):
        raise InvalidData(f"{one_line(path)} has no frames that can be read.")
    if met < promised:
        what = f"it ends early: {met} of {promised} frames are there. Copy it again."
        report(Problem(path, "", what, kind="file"))
    turns = _turns(path)
    size = size[::-1] if turns % 2 else size
    known = [time for time in found if time is not None]
    if len(set(known)) < len(found):
        return _Index(size, turns, len(found), None, [])
    times = np.array(sorted(known), np.int64)
    numbered = (Start(int(np.searchsorted(times, shown)), decoded) for shown, decoded in starts)
    return _Index(size, turns, len(times), times, sorted(numbered))


def _turns(path: Path) -> int:
    """By the first frame; one that cannot be decoded will be told when it is used."""
    reader = _Reader(path)
    try:
        first = next(reader.frames, None)
    except (av.FFmpegError, OSError):
        first = None
    reader.container.close()
    return 0 if first is None else count_quarter_turns(first)
