"""One's own video: a file or a folder of frames, or several, with labels for all, some or none of the frames."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from leocod.benchmarks.base import Recorded, SplitOptions
from leocod.files.addresses import explain_no_end, is_camera
from leocod.readers.recording import TEST_EVERY, Entry, Recording, Report, divide
from leocod.readers.test_frames import find_weaknesses
from leocod.readers.video import read_video
from leocod.readers.video_frames import VideoFrame, VideoFrames
from leocod.types import Picture


class VideoOptions(SplitOptions):
    """Options of a video as a benchmark. `classes` is needed when there are no labels."""

    source: Path | tuple[Path, ...]
    """A video file, or a folder of frames, which come in the order of their names, numbers in them by value. If it has
    only folders in it, each is a video. A list of them is one stream, in this order."""

    labels: Path | tuple[Path | None, ...] | None = None
    """Labels as COCO, YOLO, Pascal VOC, CVAT or Label Studio has them: a file, or a folder. They are those of frames by
    name, or, in a video file, by number counted from 0. Frames not in it are used without labels. A list has one for
    each video. Null: there are none; nothing is evaluated."""

    frame_names: str | None = None
    """Which frame of a video file the name of a labelled picture means: a pattern with {number}, counted from 0, or
    {number_from_1}, and perhaps {video} and *; or a .csv file with the columns name, frame and perhaps video. Null:
    names are as CVAT and `leocod data choose` write them."""

    every: int = Field(1, ge=1)
    """Take every so-many-th frame: in the paper's videos frames are 2 seconds apart, as with 60 in a usual film. Where
    labels are sparse, labelled frames are all taken."""

    test_every: int = Field(TEST_EVERY, ge=0)
    """Where labels are sparse, because more than one frame in ten has none: every so-many-th labelled frame is held out
    for testing, in place of `hold_out` frames after each step. 0: labels make no difference to that, nor to `every`."""

    @field_validator("source", mode="before")
    @classmethod
    def _check_end(cls, source: Any) -> Any:
        for one in source if isinstance(source, list | tuple) else [source]:
            # YAML reads the number of a camera as a number, which no path is.
            text = str(one) if type(one) in (int, str) else ""
            is_path = type(one) is str and is_camera(text) and (Path(text).is_file() or Path(text).is_dir())
            if not is_path and (problem := explain_no_end(text)):
                raise ValueError(problem)
        if isinstance(source, list | tuple) and not source:
            raise ValueError("it is empty: it should name at least one video")
        return source

    @field_validator("test_every")
    @classmethod
    def _leave_some(cls, test_every: int) -> int:
        if test_every == 1:
            raise ValueError("it is 1: nothing would be left to learn from. It should be 0, or 2 or more")
        return test_every


class Video(Recorded):
    """The frames of one video or several, upright. Those of a file are decoded when they are used, a few at a time."""

    Options = VideoOptions
    options: VideoOptions
    name = "video"
    upright = True

    def record(self, report: Report) -> Recording:
        options = self.options
        paths = [options.source] if isinstance(options.source, Path) else options.source
        self.frames = {path: VideoFrames(path, report) for path in dict.fromkeys(paths) if path.is_file()}
        return read_video(
            [self.frames.get(path, path) for path in paths],
            options.labels,
            every=options.every,
            classes=options.classes,
            frame_names=options.frame_names,
            keep_labelled=options.test_every > 0,
            report=report,
        )

    def divide(self, entries: Sequence[Entry], options: SplitOptions) -> tuple[Entry, ...]:
        return divide(
            entries,
            frames_per_step=options.frames_per_step,
            hold_out=options.hold_out,
            test_every=self.options.test_every,
        )

    @property
    def warnings(self) -> Sequence[str]:
        weaknesses = find_weaknesses([labels for _, labels in self.test], self.classes)
        return [*super().warnings, *(what[:1].upper() + what[1:] for _, what in weaknesses)]

    def picture(self, entry: Entry) -> Path | Picture:
        if entry.picture in self.frames:
            return VideoFrame(self.frames[entry.picture], entry.index)
        return super().picture(entry)
