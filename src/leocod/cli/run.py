"""`leocod run`: learn from a stream, or resume an interrupted run."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leocod.cli.drawing_ahead import draw_ahead
from leocod.cli.options import Device, Override, PlugIn, drop_missing
from leocod.cli.terminal import announce_start, console, errors, say
from leocod.errors import Interrupted, InvalidConfig, LeocodError, RunExists
from leocod.text import pluralize

if TYPE_CHECKING:
    from leocod.evaluation.results import Results
    from leocod.run.config import ExperimentConfig


def run(
    config: Annotated[
        Path | None,
        typer.Argument(
            metavar="[CONFIG.yaml]",
            help="A config file; without one, the quickstart. "
            "With leocod come egoobjects.yaml, first_edition.yaml, oak.yaml and standard.yaml.",
        ),
    ] = None,
    benchmark: Annotated[str | None, typer.Option(help="What to learn from; see `leocod list`.")] = None,
    detector: Annotated[str | None, typer.Option(help="The network; see `leocod list`.")] = None,
    strategy: Annotated[str | None, typer.Option(help="The continual-learning method; see `leocod list`.")] = None,
    plugin: PlugIn = None,
    efficient_cls: Annotated[
        bool | None,
        # What --plugin was before there were two.
        typer.Option("--efficient-cls/--no-efficient-cls", hidden=True),
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
    earlier: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="RUN",
            help="Go on with a new stream from all that RUN has learnt; its config, with what you change.",
        ),
    ] = None,
    new_labels: Annotated[
        bool,
        typer.Option("--new-labels", help="With --from and the same data: learn only labels that RUN did not have."),
    ] = False,
) -> None:
    """Learn from a stream, evaluate on the way, and leave a run directory with a report.

    Without arguments this is the quickstart: a short stretch of the built-in world, the tiny detector, replay with
    Efficient-CLS, 4 of 16 frames labelled. Defaults, config file, options, --set: the last one wins.
    """
    announce_start()
    layers: list[dict[str, Any]] = [
        {"benchmark": benchmark, "detector": detector, "strategy": strategy},
        {"seed": seed, "device": device, "threads": threads},
        {
            "labels": drop_missing(per_step=labels) or None,
            "evaluate": drop_missing(every=evaluate_every) or None,
            "benchmark": drop_missing(steps=steps) or None,
        },
    ]
    layers = [{key: value for key, value in layer.items() if value is not None} for layer in layers]
    plugin = _choose_plugin(plugin, efficient_cls)
    if plugin is not None:
        layers.append({"plugin": plugin})
    if plugin == "none" and any(text.startswith("efficient_cls.") for text in overrides or ()):
        raise InvalidConfig("--plugin none cannot be combined with --set efficient_cls.OPTION: remove one of them.")
    if new_labels and not earlier:
        raise InvalidConfig("--new-labels needs --from RUN: the run that had the labels before.")
    layers += [{"new_labels_since": str(earlier)}] if new_labels else []
    if not (config or benchmark or overrides or resume or earlier):
        draw_ahead(steps, seed)
    chosen = _choose_config(config, layers, overrides or (), out=out, resume=resume, earlier=earlier)

    from leocod.files.run_directory import refuse_if_taken
    from leocod.report.reading import Run
    from leocod.report.summary import tell_silence
    from leocod.run.session import run_experiment
    from leocod.sinks.console import results_table
    from leocod.training import distributed

    directory = resume or out or _choose_directory(chosen, quickstart=config is None)
    with _explain_resume(directory), distributed.process_group(chosen.device):
        if resume:
            results = _resume(chosen, directory)
        else:
            # Checked first, not after the world has been built.
            distributed.check_on_rank0(lambda: refuse_if_taken(directory))
            results = run_experiment(chosen, directory)
    if results is not None:
        console.print(results_table(results))
        for line in tell_silence(Run.load(directory)):
            say(line)
        say(f"Report: {directory / 'report.html'}")


def _choose_config(
    file: Path | None,
    layers: Sequence[Mapping[str, Any]],
    overrides: Sequence[str],
    *,
    out: Path | None,
    resume: Path | None,
    earlier: Path | None,
) -> ExperimentConfig:
    """The config that all options together ask for."""
    from leocod.files.run_directory import RunDirectory
    from leocod.run.config import load_config, load_run_config, load_successor_config
    from leocod.run.layers import parse_override

    if resume and out:
        raise InvalidConfig("--out cannot be combined with --resume: a resumed run stays in its directory.")
    if resume and earlier:
        raise InvalidConfig("--from cannot be combined with --resume: a resumed run knows what it began with.")
    layers = [*layers, *(parse_override(text) for text in overrides)]
    if earlier:
        return load_successor_config(RunDirectory.open(earlier), file, layers)
    if resume and not file:
        return load_run_config(RunDirectory.open(resume).config, layers)
    return load_config(file, layers)


def _choose_plugin(name: str | None, efficient_cls: bool | None) -> str | None:
    if name is not None and efficient_cls is not None:
        raise InvalidConfig(
            "--plugin cannot be combined with --efficient-cls or --no-efficient-cls: remove one of them."
        )
    return name if efficient_cls is None else "efficient_cls" if efficient_cls else "none"


def _choose_directory(config: ExperimentConfig, *, quickstart: bool) -> Path:
    """A new directory under runs/. Its name has the number of steps where that is not the usual one."""
    from leocod.files.run_directory import find_free_path
    from leocod.run.config import load_config
    from leocod.run.experiment import name_run

    options, quick = config.benchmark.options, load_config().benchmark
    field = type(options).model_fields.get("steps")
    usual = field.default if field else None
    if quickstart and quick.name == config.benchmark.name:
        usual = getattr(quick.options, "steps", usual)
    steps = getattr(options, "steps", None)
    return find_free_path(Path("runs") / name_run(config, None if steps == usual else steps))


def _resume(config: ExperimentConfig, path: Path) -> Results | None:
    """Resume a run, from whatever directory it was started in."""
    from leocod.files.run_directory import RunDirectory
    from leocod.run.session import read_finished, resume_experiment
    from leocod.run.working_directory import change_to_start, explain_lost_paths

    directory, described = RunDirectory(path), config.model_dump(mode="json")
    if read_finished(directory) is not None:
        say(f"{path} has finished already: nothing is left to do.")
    elif not any(directory.checkpoints.glob("*")):
        minutes = config.checkpoint.minutes
        often = "" if minutes is None else f" and every {minutes:g} minutes"
        say(
            f"{path} has no checkpoint yet, so it begins again. It saves every "
            f"{pluralize(config.checkpoint.every, 'step')}{often}; for more, add --set checkpoint.every=10."
        )
    with explain_lost_paths(directory, described, "run --resume"), change_to_start(directory, described) as found:
        return resume_experiment(config, found.path)


@contextmanager
def _explain_resume(directory: Path) -> Iterator[None]:
    """Add to an error how the run can be resumed."""
    try:
        yield
    except KeyboardInterrupt as error:
        say(f"leocod: interrupted. {_resume_command(directory) or 'Nothing was written.'}", errors)
        # Python's own is without a number, and by Ctrl-C.
        raise typer.Exit(128 + (error.args[0] if error.args else signal.SIGINT)) from None
    except Interrupted as error:
        say(f"leocod: {error} {_resume_command(directory)}", errors)
        raise typer.Exit(128 + error.signal) from None
    # Refused before anything began: there is nothing to resume.
    except (InvalidConfig, RunExists):
        raise
    except LeocodError as error:
        raise LeocodError(f"{error} {_resume_command(directory)}") from error


def _resume_command(directory: Path) -> str:
    begun = (directory / "config.yaml").exists()
    return f"Resume it with: leocod run --resume {shlex.quote(str(directory))}" if begun else ""
