"""The commands about data: `leocod data choose`, `check` and `convert`; and what `leocod show` shares with them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from leocod.cli.options import BenchmarkOverride
from leocod.cli.terminal import console, say, show_progress
from leocod.errors import InvalidConfig

if TYPE_CHECKING:
    from leocod.benchmarks.base import Benchmark
    from leocod.data.convert import LabelChoice
    from leocod.run.config import ExperimentConfig

COSTS = (16, 8, 4, 2, 1)
"""The annotation costs of the paper, in labelled frames a step."""

WITH_COSTS = ("processed", "coco")
"""Layouts that say which frames are labelled at each cost."""

PANEL = 384
"""Pixels of the longer side of a frame on a contact sheet, at most."""

Choice = Literal["given", "drawn"]

FRAMES = 100
"""Frames that are chosen where nobody says how many: a fifth of them tests, and fewer than 20 test frames are few."""

RULE = (
    "The rule: a video is cut into equal parts, so that frames spread over its whole length. In each part, up to five "
    "places are looked at in order of time, and at each the sharpest of the frames within half a second (by the "
    "variance of the Laplacian). The first that is no near-duplicate of a frame chosen before is written: in a grid of "
    "16 x 16, at least one cell has another colour. A part in which nothing is new gives no frame."
)
"""How frames are chosen, for the help and the instructions."""

commands = typer.Typer(help="Choose frames to label, check a data set, or write one in another layout.")


@commands.callback(invoke_without_command=True)
def data(context: typer.Context) -> None:
    """Choose frames to label, check a data set, or write one in another layout."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@commands.command(help=f"Choose the frames of videos that are worth labelling, and write them to a folder.\n\n{RULE}")
def choose(
    videos: Annotated[list[Path], typer.Argument(metavar="VIDEO...", help="Video files.")],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="A new folder: images/, frames.csv, and README.md with the next steps.")
    ],
    frames: Annotated[
        int | None, typer.Option(metavar="N", min=1, help=f"Frames in all, at most. By default {FRAMES}.")
    ] = None,
    every: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0.04, help="In place of --frames: one for each so many seconds."),
    ] = None,
) -> None:
    """Choose the frames of videos that are worth labelling, and write them to a folder."""
    from leocod.data.choose import choose_frames, divide_videos
    from leocod.data.label_folder import write_label_folder
    from leocod.data.output import refuse_existing
    from leocod.text import pluralize

    refuse_existing(out)
    if frames is not None and every is not None:
        raise InvalidConfig("--frames cannot be combined with --every: each says how many frames are chosen.")
    parts = divide_videos(videos, frames=FRAMES if frames is None and every is None else frames, every=every)
    with show_progress("parts") as advance:
        counts = write_label_folder(out, videos, choose_frames(parts, advance), rule=RULE)
    for video in videos:
        looked_at = sum(part.video.path == video for part in parts)
        missing = looked_at - counts[video]
        rest = f"; {pluralize(missing, 'part')} showed nothing new" if missing else ""
        say(f"{video}: {pluralize(counts[video], 'frame')} of {pluralize(looked_at, 'part')}{rest}.")
    say(f"Written: {out / 'images'}. What to do next: {out / 'README.md'}")


@commands.command()
def check(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...", help="A folder, a file of labels or a video. Several videos or folders are one stream."
        ),
    ],
    layout: Annotated[
        Literal[
            "auto", "processed", "oak", "egoobjects", "voc", "coco", "yolo", "cvat", "label-studio", "folder", "video"
        ],
        typer.Option(help="The layout of the files; auto detects it."),
    ] = "auto",
    labels: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            help="The labels of a video or folder: COCO, YOLO, VOC, CVAT or Label Studio. For several videos: one for "
            "all, or repeated, one for each.",
        ),
    ] = None,
    classes: Annotated[
        str | None, typer.Option(metavar="A,B,C", help="Names of the classes, where labels only number them.")
    ] = None,
    frame_names: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN|FILE.csv", help="Which frame of a video a name means, as benchmark.frame_names says it."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Read only the headers of pictures.")] = False,
    most: Annotated[int, typer.Option(metavar="N", min=0, help="Problems listed of each kind; all are counted.")] = 20,
) -> None:
    """Find what is wrong with a data set, without training.

    Exit code 0: a run can use it; 1: something would stop a run; 2: there is nothing to read.
    """
    from leocod.data.check import check as check_data

    given = labels[0] if labels and len(labels) == 1 else labels
    names = None if classes is None else [name.strip() for name in classes.split(",")]
    with show_progress("pictures") as advance:
        findings = check_data(
            paths, layout, labels=given, classes=names, frame_names=frame_names, quick=quick, progress=advance
        )
    for line in findings.lines(most):
        say(line)
    if findings.breaks:
        raise typer.Exit(1)


@commands.command()
def convert(
    benchmark: Annotated[str, typer.Argument(metavar="BENCHMARK", help="See `leocod list`.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A new folder.")],
    to: Annotated[
        Literal["processed", "coco", "yolo", "voc", "cvat", "label-studio"],
        typer.Option(help="The authors' layout, a COCO json, or the format of another tool."),
    ],
    seed: Annotated[int, typer.Option(min=0, help="Seed of the benchmark, and of the draw of labelled frames.")] = 0,
    labels: Annotated[
        str | None, typer.Option(metavar="K,...", help="Annotation costs, in labelled frames a step [16,8,4,2,1].")
    ] = None,
    choice: Annotated[
        Choice, typer.Option(help="Which frames are labelled: those given with the data, where they are, or drawn.")
    ] = "given",
    link: Annotated[bool, typer.Option("--link/--copy", help="Hard links to the pictures in place of copies.")] = False,
    overrides: BenchmarkOverride = None,
) -> None:
    """Write a benchmark to files that `leocod run` and others can read.

    A run with the same seed draws the same frames.
    """
    from leocod.data.convert import convert as write
    from leocod.data.output import refuse_existing
    from leocod.text import pluralize

    refuse_existing(out)
    config, source = build_benchmark(benchmark, seed, overrides or ())
    if labels is not None and to not in WITH_COSTS:
        raise InvalidConfig(f"--labels goes with --to {' or '.join(WITH_COSTS)}: {to} cannot say it.")
    costs = _parse_costs(labels, config.frames_per_step) if to in WITH_COSTS else []
    records = {cost: _choose_labels(config, source, cost, choice) for cost in costs}
    with show_progress("steps") as advance:
        lost = write(source, out, to=to, labels=records, link=link, progress=lambda: advance(source.steps))
    say(
        f"{source.name}: {pluralize(source.steps, 'step')} and {pluralize(len(source.test), 'test frame')}"
        f"{', labelled at ' if records else ''}"
        f"{', '.join(f'{cost} ({record.count})' for cost, record in records.items())}"
        f"{' frames a step' if records else ''}: {out}"
    )
    if lost:
        console.print(f"Left out, because they cannot be read: {pluralize(lost, 'frame')}.")
    if source.unlabelled_test_frames:
        held_out = pluralize(source.unlabelled_test_frames, "held-out frame")
        console.print(f"Left out, because nobody has labelled them: {held_out}.")


def build_benchmark(name: str, seed: int, overrides: Sequence[str]) -> tuple[ExperimentConfig, Benchmark]:
    """Build a benchmark with these options, and the config of a run on it."""
    from leocod.run.config import load_mapping
    from leocod.run.layers import overlay, parse_override

    layers: list[dict[str, Any]] = [{"benchmark": {"name": name}}, {"seed": seed}]
    # `leocod run` calls the same option benchmark.steps: both names are accepted.
    layers += [{"benchmark": parse_override(text.removeprefix("benchmark."))} for text in overrides]
    # Without labels: the default may be more than the frames of a step.
    config = load_mapping(reduce(overlay, [*layers, {"labels": {"per_step": 0}}]))
    return config, config.benchmark.build(config.seed)


def _parse_costs(text: str | None, frames_per_step: int) -> list[int]:
    if text is None:
        return [cost for cost in COSTS if cost <= frames_per_step]
    words = [word.strip() for word in text.split(",")]
    costs = [int(word) if word.isascii() and word.isdigit() else 0 for word in words]
    if not all(1 <= cost <= frames_per_step for cost in costs):
        raise InvalidConfig(f"--labels is '{text}': it should be numbers from 1 to {frames_per_step}, such as 4,2,1.")
    return list(dict.fromkeys(costs))


def _choose_labels(config: ExperimentConfig, benchmark: Benchmark, cost: int, choice: Choice) -> LabelChoice:
    """Choose the labels that a run on this benchmark gets at this cost."""
    from leocod.data.convert import LabelChoice
    from leocod.run.choices import LabelsChoice
    from leocod.run.experiment import build_labeller
    from leocod.stream.recorded import Stream

    given = choice == "given" and benchmark.published_frames(cost) is not None
    labels = LabelsChoice.model_validate({"name": "fixed" if given else "random", "per_step": cost})
    labeller = build_labeller(config.model_copy(update={"labels": labels}), benchmark)
    return LabelChoice(Stream(benchmark, labeller))
