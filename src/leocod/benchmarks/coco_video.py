"""Any COCO file whose images have an order: one's own video, labelled with any tool that writes COCO."""

from __future__ import annotations

from pathlib import Path

from leocod.benchmarks.base import Recorded, SplitOptions
from leocod.readers.coco_video import read_coco_video
from leocod.readers.recording import Recording, Report


class CocoVideoOptions(SplitOptions):
    """Options of a COCO file as a benchmark."""

    annotations: Path
    """The COCO file. Images are ordered by `video_id`, then by `frame_id`, `frame_number`, `frame_index` or name."""

    images: Path | None = None
    """The folder that its file names start from. Null: the file's own folder, or `images` in it."""

    videos: tuple[int | str, ...] | None = None
    """Names or ids of the videos to take, in this order. Null: all, in the order of the file."""

    own_steps: bool = True
    """Where every image says its `step` and whether it is `held_out`, follow that. Off, or with chosen videos: divide
    again."""


class CocoVideo(Recorded):
    """The frames of a COCO file in the order of the video."""

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
