"""From a run to a file for other programs, which is there only if it finds what the run's detector finds."""

from __future__ import annotations

from pathlib import Path
from shutil import copymode
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image as PillowImage

from leocod.detectors.base import Detector
from leocod.errors import InvalidData
from leocod.export.agreement import Agreement, Cut, agreement
from leocod.export.formats import Exported, Format, check_installed, known_format, read, write
from leocod.export.predict import check_source, images
from leocod.files.run_directory import RunDirectory
from leocod.run.config import load_run_config
from leocod.run.experiment import load_learner
from leocod.types import Image

ENDINGS: dict[Format, tuple[str, ...]] = {
    "onnx": (".onnx",),
    "torchscript": (".torchscript", ".pt"),
    "safetensors": (".safetensors",),
}
"""What a file of each kind is called."""
ANOTHER_SIZE = (133, 171)
"""Height and width in which a picture is shown to a tracer."""


def export(run: Path, kind: str, out: Path | None = None, pictures: Path | None = None) -> tuple[Path, Agreement]:
    """Write the detector of a run and compare the file with it on pictures: by default the run's samples.

    Returns the file, and how near it is to the detector. On a difference that is more than rounding there is no file.
    """
    kind = known_format(kind)
    check_installed(kind)
    directory = RunDirectory.open(run)
    shown = _pictures(pictures or directory.samples, asked_for=pictures is not None)
    file = out or directory.path / f"detector{ENDINGS[kind][0]}"
    _check_name(file, kind)
    detector = load_detector(directory)
    exported = Exported(detector, load_run_config(directory.config), example=_resized(shown[0]))
    file.parent.mkdir(parents=True, exist_ok=True)
    # Under its own kind of name, by which a reader may know it.
    with TemporaryDirectory(dir=file.parent, prefix=".export-") as folder:
        temporary = Path(folder) / f"detector.{kind}"
        write(kind, exported, temporary)
        detect = read(kind, temporary, exported)
        # One at a time, as the file takes them: beside a larger picture a small one would be padded.
        expected, given = ([found for image in shown for found in one([image])] for one in (detector.predict, detect))
        compared = agreement(expected, given, _cut(detector))
        compared.require(str(file))
        # Some writers keep a file to its owner.
        copymode(directory.config, temporary)
        temporary.replace(file)
    return file, compared


def load_detector(directory: RunDirectory) -> Detector:
    """The detector that people use, as it was saved last: the slow learner where there is one."""
    # In float32, whatever it learnt in: what a file computes with.
    return load_learner(directory, "cpu")[0].deployed_detector.to("cpu")


def _check_name(file: Path, kind: Format) -> None:
    if file.is_dir():
        raise InvalidData(f"{file} is a directory. Give --out a file name.")
    endings = ENDINGS[kind]
    if file.suffix not in endings:
        raise InvalidData(f"--out is '{file}': it should end in {endings[0]}, by which others know what it is.")


def _pictures(source: Path, *, asked_for: bool) -> list[Image]:
    if not asked_for and not any(source.glob("*.png")):
        raise InvalidData(f"{source} has no pictures to compare on. Give some with --images.")
    check_source(source)
    return [picture.image for picture in images(source)]


def _resized(image: Image) -> Image:
    """In a size that no compared picture is likely to have: what a tracer took for fixed would show."""
    height, width = ANOTHER_SIZE
    return np.asarray(PillowImage.fromarray(image).resize((width, height)))


def _cut(detector: Detector) -> Cut:
    """Where torchvision's models stop reporting: at a score, and at a number of detections."""
    model = getattr(detector, "model", None)
    last = getattr(model, "roi_heads", model)
    return Cut(score=getattr(last, "score_thresh", 0.0), most=getattr(last, "detections_per_img", None))
