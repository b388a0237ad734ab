"""OAK: nine months of one student's life, 16 frames a step and one held out. Read as released, or as processed."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from leocod.benchmarks.base import Recorded, SplitOptions
from leocod.readers.oak import PICTURES, read_oak
from leocod.readers.processed import find_lists, read_processed
from leocod.readers.recording import Recording, Report, choose_layout


class OakOptions(SplitOptions):
    """Options of OAK. The processed layout has its own steps: `frames_per_step` and `hold_out` do not change them."""

    root: Path
    """The folder with `Raw` and `Label` in it; or, processed, with a folder of train_anno<k>.csv in it."""

    layout: Literal["auto", "processed", "original"] = "auto"
    """The authors' processed layout, or OAK as it was released. `auto`: whichever is there."""

    test_labels: str | None = None
    """Original layout: the folder in `root` with the labels of test frames; then each folder of `Raw` is a step. Null:
    `Label_test` if it is there; otherwise steps and test frames are counted off."""


class Oak(Recorded):
    """Online continual object detection in the wild.

    Wang et al., Wanderlust: Online Continual Object Detection in the Real World, ICCV 2021.
    """

    Options = OakOptions
    options: OakOptions
    name = "oak"

    def record(self, report: Report) -> Recording:
        options = self.options
        layouts = {"processed": bool(find_lists(options.root)), "original": (options.root / PICTURES).is_dir()}
        if choose_layout(options.layout, layouts, options.root) == "processed":
            return read_processed(options.root, classes=options.classes, report=report)
        return read_oak(
            options.root,
            test_labels=options.test_labels,
            classes=options.classes,
            frames_per_step=options.frames_per_step,
            hold_out=options.hold_out,
            report=report,
        )
