"""The command line. Heavy imports are inside the commands, so that --help answers at once."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from leocod import __version__
from leocod.cli.data import Override as BenchmarkOverride
from leocod.cli.data import commands as data_commands
from leocod.cli.data import say as _say
from leocod.cli.list import list_parts
from leocod.cli.paper import paper
from leocod.cli.score import score
from leocod.errors import Interrupted, InvalidConfig, LeocodError, RunExists
from leocod.text import pluralize

console = Console(highlight=False)
errors = Console(stderr=True, highlight=False, soft_wrap=True)

# Newer versions of typer carry their own copy of click, so the class is found through typer.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]


class _OneLineErrors(TyperGroup):
    """An error that a user can fix is one line on stderr and exit code 2. Anything else is our mistake: a traceback."""

    def make_context(self, info_name: str | None, args: list[str], *others: Any, **more: Any) -> Any:
        given = list(args)
        try:
            return super().make_context(info_name, args, *others, **more)
        except UsageError as error:
            # Without arguments the "error" is the help text.
            raise (exit_with_message(error) if given else error) from error

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (LeocodError, UsageError) as error:
            raise exit_with_message(error) from error


def exit_with_message(error: Exception) -> typer.Exit:
    """Print an error as one line; the exit to raise."""
    text = error.format_message() if hasattr(error, "format_message") else str(error)
    _say(f"leocod: {' '.join(text.split())}", errors)
    return typer.Exit(2)


app = typer.Typer(
    name="leocod",
    cls=_OneLineErrors,
    help="Online continual object detection from video in which few frames are labelled.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Override = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Set any key, e.g. strategy.memory_per_class=10. May be repeated."),
]
Device = Annotated[str | None, typer.Option(help="Where the detector runs: cpu, cuda, cuda:1, mps.")]


app.add_typer(data_commands, name="data")
app.command("list")(list_parts)
app.command()(paper)
app.command()(score)


def _version(wanted: bool) -> None:
    if wanted:
        console.print(f"leocod {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Online continual object detection from video in which few frames are labelled."""


@app.command()
def run(
    config: Annotated[
        Path | None, typer.Argument(metavar="[CONFIG.yaml]", help="A config file; without one, the quickstart.")
    ] = None,
    benchmark: Annotated[str | None, typer.Option(help="What to learn from; see `leocod list`.")] = None,
    detector: Annotated[str | None, typer.Option(help="The network; see `leocod list`.")] = None,
    strategy: Annotated[str | None, typer.Option(help="The continual-learning method; see `leocod list`.")] = None,
    efficient_cls: Annotated[
        bool | None,
        typer.Option("--efficient-cls/--no-efficient-cls", help="With Efficient-CLS around the strategy, or without."),
    ] = None,
    labels: Annotated[int | None, typer.Option(metavar="K", help="Labelled frames in each step of 16.")] = None,
    steps: Annotated[int | None, typer.Option(metavar="N", help="Length of the stream in steps.")] = None,
    evaluate_every: Annotated[
        int | None, typer.Option(metavar="N", help="Steps from one evaluation to the next.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random.")] = None,
    device: Device = None,
    threads: Annotated[int | None, typer.Option(metavar="N", help="CPU threads.")] = None,
    overrides: Override = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Run directory; by default a new one under runs/.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="RUN", help="Resume an interrupted run with its own config.")
    ] = None,
) -> None:
    """Learn from a stream, evaluate on the way, and leave a run directory with a report.

    Without arguments this is the quickstart: a short stretch of the built-in world, the tiny detector, replay with
    Efficient-CLS, 4 of 16 frames labelled. Defaults, config file, options, --set: the last one wins.
    """
    from leocod.run.config import load_config, load_run_config
    from leocod.run.layers import parse_override

    layers: list[dict[str, Any]] = [
        {"benchmark": benchmark, "detector": detector, "strategy": strategy},
        {"seed": seed, "device": device, "threads": threads},
        {"labels": _given(per_step=labels), "evaluate": _given(every=evaluate_every), "benchmark": _given(steps=steps)},
    ]
    layers = [{key: value for key, value in layer.items() if value is not None} for layer in layers]
    if efficient_cls is not None:
        layers.append({"efficient_cls": {} if efficient_cls else None})
    if efficient_cls is False and any(text.startswith("efficient_cls.") for text in overrides or ()):
        raise InvalidConfig(
            "--no-efficient-cls cannot be combined with --set efficient_cls.OPTION: remove one of them."
        )
    layers += [parse_override(text) for text in overrides or ()]
    if resume and out:
        raise InvalidConfig("--out cannot be combined with --resume: a resumed run stays in its directory.")

    from leocod.files.run_directory import RunDirectory

    stored = RunDirectory.open(resume).config if resume and not config else None
    chosen = load_run_config(stored, layers) if stored else load_config(config, layers)

    from leocod.files.run_directory import find_free_path, refuse_if_taken
    from leocod.run.experiment import name_run
    from leocod.run.session import resume_experiment, run_experiment
    from leocod.sinks.console import results_table
    from leocod.training import distributed

    directory = resume or out or find_free_path(Path("runs") / name_run(chosen))
    with _explain_resume(directory), distributed.process_group(chosen.device):
        if resume:
            results = resume_experiment(chosen, directory)
        else:
            # Checked first, not after the world has been built.
            distributed.check_on_rank0(lambda: refuse_if_taken(directory))
            results = run_experiment(chosen, directory)
    if results is not None:
        console.print(results_table(results))
        _say(f"Report: {directory / 'report.html'}")


@contextmanager
def _explain_resume(directory: Path) -> Iterator[None]:
    """Add to an error how the run can be resumed."""
    try:
        yield
    except KeyboardInterrupt as error:
        _say(f"leocod: interrupted. {_resume_command(directory) or 'Nothing was written.'}", errors)
        # Python's own is without a number, and by Ctrl-C.
        raise typer.Exit(128 + (error.args[0] if error.args else signal.SIGINT)) from None
    except Interrupted as error:
        _say(f"leocod: {error} {_resume_command(directory)}", errors)
        raise typer.Exit(128 + error.signal) from None
    # Refused before anything began: there is nothing to resume.
    except (InvalidConfig, RunExists):
        raise
    except LeocodError as error:
        raise LeocodError(f"{error} {_resume_command(directory)}") from error


def _resume_command(directory: Path) -> str:
    begun = (directory / "config.yaml").exists()
    return f"Resume it with: leocod run --resume {shlex.quote(str(directory))}" if begun else ""


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write; by default into the run, or report.html.")
    ] = None,
) -> None:
    """Write the report of a run again, or of several runs side by side."""
    from leocod.report.report import write_report

    file = out or (runs[0] / "report.html" if len(runs) == 1 else Path("report.html"))
    _say(f"Report: {write_report(runs, file)}")


@app.command()
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
    from leocod.cli.data import build_benchmark, show_benchmark

    if out.suffix.lower() != ".png":
        raise InvalidConfig(f"--out is '{out}': it should be a .png file.")
    _, shown = build_benchmark(benchmark, seed, overrides or ())
    show_benchmark(shown, out, most=classes)


@app.command()
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
            tell=_say,
        )
    _say(f"{pluralize(count, 'frame')}: {target}")


@app.command()
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
    _say(compared.summary)
    _say(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


@app.command()
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
    make_weights(validate(PretrainOptions, values), out, tell=_say)


def _given(**values: Any) -> dict[str, Any] | None:
    """The values that are there; None when none is."""
    return {key: value for key, value in values.items() if value is not None} or None
