"""`leocod show`: look at a benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leocod.cli.options import BenchmarkOverride
from leocod.cli.terminal import console, say, show_progress
from leocod.errors import InvalidConfig, InvalidFrame

if TYPE_CHECKING:
    from leocod.benchmarks.base import Benchmark
    from leocod.types import Image, LabelledFrame, Labels

PANEL = 384
"""Pixels of the longer side of a frame on a contact sheet, at most."""


def show(
    benchmark: Annotated[str, typer.Argument(metavar="BENCHMARK", help="See `leocod list`.")] = "wander",
    out: Annotated[Path, typer.Option(metavar="FILE.png", help="Where to write the contact sheet.")] = Path("show.png"),
    seed: Annotated[int, typer.Option(help="Of the benchmark.")] = 0,
    classes: Annotated[int, typer.Option(metavar="N", min=0, help="Classes listed; 0: only the picture.")] = 40,
    overrides: BenchmarkOverride = None,
) -> None:
    """Look at a benchmark: a contact sheet of frames with their true boxes, and when each class is there and away.

    --set takes the benchmark's own options. Every step is looked at, but for recordings only its labels are.
    """
    from leocod.cli.data import build_benchmark

    if out.suffix.lower() != ".png":
        raise InvalidConfig(f"--out is '{out}': it should be a .png file.")
    _, shown = build_benchmark(benchmark, seed, overrides or ())
    show_benchmark(shown, out, most=classes)


def show_benchmark(benchmark: Benchmark, out: Path, *, most: int) -> None:
    """Write a contact sheet of frames from all over a benchmark, and print its figures."""
    from leocod.benchmarks.base import Recorded
    from leocod.data.overview import make_class_table, make_timeline_table, survey
    from leocod.evaluation.evaluator import spread_evenly
    from leocod.files.atomic import atomic_write
    from leocod.report.contact_sheet import draw_contact_sheet
    from leocod.text import pluralize

    pairs = [pair for step in spread_evenly(benchmark.steps, 12) for pair in list(benchmark.frames_of(step))[::4]]
    sheet = draw_contact_sheet(_read_images(benchmark, pairs[:48]), benchmark.classes, longest=PANEL)
    with atomic_write(out) as temporary:
        sheet.save(temporary, format="PNG")
    say(f"Contact sheet: {out}")
    if most == 0:
        return
    with show_progress("steps") as advance:
        overview = survey(benchmark, lambda: advance(benchmark.steps))
    problems = benchmark.problems if isinstance(benchmark, Recorded) else []
    if problems:
        console.print(f"{pluralize(len(problems), 'problem')} found in the files: `leocod data check` lists all.")
    for line in overview.lines():
        say(line)
    for make_table in (make_class_table, make_timeline_table):
        console.print()
        console.print(make_table(overview, most))
    if most < len(overview.classes):
        more = pluralize(len(overview.classes) - most, "more class", "more classes")
        console.print(f"... and {more}: --classes N lists more.")


def _read_images(benchmark: Benchmark, pairs: Sequence[LabelledFrame]) -> Iterator[tuple[Image, Labels]]:
    for frame, labels in pairs:
        try:
            yield frame.image(), labels
        except InvalidFrame as error:
            if benchmark.on_bad_frame == "stop":
                raise benchmark.fault(frame, error) from error.__cause__
