"""`leocod show`: look at a benchmark, or measure a profile of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leocod.cli.options import divide_threads
from leocod.cli.paper import exit_if_failed, make_plan, parse_seeds, run_plan
from leocod.cli.terminal import console, say, show_progress
from leocod.errors import InvalidConfig, InvalidFrame

if TYPE_CHECKING:
    from leocod.benchmarks.base import Benchmark
    from leocod.data.profile import Profile
    from leocod.paper.plan import Plan
    from leocod.paper.profile import StreamProfile
    from leocod.run.config import ExperimentConfig
    from leocod.types import Image, LabelledFrame, Labels

PANEL = 384
"""Pixels of the longer side of a frame on a contact sheet, at most."""

Target = Annotated[
    str,
    typer.Argument(metavar="BENCHMARK|CONFIG.yaml", help="A benchmark of `leocod list`, or a config of `leocod run`."),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Where to write the contact sheet, a .png file, by default show.png. With --profile: where to write all "
        "figures, a .json file; by default they are only shown.",
    ),
]
Seed = Annotated[int | None, typer.Option(min=0, help="Seed of the benchmark. By default that of the config, or 0.")]
Classes = Annotated[
    int, typer.Option(metavar="N", min=0, help="Classes listed; 0: only the picture. A profile lists none.")
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set an option of the benchmark: root=data/oak, steps=10. With a config file: any key of it, such as "
        "benchmark.steps=10. May be repeated.",
    ),
]
ProfileFlag = Annotated[
    bool, typer.Option("--profile", help="Measure what decides how a method fares on the stream, and show only that.")
]
Beside = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE.json", help="With --profile: show this profile beside the new one. May be repeated."),
]
ResponsesFlag = Annotated[
    bool,
    typer.Option(
        "--responses",
        help="With --profile: run the cells of `leocod paper profile`, too, and show how far the FAP of a baseline "
        "changes with fewer labels, more memory and other strategies.",
    ),
]
Seeds = Annotated[
    str | None, typer.Option(metavar="N,...", help="With --responses: the seeds of each row. By default the table's.")
]
Jobs = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="With --responses: cells at a time. By default one.")
]
Cells = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="With --responses: the folder of cells, which `leocod paper` calls --out; by default runs/paper-NAME.",
    ),
]


def show(
    target: Target = "wander",
    out: Out = None,
    seed: Seed = None,
    classes: Classes = 40,
    overrides: Overrides = None,
    profile: ProfileFlag = False,
    beside: Beside = None,
    responses: ResponsesFlag = False,
    seeds: Seeds = None,
    jobs: Jobs = None,
    cells: Cells = None,
) -> None:
    """Look at a benchmark: a contact sheet of frames with their true boxes, and when each class is there and away.

    Every step is looked at, but for recordings only its labels are. With --profile the stream is measured instead:
    density, sizes, gaps, motion, what the start knows, and how many things the labelled frames of a step show.
    """
    _check_options({"--beside": beside, "--responses": responses}, "--profile", profile)
    _check_options({"--seeds": seeds, "--jobs": jobs, "--cells": cells}, "--responses", responses)
    ending = ".json" if profile else ".png"
    if out is not None and out.suffix.lower() != ending:
        raise InvalidConfig(f"--out is '{out}': it should be a {ending} file{' with --profile' * profile}.")
    if not profile:
        _, shown = _load_target(target, seed, overrides or ())
        show_benchmark(shown, out or Path("show.png"), most=classes)
        return
    others = _read_profiles(beside or ())
    plan = _plan_responses(target, seeds, overrides or (), cells) if responses else None
    config, shown = _load_target(target, seed, overrides or ())
    made = _describe(target, config, _measure(config, shown))
    failures = run_plan(plan, jobs or 1, divide_threads(jobs)) if plan else {}
    show_profile(_add_responses(made, plan) if plan else made, others, out)
    exit_if_failed(failures)


def _check_options(given: dict[str, object], needed: str, is_there: bool) -> None:
    """Refuse options that mean nothing without another one."""
    for name, value in given.items():
        if value and not is_there:
            raise InvalidConfig(f"{name} is for {needed}: add {needed}, or leave {name} out.")


def _is_config(target: str) -> bool:
    return Path(target).suffix in (".yaml", ".yml")


def _load_target(target: str, seed: int | None, overrides: Sequence[str]) -> tuple[ExperimentConfig, Benchmark]:
    """The benchmark that is named, or that a config file names; and the config of a run on it."""
    from leocod.cli.data import build_benchmark
    from leocod.run.choices import LabelsChoice
    from leocod.run.config import load_config
    from leocod.run.layers import parse_override

    if not _is_config(target):
        config, benchmark = build_benchmark(target, seed or 0, overrides)
        # The default may be more than the frames of a step.
        most = min(LabelsChoice.model_validate({}).per_step or 0, config.frames_per_step)
        return config.model_copy(update={"labels": LabelsChoice.model_validate({"per_step": most})}), benchmark
    layers: list[dict[str, Any]] = [parse_override(text) for text in overrides]
    config = load_config(Path(target), layers if seed is None else [*layers, {"seed": seed}])
    return config, config.benchmark.build(config.seed)


def _read_profiles(files: Sequence[Path]) -> list[StreamProfile]:
    from leocod.paper.profile import read_profile

    return [read_profile(file) for file in files]


def _plan_responses(target: str, seeds: str | None, overrides: Sequence[str], cells: Path | None) -> Plan:
    if target != "wander" and not _is_config(target):
        raise InvalidConfig(
            f"--responses runs a detector on '{target}': write a config file that names both, such as "
            f"standard.yaml, and give that in place of the name."
        )
    # The benchmark's own options by their names in a config.
    short = [f"benchmark.{text.removeprefix('benchmark.')}" for text in overrides]
    plan = make_plan(
        ["profile"],
        target,
        () if seeds is None else parse_seeds(seeds),
        overrides if _is_config(target) else short,
        cells,
    )
    plan.prepare()
    return plan


def _measure(config: ExperimentConfig, benchmark: Benchmark) -> Profile:
    from leocod.data.profile import measure_profile
    from leocod.run.experiment import build_labeller
    from leocod.stream.recorded import Stream

    known = config.detector.find().known_classes(config.detector.options)
    stream = Stream(benchmark, build_labeller(config, benchmark))
    with show_progress("steps") as advance:
        return measure_profile(benchmark, known, stream.reveal, lambda: advance(benchmark.steps))


def _describe(target: str, config: ExperimentConfig, profile: Profile) -> StreamProfile:
    from leocod import __version__
    from leocod.paper.profile import StreamProfile
    from leocod.run.environment import read_command_line, read_source_state

    return StreamProfile(
        stream=Path(target).stem if _is_config(target) else target,
        leocod=__version__,
        source=read_source_state(Path(__file__).parents[1]),
        command=tuple(read_command_line()),
        config=config.model_dump(mode="json"),
        profile=profile,
    )


def _add_responses(made: StreamProfile, plan: Plan) -> StreamProfile:
    from leocod.paper.outcome import Outcome
    from leocod.paper.responses import measure_responses

    [table] = plan.tables
    return made.model_copy(update={"responses": measure_responses(Outcome.read(plan, table))})


def show_profile(made: StreamProfile, others: Sequence[StreamProfile], out: Path | None) -> None:
    """Write a profile, and print it beside others."""
    from leocod.files.atomic import write_json
    from leocod.paper.profile import make_profile_table, make_response_table

    if out is not None:
        write_json(out, made.model_dump(mode="json"), indent=2)
    console.print(make_profile_table([made, *others]), soft_wrap=True)
    if (responses := make_response_table([made, *others])) is not None:
        console.print()
        console.print(responses, soft_wrap=True)
        say("Ratios are of FAP to the first row: the mean over seeds, with the lowest and the highest.")
    if out is not None:
        say(f"Profile: {out}")


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
        more = pluralize(len(overview.classes) - most, "more class")
        console.print(f"... and {more}: --classes N lists more.")


def _read_images(benchmark: Benchmark, pairs: Sequence[LabelledFrame]) -> Iterator[tuple[Image, Labels]]:
    for frame, labels in pairs:
        try:
            yield frame.image(), labels
        except InvalidFrame as error:
            if benchmark.on_bad_frame == "stop":
                raise benchmark.fault(frame, error) from error.__cause__
