"""EgoObjects: short egocentric videos of indoor things, one after another. Read as released, or as processed."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from leocod.benchmarks.base import Recorded, SplitOptions
from leocod.readers.egoobjects import Test, files_in, read_egoobjects
from leocod.readers.processed import lists_in, read_processed
from leocod.readers.recording import Recording, Report, only_layout


class EgoObjectsOptions(SplitOptions):
    """Options of EgoObjects. The processed layout has steps of its own, which these do not change."""

    root: Path
    """The folder with the released JSON files and `images` in it; or, processed, with a folder of train_anno<k>.csv."""

    layout: Literal["auto", "processed", "original"] = "auto"
    """How the files lie: the authors' processed layout, or as EgoObjects was released. `auto`: whichever is there."""

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
        chosen = self.options
        layouts = {"processed": bool(lists_in(chosen.root)), "original": bool(files_in(chosen.root, "train"))}
        if only_layout(chosen.layout, layouts, chosen.root) == "processed":
            return read_processed(chosen.root, classes=chosen.classes, report=report)
        return read_egoobjects(
            chosen.root,
            test=chosen.test,
            classes=chosen.classes,
            frames_per_step=chosen.frames_per_step,
            hold_out=chosen.hold_out,
            report=report,
        )
