"""Writes the detector of a run as a file for other programs, if the file detects what the detector detects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shutil import copymode
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image as PillowImage

from leocod.errors import InvalidData
from leocod.export.comparison import Comparison, compare_detections
from leocod.export.formats import ExportInput, Format, check_installed, find_format, read, write
from leocod.export.predict import check_source, read_images
from leocod.files.atomic import replace
from leocod.files.documents import read_yaml
from leocod.files.run_directory import RunDirectory
from leocod.networks.base import BaseDetector, ReportingLimits
from leocod.run.config import load_detector_config
from leocod.run.experiment import load_detector
from leocod.types import Image

ENDINGS: dict[Format, tuple[str, ...]] = {
    "onnx": (".onnx",),
    "torchscript": (".torchscript", ".pt"),
    "safetensors": (".safetensors",),
}
"""The endings of a file of each format; the first is the default."""
ANOTHER_SIZE = (133, 171)
"""Height and width of the picture that a graph is traced with."""


def export(run: Path, kind: str, out: Path | None = None, pictures: Path | None = None) -> tuple[Path, Comparison]:
    """Write the detector of a run and compare the file with it on pictures: by default the run's samples.

    Returns the file, and how close it is to the detector. If they differ by more than rounding, no file is written.
    """
    kind = find_format(kind)
    check_installed(kind)
    directory = RunDirectory.open(run)
    compared_on = _read_pictures(pictures or directory.samples, asked_for=pictures is not None)
    file = out or directory.path / f"detector{ENDINGS[kind][0]}"
    _check_name(file, kind)
    return file, write_compared(directory, kind, file, compared_on)


def write_compared(directory: RunDirectory, kind: Format, file: Path, compared_on: Sequence[Image]) -> Comparison:
    """Write the detector of a run as a file, if both find the same in these pictures."""
    # In float32, which files compute with, whatever it learnt in.
    detector = load_detector(directory, "cpu").to("cpu")
    config = load_detector_config(read_yaml(directory.config), directory.config)
    exported = ExportInput(detector, config, example=_resize(compared_on[0]))
    file.parent.mkdir(parents=True, exist_ok=True)
    # With the ending of its format, by which some readers know it.
    with TemporaryDirectory(dir=file.parent, prefix=".export-") as folder:
        temporary = Path(folder) / f"detector.{kind}"
        write(kind, exported, temporary)
        detect = read(kind, temporary, exported)
        # One at a time, as the file takes them: a small picture beside a larger one would be padded.
        expected, actual = (
            [detections for image in compared_on for detections in predict([image])]
            for predict in (detector.predict, detect)
        )
        limits = detector.reporting_limits() if isinstance(detector, BaseDetector) else ReportingLimits()
        comparison = compare_detections(expected, actual, limits)
        comparison.require(str(file))
        # Some writers make files that only their owner can read.
        copymode(directory.config, temporary)
        replace(temporary, file)
    return comparison


def _check_name(file: Path, kind: Format) -> None:
    if file.is_dir():
        raise InvalidData(f"{file} is a directory. Give --out a file name.")
    endings = ENDINGS[kind]
    if file.suffix not in endings:
        raise InvalidData(f"--out is '{file}': it should end in {endings[0]}.")


def _read_pictures(source: Path, *, asked_for: bool) -> list[Image]:
    if not asked_for and not any(source.glob("*.png")):
        raise InvalidData(f"{source} has no pictures to compare on. Give some with --images.")
    check_source(source)
    return [picture.image for picture in read_images(source)]


def _resize(image: Image) -> Image:
    """Resize to a size that no compared picture is likely to have, so that a size fixed by tracing would show."""
    height, width = ANOTHER_SIZE
    return np.asarray(PillowImage.fromarray(image).resize((width, height)))
