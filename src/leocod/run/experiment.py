"""Build the parts from a config: the only place that knows all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from leocod.benchmarks.base import Benchmark
from leocod.detectors.base import Detector
from leocod.errors import InvalidConfig, InvalidRun, LeocodError
from leocod.evaluation.evaluator import Evaluator
from leocod.evaluation.retest import Retest
from leocod.files.checkpoint import make_damaged_error
from leocod.files.run_directory import RunDirectory
from leocod.labelling.base import Labeller
from leocod.learner import Learner
from leocod.plugins import diagnosis
from leocod.plugins.diagnosis import Truth, TruthObserver, diagnose
from leocod.plugins.efficient_cls import EfficientCLS
from leocod.plugins.open_classes import OpenClasses
from leocod.run.allocation import keep_memory
from leocod.run.config import ExperimentConfig
from leocod.run.earlier import build_retests, drop_start, go_on, leave_out_known_labels, read_config, read_newest_state
from leocod.run.parts import Parts, RunFacts
from leocod.run.plugin import is_plus
from leocod.strategies.base import Strategy
from leocod.stream.added_labels import AddedLabels
from leocod.stream.base import Steps
from leocod.stream.recorded import Stream, describe_stream
from leocod.stream.reshuffled import Reshuffled
from leocod.text import pluralize
from leocod.training import distributed
from leocod.types import Frame, Labels
from leocod.weights.names import find_row
from leocod.weights.saved import find_deployed


@dataclass(frozen=True)
class Seeds:
    """One seed for each purpose, all from one: drawing more for one purpose changes nothing for another."""

    labels: int
    detector: int
    strategy: int
    plugin: int
    stream: int
    torch: int

    @staticmethod
    def of(seed: int) -> Seeds:
        return Seeds(*np.random.SeedSequence(seed).generate_state(6).tolist())


@dataclass(frozen=True)
class Experiment:
    """The parts that a config names, ready to go."""

    config: ExperimentConfig
    benchmark: Benchmark
    labeller: Labeller
    stream: Steps
    learner: Learner
    evaluator: Evaluator
    known_classes: tuple[str, ...] | None = None
    """The benchmark's classes that the learner knows at the start; None where nothing depends on it."""
    retests: tuple[Retest, ...] = ()

    @property
    def parts(self) -> Parts:
        """What a run takes."""
        config, plugin = self.config, self.config.efficient_cls
        return Parts(
            self.stream,
            self.learner,
            self.evaluator,
            RunFacts(
                benchmark=config.benchmark.name,
                detector=config.detector.name,
                strategy=config.strategy.name,
                efficient_cls=plugin is not None,
                ema=plugin is not None and plugin.ema,
                pseudo_labels=plugin is not None and plugin.pseudo_labels,
                plus=plugin is not None and is_plus(plugin, config.strategy.name, config.strategy.options),
                labels_per_step=config.labels.per_step,
                labels_nested=bool(getattr(config.labels.options, "nested", False)),
                seed=config.seed,
                diagnosis=diagnosis.WORDS[config.diagnosis] if config.diagnosis else None,
            ),
            config=config.model_dump(mode="json"),
            definitions=config.evaluate.definitions,
            metrics=config.evaluate.metrics,
            labelling=self.labeller.describe(),
            checkpoint=config.checkpoint,
            record=config.record,
            bad_steps=config.bad_steps,
            threads=config.threads,
            device=config.device,
            known_classes=self.known_classes,
            lost_test_frames=self.benchmark.lost_test_frames,
            known_labels=self.benchmark.known if isinstance(self.benchmark, AddedLabels) else None,
            retests=self.retests,
        )


def build(config: ExperimentConfig) -> Experiment:
    """Every part that the config names. Writes nothing."""
    seeds = Seeds.of(config.seed)
    _check_device(distributed.choose_device(config.device))
    torch.set_num_threads(config.threads)
    keep_memory()
    torch.manual_seed(seeds.torch)
    benchmark = leave_out_known_labels(config, config.benchmark.build(config.seed))
    labeller = build_labeller(config, benchmark)
    once = Stream(benchmark, labeller, workers=config.workers, patience=config.patience)
    strategy = build_strategy(drop_start(config) if config.earlier_run else config, benchmark.classes)
    strategy.check(len(benchmark.classes))
    stream: Steps = once if strategy.shuffle is None else Reshuffled(once, strategy.shuffle, seed=seeds.stream)
    observed = TruthObserver(stream)
    learner = wrap(config, strategy, benchmark.classes, observed.true_labels)
    if config.earlier_run is not None:
        go_on(config, learner)
    retests = build_retests(config, learner)
    evaluator = Evaluator(
        benchmark.test,
        benchmark.classes,
        every=config.evaluate.every,
        last_step=benchmark.steps - 1,
        style=config.evaluate.ap,
        frames=config.evaluate.frames,
        start=config.evaluate.start or bool(retests),
        prequential=config.evaluate.prequential,
    )
    return Experiment(
        config,
        benchmark,
        labeller,
        observed if config.diagnosis else stream,
        learner,
        evaluator,
        list_known_classes(config, benchmark.classes, learner),
        retests,
    )


def build_labeller(config: ExperimentConfig, benchmark: Benchmark) -> Labeller:
    """The labeller that the config names."""
    return config.labels.build(seed=Seeds.of(config.seed).labels, stream=describe_stream(benchmark))


def build_strategy(config: ExperimentConfig, classes: Sequence[str]) -> Strategy:
    """The strategy around its detector. With an open class list, the detector has the classes of its weights."""
    known = config.detector.find().known_classes(config.detector.options) if config.classes == "open" else classes
    return config.strategy.build(build_detector(config, known), seed=Seeds.of(config.seed).strategy)


def build_detector(config: ExperimentConfig, classes: Sequence[str]) -> Detector:
    """The detector that the config names, where it should compute."""
    detector = config.detector.find()(tuple(classes), config.detector.options, seed=Seeds.of(config.seed).detector)
    return detector.to(distributed.choose_device(config.device), config.precision, config.frames_at_once)


def list_known_classes(config: ExperimentConfig, classes: Sequence[str], learner: Learner) -> tuple[str, ...] | None:
    """Those of the classes that the detector knows from its starting weights or an earlier run, however spelt there.

    None without pseudo labels: nothing is counted by it, and a large file of weights need not be read twice.
    """
    if config.efficient_cls is None or not config.efficient_cls.pseudo_labels:
        return None
    by_weights = config.detector.find().known_classes
    known = learner.classes if config.earlier_run else by_weights(config.detector.options)
    return tuple(name for name in classes if find_row(name, known) is not None)


def wrap(config: ExperimentConfig, strategy: Strategy, classes: Sequence[str], true_labels: Truth | None) -> Learner:
    """The strategy with the plug-in around it, if the config has it. The truth goes in for the diagnosis only."""
    learner: Learner = strategy
    if config.efficient_cls is not None:
        learner = plugin = EfficientCLS(strategy, config.efficient_cls, seed=Seeds.of(config.seed).plugin)
        if config.diagnosis:
            diagnose(plugin, config.diagnosis, true_labels or _refuse_truth)
    return OpenClasses(learner, classes) if config.classes == "open" else learner


def name_run(config: ExperimentConfig, steps: int | None = None) -> str:
    """What a run's directory is called when nobody says; with the length of the stream, if one is given."""
    plugin = _name_plugin(config)
    diagnosis = f"-{config.diagnosis}" if config.diagnosis else ""
    length = "" if steps is None else f"-{pluralize(steps, 'step').replace(' ', '')}"
    budget = f"{_name_budget(config)}{length}"
    name = f"{config.benchmark.name}-{config.strategy.name}{plugin}-{budget}-seed{config.seed}{diagnosis}"
    return name.replace(":", ".")


def _name_budget(config: ExperimentConfig) -> str:
    """The labelled frames as a run's name has them: 4of16, 480intotal, 60perhour."""
    options = config.labels.options
    if options.per_step is not None:
        return f"{options.per_step}of{config.frames_per_step}"
    return f"{options.total}intotal" if options.total is not None else f"{options.per_hour:g}perhour"


def _name_plugin(config: ExperimentConfig) -> str:
    """The plug-in as a run's name has it: whole, with all that the next one adds, or the half that is on."""
    options = config.efficient_cls
    if options is None or not (options.ema or options.pseudo_labels):
        return ""
    if not (options.ema and options.pseudo_labels):
        return "+ema" if options.ema else "+pseudo"
    return "+plus" if is_plus(options, config.strategy.name, config.strategy.options) else "+ecls"


def load_learner(directory: RunDirectory, device: str | None = None) -> tuple[Learner, tuple[str, ...]]:
    """The learner of a run as it was saved last, and its class names."""
    path, state = read_newest_state(directory)
    config = _place(read_config(path, state), device)
    with _explain_damage(path):
        classes = tuple(state["classes"])
        learner: Learner = wrap(config, build_strategy(config, classes), classes, None)
        learner.load_state_dict(state["learner"])
        if isinstance(learner, OpenClasses):
            # Whoever uses it wants all that it has learnt, also what this stream has no name for.
            learner, classes = learner.learner, learner.classes
    return learner, classes


def load_detector(directory: RunDirectory, device: str | None = None) -> Detector:
    """The deployed detector of a run as it was saved last: the slow learner where there is one.

    Nothing else of the run is built, so that the module of its strategy, its benchmark or its metrics may be elsewhere.
    """
    path, state = read_newest_state(directory)
    with _explain_damage(path):
        saved = find_deployed(state)
    if saved is None:
        return load_learner(directory, device)[0].deployed_detector
    config = _place(read_config(path, state, detector_only=True), device)
    with _explain_damage(path):
        detector = build_detector(config, saved["classes"])
        detector.load_state_dict(saved)
    return detector


def _place(config: ExperimentConfig, device: str | None) -> ExperimentConfig:
    """The config of something that has learnt already, for a device of this machine."""
    placed = drop_start(config).model_copy(update={"device": device} if device else {})
    _check_device(placed.device)
    return placed


@contextmanager
def _explain_damage(path: Path) -> Iterator[None]:
    """The file is as it was saved, but by another version, or by somebody else."""
    try:
        yield
    except LeocodError:
        raise
    except Exception as error:
        raise make_damaged_error(path, error) from error


def _refuse_truth(frames: Sequence[Frame]) -> Sequence[Labels]:
    """A learner that only predicts needs no truth. If it learnt on, the diagnosis would be wrong."""
    raise InvalidRun("Only the benchmark of this diagnosis knows the true boxes: its learner cannot learn on its own.")


def _check_device(name: str) -> None:
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        raise InvalidConfig(
            f"device is '{name}': it should be cpu, or one that torch finds on this machine."
        ) from error
