"""OAK: nine months of one student's life, 16 frames a step and one held out. Read as released, or as processed."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from leocod.benchmarks.base import Recorded, SplitOptions
from leocod.readers.oak import PICTURES, read_oak
from leocod.readers.processed import lists_in, read_processed
from leocod.readers.recording import Recording, Report, only_layout


class OakOptions(SplitOptions):
    """Options of OAK. The processed layout has its own steps: `frames_per_step` and `hold_out` do not change them."""

    root: Path
    """The folder with `Raw` and `Label` in it; or, processed, with a folder of train_anno<k>.csv in it."""

    layout: Literal["auto", "processed", "original"] = "auto"
    """How the files lie: the authors' processed layout, or OAK as it was released. `auto`: whichever is there."""

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
        chosen = self.options
        layouts = {"processed": bool(lists_in(chosen.root)), "original": (chosen.root / PICTURES).is_dir()}
        if only_layout(chosen.layout, layouts, chosen.root) == "processed":
            return read_processed(chosen.root, classes=chosen.classes, report=report)
        return read_oak(
            chosen.root,
            test_labels=chosen.test_labels,
            classes=chosen.classes,
            frames_per_step=chosen.frames_per_step,
            hold_out=chosen.hold_out,
            report=report,
        )
