"""One's own video: a file or a folder of frames, with labels for all, some or none of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from leocod.benchmarks.base import Recorded, SplitOptions
from leocod.files.addresses import explain_no_end, is_camera
from leocod.readers.recording import Entry, Recording, Report
from leocod.readers.video import read_video
from leocod.readers.video_frames import VideoFrame, VideoFrames
from leocod.types import Picture


class VideoOptions(SplitOptions):
    """Options of a video as a benchmark. `classes` is needed when there are no labels."""

    source: Path
    """A video file, or a folder of frames, which come in the order of their names, numbers in them by value. If it has
    only folders in it, each is a video."""

    labels: Path | None = None
    """Labels as COCO, YOLO, Pascal VOC, CVAT or Label Studio has them: a file, or a folder. They are those of frames by
    name, or, in a video file, by number counted from 0. Frames not in it are used without labels. Null: there are none;
    nothing is evaluated."""

    every: int = Field(1, ge=1)
    """Take every so-many-th frame: in the paper's videos frames are 2 seconds apart, as with 60 in a usual film."""

    @field_validator("source", mode="before")
    @classmethod
    def _check_end(cls, source: Any) -> Any:
        # YAML reads the number of a camera as a number, which no path is.
        text = str(source) if type(source) in (int, str) else ""
        is_path = type(source) is str and is_camera(text) and (Path(text).is_file() or Path(text).is_dir())
        if not is_path and (problem := explain_no_end(text)):
            raise ValueError(problem)
        return source


class Video(Recorded):
    """The frames of a video, upright. Those of a file are decoded when they are used, a few at a time."""

    Options = VideoOptions
    options: VideoOptions
    name = "video"
    upright = True

    def record(self, report: Report) -> Recording:
        options = self.options
        self.frames = VideoFrames(options.source, report) if options.source.is_file() else None
        source = options.source if self.frames is None else self.frames
        return read_video(source, options.labels, every=options.every, classes=options.classes, report=report)

    def picture(self, entry: Entry) -> Path | Picture:
        return VideoFrame(self.frames, entry.index) if self.frames is not None else super().picture(entry)
