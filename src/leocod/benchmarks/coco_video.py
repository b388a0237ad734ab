"""Any COCO files whose images have an order: one's own video, labelled with any tool that writes COCO."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from pydantic import field_validator

from leocod.benchmarks.base import Recorded, SplitOptions
from leocod.readers.coco_video import read_coco_video
from leocod.readers.recording import Recording, Report
from leocod.text import one_line, shorten


class CocoVideoOptions(SplitOptions):
    """Options of a COCO file as a benchmark."""

    annotations: Path | tuple[Path, ...]
    """The COCO file, or a list of them: the frames of the first come first. Images are ordered by `video_id`, then by
    `frame_id`, `frame_number`, `frame_index` or name."""

    images: Path | None = None
    """The folder that file names start from, in all files. Null: each file's own folder, or `images` in it."""

    videos: tuple[int | str, ...] | None = None
    """Names or ids of the videos to take from each file, in this order. Null: all, in the order of the file."""

    own_steps: bool = True
    """Where every image says its `step` and whether it is `held_out`, follow that. Off, or with chosen videos: divide
    again."""

    @field_validator("annotations", mode="before")
    @classmethod
    def _check_files(cls, given: Any) -> Any:
        files = list(given) if isinstance(given, list | tuple) else [given]
        if not files or not all(isinstance(file, str | Path) for file in files):
            raise ValueError(f"it is {shorten(given)}: it should be the path of a COCO file, or a list of such paths")
        if repeated := [file for file, count in Counter(Path(file).absolute() for file in files).items() if count > 1]:
            # Frames that one pass learns from would test in the other.
            raise ValueError(f"{one_line(repeated[0])} is named twice. Name each file once")
        return given


class CocoVideo(Recorded):
    """The frames of one COCO file, or of several, in the order of the video."""

    Options = CocoVideoOptions
    options: CocoVideoOptions
    name = "coco_video"

    def record(self, report: Report) -> Recording:
        options = self.options
        return read_coco_video(
            options.annotations,
            options.images,
            videos=options.videos,
            classes=options.classes,
            own_steps=options.own_steps,
            report=report,
        )
