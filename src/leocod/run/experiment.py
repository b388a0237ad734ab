"""Build the parts from a config: the only place that knows all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from leocod.benchmarks.base import Benchmark
from leocod.errors import InvalidConfig, InvalidRun, LeocodError
from leocod.evaluation.evaluator import Evaluator
from leocod.files.checkpoint import damaged_error, newest_checkpoint
from leocod.files.run_directory import RunDirectory
from leocod.labelling.budget import BudgetLabeller
from leocod.labelling.fixed import FixedLabeller
from leocod.learner import Learner
from leocod.plugins.diagnosis import diagnose
from leocod.plugins.efficient_cls import EfficientCLS, FrameLabeller
from leocod.plugins.open_classes import OpenClasses
from leocod.run.allocation import keep_memory
from leocod.run.config import ExperimentConfig, load_mapping
from leocod.run.record.labels import LabelRecord
from leocod.strategies.base import Strategy
from leocod.stream.base import Steps
from leocod.stream.recorded import Stream
from leocod.stream.reshuffled import Reshuffled
from leocod.training import distributed
from leocod.types import Frame, Labels


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
    _check_device(distributed.choose_device(config.device))
    torch.set_num_threads(config.threads)
    keep_memory()
    torch.manual_seed(seeds.torch)
    benchmark = config.benchmark.build(config.seed)
    labels = LabelRecord(build_labeller(config, benchmark))
    once = Stream(benchmark, labels, workers=config.workers, patience=config.patience)
    strategy = build_strategy(config, benchmark.classes)
    strategy.check(len(benchmark.classes))

    stream: Steps = once if strategy.shuffle is None else Reshuffled(once, strategy.shuffle, seed=seeds.stream)
    learner = wrap(config, strategy, benchmark.classes, lambda frames: _truth(config, stream, frames))
    evaluator = Evaluator(
        benchmark.test,
        benchmark.classes,
        every=config.evaluate.every,
        last_step=benchmark.steps - 1,
        style=config.evaluate.ap,
        frames=config.evaluate.frames,
        start=config.evaluate.start,
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
    detector.to(distributed.choose_device(config.device), config.precision, config.frames_at_once)
    return config.strategy.build(detector, seed=seeds.strategy)


def wrap(
    config: ExperimentConfig, strategy: Strategy, classes: Sequence[str], true_labels: FrameLabeller | None
) -> Learner:
    """The strategy with the plug-in around it, if the config has it. The truth goes in for the diagnosis only."""
    learner: Learner = strategy
    if config.efficient_cls is not None:
        learner = plug_in = EfficientCLS(strategy, config.efficient_cls, seed=Seeds.of(config.seed).plug_in)
        if config.diagnosis:
            plug_in.labeller = diagnose(config.diagnosis, plug_in.labeller, true_labels or _no_truth)
    return OpenClasses(learner, classes) if config.classes == "open" else learner


def name_run(config: ExperimentConfig) -> str:
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


def load_learner(directory: RunDirectory, device: str | None = None) -> tuple[Learner, tuple[str, ...]]:
    """The learner of a run as it was saved last, and its class names."""
    found = newest_checkpoint(directory.checkpoints)
    if found is None:
        raise InvalidRun(f"{directory.path} has no checkpoint yet. The first one comes after `checkpoint.every` steps.")
    path, state = found
    config = drop_start_weights(read_config(path, state))
    if device:
        config = config.model_copy(update={"device": device})
    _check_device(config.device)
    try:
        classes = tuple(state["classes"])
        learner = wrap(config, build_strategy(config, classes), classes, None)
        learner.load_state_dict(state["learner"])
    except LeocodError:
        raise
    # The file is as it was saved, but by another version, or by somebody else.
    except Exception as error:
        raise damaged_error(path, error) from error
    return learner, classes


def read_config(path: Path, state: Mapping[str, Any]) -> ExperimentConfig:
    """What the run of a checkpoint was asked to do."""
    if not isinstance(state.get("config"), dict):
        raise InvalidRun(f"{path} is not a checkpoint of a run: it has no config.")
    try:
        return load_mapping(state["config"])
    except InvalidConfig as error:
        raise InvalidRun(f"{path} has a config that cannot be followed. {error}") from error


def _truth(config: ExperimentConfig, stream: Steps, frames: Sequence[Frame]) -> list[Labels]:
    unknown = [frame for frame in frames if frame.id not in stream.truth]
    if unknown:
        one = unknown[0]
        raise InvalidConfig(
            f"diagnosis is '{config.diagnosis}', but nobody has labelled frame {one.index} of {one.video}: "
            "it should be null, or all frames labelled."
        )
    return [stream.truth[frame.id] for frame in frames]


def drop_start_weights(config: ExperimentConfig) -> ExperimentConfig:
    """For a learner whose state has all of its weights: the file that it once started from may be gone."""
    options = config.detector.options
    if getattr(options, "weights", None) is None:
        return config
    detector = config.detector.model_copy(update={"options": options.model_copy(update={"weights": None})})
    return config.model_copy(update={"detector": detector})


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
