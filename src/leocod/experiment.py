"""Build the parts from a config and drive them: the only place that knows all of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch

from leocod import team
from leocod.benchmarks.base import Benchmark, Reshuffled, Steps, Stream
from leocod.config import ExperimentConfig, load_mapping
from leocod.efficient_cls import EfficientCLS, FrameLabeller
from leocod.environment import command_line, environment
from leocod.errors import InvalidConfig, InvalidRun
from leocod.evaluation.evaluator import Evaluator
from leocod.events import Evaluated, RunStarted
from leocod.gradients import digest
from leocod.labelling import BudgetLabeller, FixedLabeller
from leocod.learner import Learner
from leocod.loop import run
from leocod.open_classes import OpenClasses
from leocod.report.report import write_report
from leocod.rundir import RunDirectory, write_json, write_text
from leocod.sinks.base import Sink
from leocod.sinks.checkpoints import Checkpoints, load_checkpoint
from leocod.sinks.detections import DetectionFiles, coco_truth
from leocod.sinks.jsonl import JsonLines
from leocod.sinks.labels import LabelRecord
from leocod.sinks.results import ResultsFile
from leocod.sinks.samples import Samples
from leocod.sinks.tensorboard import TensorBoard
from leocod.strategies.base import Strategy
from leocod.types import Frame, Labels

DIAGNOSES = {"true_boxes": "true boxes as pseudo labels"}
"""A diagnosis as every output names it."""


@dataclass(frozen=True)
class Seeds:
    """One seed for each purpose, all from one: drawing more for one purpose changes nothing for another."""

    labels: int
    detector: int
    strategy: int
    plug_in: int
    stream: int
    torch: int

    @staticmethod
    def of(seed: int) -> Seeds:
        return Seeds(*np.random.SeedSequence(seed).generate_state(6).tolist())


@dataclass(frozen=True)
class Experiment:
    """The parts of a run, ready to go."""

    config: ExperimentConfig
    benchmark: Benchmark
    labels: LabelRecord
    stream: Steps
    learner: Learner
    evaluator: Evaluator


def build(config: ExperimentConfig) -> Experiment:
    """Every part that the config names. Writes nothing."""
    seeds = Seeds.of(config.seed)
    _check_device(team.place(config.device))
    torch.set_num_threads(config.threads)
    torch.manual_seed(seeds.torch)
    benchmark: Benchmark = config.benchmark.find()(config.benchmark.options, seed=config.seed)
    labels = LabelRecord(build_labeller(config, benchmark))
    once = Stream(benchmark, labels, workers=config.workers)
    strategy = build_strategy(config, benchmark.classes)
    strategy.check(len(benchmark.classes))

    stream: Steps = once if strategy.shuffle is None else Reshuffled(once, strategy.shuffle, seed=seeds.stream)
    learner = wrapped(config, strategy, benchmark.classes, lambda frames: _truth(stream, frames))
    evaluator = Evaluator(
        benchmark.test,
        benchmark.classes,
        every=config.evaluate.every,
        last_step=benchmark.steps - 1,
        style=config.evaluate.ap,
    )
    return Experiment(config, benchmark, labels, stream, learner, evaluator)


def build_labeller(config: ExperimentConfig, benchmark: Benchmark) -> BudgetLabeller | FixedLabeller:
    """Who labels: a budget that is drawn, or the choice that comes with the data."""
    options = config.labels
    if options.choice == "drawn":
        seed = Seeds.of(config.seed).labels if options.seed is None else options.seed
        return BudgetLabeller(options.per_step, seed=seed, nested=options.nested)
    chosen = benchmark.given(options.per_step)
    if chosen is None:
        raise InvalidConfig(
            f"labels.choice is 'given', but {benchmark.name} gives no choice of {options.per_step} frames a step: "
            "it should be 'drawn', or labels.per_step another cost."
        )
    return FixedLabeller(chosen, per_step=options.per_step)


def build_strategy(config: ExperimentConfig, classes: Sequence[str]) -> Strategy:
    """The strategy around its detector. With an open class list, the detector has the classes of its weights."""
    seeds = Seeds.of(config.seed)
    kind, options = config.detector.find(), config.detector.options
    known = kind.known_classes(options) if config.classes == "open" else tuple(classes)
    detector = kind(known, options, seed=seeds.detector)
    detector.to(team.place(config.device), config.precision, config.frames_at_once)
    strategy: Strategy = config.strategy.find()(detector, config.strategy.options, seed=seeds.strategy)
    return strategy


def wrapped(
    config: ExperimentConfig, strategy: Strategy, classes: Sequence[str], true_labels: FrameLabeller | None
) -> Learner:
    """The strategy with the plug-in around it, if the config has it. The truth goes in for the diagnosis only."""
    learner: Learner = strategy
    if config.efficient_cls is not None:
        labeller = (true_labels or _no_truth) if config.diagnosis == "true_boxes" else None
        learner = EfficientCLS(strategy, config.efficient_cls, seed=Seeds.of(config.seed).plug_in, labeller=labeller)
    return OpenClasses(learner, classes) if config.classes == "open" else learner


def run_name(config: ExperimentConfig) -> str:
    """What a run's directory is called when nobody says."""
    plug_in = _plug_in(config)
    diagnosis = f"-{config.diagnosis}" if config.diagnosis else ""
    name = (
        f"{config.benchmark.name}-{config.strategy.name}{plug_in}"
        f"-{config.labels.per_step}of{config.frames_per_step}-seed{config.seed}{diagnosis}"
    )
    return name.replace(":", ".")


def _plug_in(config: ExperimentConfig) -> str:
    """The plug-in as a run's name has it: whole, or the half that is on."""
    options = config.efficient_cls
    if options is None or not (options.ema or options.pseudo_labels):
        return ""
    return "+ecls" if options.ema and options.pseudo_labels else "+ema" if options.ema else "+pseudo"


def run_experiment(config: ExperimentConfig, out: Path, sinks: Sequence[Sink] = ()) -> dict[str, Any] | None:
    """Run it all into a new directory; returns the content of results.json.

    The parts are built before the directory is made, so that a mistake leaves nothing behind. Of several processes that
    learn as one, the first writes; the others return None.
    """
    experiment = build(config)
    if team.rank():
        _drive(experiment, out.name, [])
        return None
    directory = RunDirectory.create(out)
    _write_start(experiment, directory)
    experiment.labels.path = directory.labels
    results = ResultsFile(
        directory.results,
        _about(config),
        experiment.labels,
        config.evaluate.metrics,
        single_pass=experiment.learner.single_pass,
        lost_test_frames=experiment.benchmark.lost_test_frames,
    )
    checkpoints = Checkpoints(
        directory.checkpoints,
        experiment.learner,
        every=config.checkpoint.every,
        keep=config.checkpoint.keep,
        config=config.model_dump(mode="json"),
    )
    own: list[Sink] = [
        JsonLines(directory.events),
        TensorBoard(directory.tensorboard),
        DetectionFiles(directory.detections),
        checkpoints,
        experiment.labels,
        Samples(directory.samples, experiment.benchmark, experiment.learner),
        results,
    ]
    _drive(experiment, out.name, [*sinks, *own])
    write_json(directory.memory, _memory(experiment), indent=2)
    write_report([directory.path], directory.report)
    return results.content


def _drive(experiment: Experiment, name: str, sinks: Sequence[Sink]) -> None:
    with ExitStack() as stack:
        readers = [stack.enter_context(sink) for sink in sinks]
        started = RunStarted(name, experiment.benchmark.classes, len(experiment.stream), first_step=0)
        for reader in readers:
            reader(started)
        for event in run(experiment.stream, experiment.learner, experiment.evaluator):
            if isinstance(event, Evaluated):
                team.agree("The weights", lambda: digest(experiment.learner.in_use.state_dict()["weights"]))
            for reader in readers:
                reader(event)


def _write_start(experiment: Experiment, directory: RunDirectory) -> None:
    """What is known before the first step."""
    config, benchmark = experiment.config, experiment.benchmark
    write_text(directory.config, config.to_yaml())
    about = environment(threads=config.threads, device=config.device, command=command_line())
    write_json(directory.environment, about, indent=2)
    write_json(directory.test, coco_truth(benchmark.test, benchmark.classes))


def _about(config: ExperimentConfig) -> dict[str, Any]:
    return {
        "benchmark": config.benchmark.name,
        "detector": config.detector.name,
        "strategy": config.strategy.name,
        "efficient_cls": config.efficient_cls is not None,
        "ema": config.efficient_cls is not None and config.efficient_cls.ema,
        "pseudo_labels": config.efficient_cls is not None and config.efficient_cls.pseudo_labels,
        "labels_per_step": config.labels.per_step,
        "labels_nested": config.labels.nested,
        "seed": config.seed,
        "diagnosis": DIAGNOSES[config.diagnosis] if config.diagnosis else None,
    }


def _memory(experiment: Experiment) -> dict[str, Any]:
    memory = experiment.learner.memory
    if memory is None:
        return {"bytes": experiment.stream.bytes, "frames": 0, "by_class": {}}
    return {
        "bytes": memory.bytes,
        "frames": len(memory),
        "by_class": {
            name: {"frames": memory.count(number), "seen": memory.seen.get(number, 0)}
            for number, name in enumerate(experiment.learner.classes)
        },
    }


def load_learner(directory: RunDirectory, device: str | None = None) -> tuple[Learner, tuple[str, ...]]:
    """The learner of a run as it was saved last, and its class names."""
    path = directory.newest_checkpoint()
    try:
        state = load_checkpoint(path)
        config = load_mapping(_without_start(state["config"]) | ({"device": device} if device else {}))
        classes = tuple(state["classes"])
        _check_device(config.device)
        learner = wrapped(config, build_strategy(config, classes), classes, None)
        learner.load_state_dict(state["learner"])
    except (UnpicklingError, KeyError, RuntimeError, EOFError, OSError) as error:
        raise InvalidRun(f"{path} cannot be loaded ({type(error).__name__}: {str(error).splitlines()[0]}).") from error
    return learner, classes


def _truth(stream: Steps, frames: Sequence[Frame]) -> list[Labels]:
    unknown = [frame for frame in frames if frame.id not in stream.truth]
    if unknown:
        raise InvalidConfig(
            f"diagnosis is 'true_boxes', but nobody has labelled frame {unknown[0].index} of {unknown[0].video}: it "
            "should be null, or all frames labelled."
        )
    return [stream.truth[frame.id] for frame in frames]


def _without_start(config: dict[str, Any]) -> dict[str, Any]:
    """For a learner whose state has all of its weights: the file that it once started from may be gone."""
    detector = config["detector"]
    return config | {"detector": detector | {"weights": None}} if "weights" in detector else config


def _no_truth(frames: Sequence[Frame]) -> Sequence[Labels]:
    """A learner that is only looked at has nothing to be told; were it to go on, the diagnosis would not be one."""
    raise InvalidRun("The true boxes of this diagnosis are known to its benchmark only: it cannot learn on its own.")


def _check_device(name: str) -> None:
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        raise InvalidConfig(
            f"device is '{name}': it should be cpu, or one that torch finds on this machine."
        ) from error
