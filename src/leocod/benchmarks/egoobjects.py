"""EgoObjects: short egocentric videos of indoor things, one after another. Read as released, or as processed."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from leocod.benchmarks.base import Recorded, SplitOptions
from leocod.readers.egoobjects import Test, find_files, read_egoobjects
from leocod.readers.processed import find_lists, read_processed
from leocod.readers.recording import Recording, Report, choose_layout


class EgoObjectsOptions(SplitOptions):
    """Options of EgoObjects. The processed layout has steps of its own, which these do not change."""

    root: Path
    """The folder with the released JSON files and `images` in it; or, processed, with a folder of train_anno<k>.csv."""

    layout: Literal["auto", "processed", "original"] = "auto"
    """The authors' processed layout, or EgoObjects as it was released. `auto`: whichever is there."""

    test: Test = "split"
    """Original layout: `split` holds out frames of the training file, `eval` tests on the evaluation file."""


class EgoObjects(Recorded):
    """Videos of everyday things, grouped by video.

    Zhu et al., EgoObjects: A Large-Scale Egocentric Dataset for Fine-Grained Object Understanding, ICCV 2023.
    """

    Options = EgoObjectsOptions
    options: EgoObjectsOptions
    name = "egoobjects"

    def record(self, report: Report) -> Recording:
        options = self.options
        layouts = {"processed": bool(find_lists(options.root)), "original": bool(find_files(options.root, "train"))}
        if choose_layout(options.layout, layouts, options.root) == "processed":
            return read_processed(options.root, classes=options.classes, report=report)
        return read_egoobjects(
            options.root,
            test=options.test,
            classes=options.classes,
            frames_per_step=options.frames_per_step,
            hold_out=options.hold_out,
            report=report,
        )
