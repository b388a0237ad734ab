"""The commands about a detector: `leocod predict`, `leocod export` and `leocod pretrain`."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import Annotated, Any

import typer

from leocod.cli.options import Device, Override
from leocod.cli.terminal import console, say
from leocod.text import pluralize


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
    from leocod.export.predict import check_source, make_progress
    from leocod.export.predict import predict as write_predictions
    from leocod.files.run_directory import RunDirectory, find_free_path, refuse_if_taken
    from leocod.run.experiment import load_learner

    directory = RunDirectory.open(run_directory)
    check_source(source)
    target = out or find_free_path(directory.path / "predictions" / source.resolve().stem)
    refuse_if_taken(target)
    learner, classes = load_learner(directory, device)
    with make_progress(console) as progress:
        count = write_predictions(
            source,
            target,
            learner.predict,
            classes,
            threshold=threshold,
            track=lambda predicted, total: progress.track(predicted, total=total),
            tell=say,
        )
    say(f"{pluralize(count, 'frame')}: {target}")


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

    The file is loaded again and has to find what the detector finds; else there is none. See docs/export.md.
    """
    from leocod.export.export import export as write_detector

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
