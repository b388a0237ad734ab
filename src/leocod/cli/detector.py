"""The commands about a detector: `leocod predict`, `leocod export` and `leocod pretrain`."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leocod.cli.options import Device, Override
from leocod.cli.terminal import console, errors, say
from leocod.text import pluralize

if TYPE_CHECKING:
    from leocod.detectors.base import Detector


SHOWN = 20
"""Unreadable images that are named."""


def predict(
    run_directory: Annotated[Path, typer.Argument(metavar="RUN", help="A run directory with a checkpoint.")],
    source: Annotated[Path, typer.Argument(metavar="IMAGE|FOLDER|VIDEO", help="What to look at.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to write; by default a new one under RUN/predictions.")
    ] = None,
    threshold: Annotated[float, typer.Option(help="Detections with a higher score are shown.")] = 0.5,
    device: Device = None,
) -> None:
    """Detect with what a run has learnt: annotated pictures or video, and detections.json in COCO form."""
    from leocod.files.run_directory import RunDirectory, find_free_path, refuse_if_taken

    directory = RunDirectory.open(run_directory)
    target = out or find_free_path(directory.path / "predictions" / source.resolve().stem)
    # Refused before torch is imported: a mistake should not take seconds.
    refuse_if_taken(target)

    from leocod.export.predict import check_source, make_progress
    from leocod.export.predict import predict as write_predictions
    from leocod.run.experiment import load_detector

    check_source(source)
    detector = load_detector(directory, device)
    note = directory.describe_progress(), _describe_limit(detector, threshold)
    for line in filter(None, note):
        say(f"leocod: {line}", errors)
    with make_progress(console) as progress:
        summary = write_predictions(
            source,
            target,
            detector.predict,
            detector.classes,
            threshold=threshold,
            track=lambda predicted, total: progress.track(predicted, total=total),
            tell=say,
        )
    say(f"{pluralize(summary.frames, 'frame')}: {target}")
    for problem in summary.unreadable[:SHOWN]:
        say(f"leocod: {problem}", errors)
    if unreadable := len(summary.unreadable):
        images = pluralize(summary.frames + unreadable, "image")
        left_out = "is left out" if unreadable == 1 else "are left out"
        say(f"leocod: {unreadable} of {images} could not be read and {left_out}.", errors)
        raise typer.Exit(1)


def _describe_limit(detector: Detector, threshold: float) -> str | None:
    """Say that a threshold is lower than the scores that the detector reports; None where it is not."""
    from leocod.networks.base import BaseDetector

    limit = detector.reporting_limits().score if isinstance(detector, BaseDetector) else 0.0
    if threshold >= limit:
        return None
    return f"--threshold is {threshold:g}, but this detector reports no score of {limit:g} or less: none is shown."


def export(
    run_directory: Annotated[Path, typer.Argument(metavar="RUN", help="A run directory with a checkpoint.")],
    kind: Annotated[str, typer.Option("--format", help="onnx, torchscript or safetensors.")] = "onnx",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write; by default RUN/detector.FORMAT.")
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(metavar="IMAGE|FOLDER", help="What to compare on; by default the frames in RUN/samples."),
    ] = None,
) -> None:
    """Write the detector of a run as a file for other programs.

    The file is loaded again and has to find what the detector finds; else there is none.
    """
    from leocod.export.export import export as write_detector
    from leocod.files.run_directory import RunDirectory

    if note := RunDirectory.open(run_directory).describe_progress():
        say(f"leocod: {note}", errors)
    file, compared = write_detector(run_directory, kind, out, images)
    say(compared.summary)
    say(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


def pretrain(
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the weights.")] = Path("start.safetensors"),
    overrides: Override = None,
) -> None:
    """Make starting weights for the tiny detector, in a world of their own. --set takes the options of pre-training."""
    from leocod.run.choices import validate
    from leocod.run.layers import overlay, parse_override
    from leocod.run.pretrain import PretrainOptions
    from leocod.run.pretrain import pretrain as make_weights

    values: dict[str, Any] = reduce(overlay, map(parse_override, overrides or ()), {})
    make_weights(validate(PretrainOptions, values), out, tell=say)
