"""Earlier runs: go on from one with a new stream, and try the test frames of others again."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leocod.benchmarks.base import Benchmark
from leocod.errors import InvalidConfig, InvalidRun
from leocod.evaluation.evaluator import Evaluator
from leocod.evaluation.retest import Retest
from leocod.files.checkpoint import read_newest_checkpoint
from leocod.files.run_directory import RunDirectory
from leocod.learner import Learner
from leocod.plugins.open_classes import OpenClasses
from leocod.run.config import ExperimentConfig, load_detector_config, load_mapping, load_run_config, upgrade
from leocod.run.layers import compare
from leocod.run.record.given_labels import read_given_labels
from leocod.stream.added_labels import AddedLabels

logger = logging.getLogger(__name__)


def read_newest_state(directory: RunDirectory) -> tuple[Path, dict[str, Any]]:
    """The newest checkpoint of a run, and what it holds."""
    found = read_newest_checkpoint(directory.checkpoints)
    if found is None:
        raise InvalidRun(
            f"{directory.path} has no checkpoint yet. The first one comes after `checkpoint.every` steps, or "
            "`checkpoint.minutes` minutes."
        )
    return found


def read_config(path: Path, state: Mapping[str, Any], *, detector_only: bool = False) -> ExperimentConfig:
    """What the run of a checkpoint was asked to do, or of that only what its detector needs."""
    if not isinstance(state.get("config"), dict):
        raise InvalidRun(f"{path} is not a checkpoint of a run: it has no config.")
    try:
        if detector_only:
            return load_detector_config(state["config"], path)
        return load_mapping(upgrade(state["config"], path))
    except InvalidConfig as error:
        raise InvalidRun(f"{path} holds a config that is not valid now. {error}") from error


def drop_start(config: ExperimentConfig) -> ExperimentConfig:
    """For a learner whose state has all that it learnt: the files that it once started from may be gone."""
    options = config.detector.options
    update: dict[str, Any] = {"earlier_run": None}
    if getattr(options, "weights", None) is not None:
        weightless = options.model_copy(update={"weights": None})
        update["detector"] = config.detector.model_copy(update={"options": weightless})
    return config.model_copy(update=update)


def go_on(config: ExperimentConfig, learner: Learner) -> None:
    """Give a new learner all that the earlier run of its config had learnt."""
    assert config.earlier_run is not None
    directory = RunDirectory.open(config.earlier_run)
    path, state = read_newest_state(directory)
    _refuse_other_learner(read_config(path, state), config, directory.path)
    if not directory.results.exists() and "live" not in state:
        logger.warning("%s is not finished: this run goes on from its step %d.", directory.path, state["step"] + 1)
    learner.load_state_dict(state["learner"])
    if learner.memory is not None:
        learner.memory.set_apart()


def leave_out_known_labels(config: ExperimentConfig, benchmark: Benchmark) -> Benchmark:
    """The benchmark, or what is new in it, if the config names a run that has learnt it before."""
    if config.new_labels_since is None:
        return benchmark
    directory = RunDirectory.open(config.new_labels_since)
    return AddedLabels(benchmark, read_given_labels(directory), directory.path)


def _refuse_other_learner(before: ExperimentConfig, now: ExperimentConfig, where: Path) -> None:
    """What was learnt fits only a learner that is made in the same way."""
    first, second = (_describe_learner(drop_start(config)) for config in (before, now))
    if changes := [f"{key} was {old} and is {new}" for key, (old, new) in compare(first, second).items()]:
        raise InvalidConfig(
            f"What {where} has learnt does not fit this config: {'; '.join(changes)}. Use the old values, or start "
            "without it; `detector.weights` takes over the network alone."
        )


def _describe_learner(config: ExperimentConfig) -> dict[str, Any]:
    plugin = config.efficient_cls
    described = config.model_dump(mode="json", include={"detector", "strategy"})
    # How often a step is learnt from says nothing about how what was learnt is kept.
    described["strategy"].pop("rounds", None)
    return {
        **described,
        "efficient_cls": None if plugin is None else {"ema": plugin.ema},
    }


def build_retests(config: ExperimentConfig, learner: Learner) -> tuple[Retest, ...]:
    """The tests of the earlier runs that the config names."""
    # Inside, the learner has all of its classes; the outermost translation knows this stream's only.
    inner = learner.learner if isinstance(learner, OpenClasses) else learner
    retests = tuple(_build_retest(path, config, inner) for path in config.evaluate.also)
    if len({retest.name for retest in retests}) < len(retests):
        names = ", ".join(str(path) for path in config.evaluate.also)
        raise InvalidConfig(f"evaluate.also has two runs of one name ({names}): leave one out, or rename it.")
    return retests


def _build_retest(path: Path, config: ExperimentConfig, learner: Learner) -> Retest:
    directory = RunDirectory.open(path)
    earlier = load_run_config(directory.config)
    if earlier.benchmark.name == "live":
        raise InvalidConfig(f"evaluate.also: {path} is a live run, and has no test frames to try again.")
    benchmark = earlier.benchmark.build(earlier.seed)
    evaluator = Evaluator(
        benchmark.test, benchmark.classes, every=1, style=config.evaluate.ap, frames=earlier.evaluate.frames
    )
    return Retest(directory.path.resolve().name, evaluator, OpenClasses(learner, benchmark.classes).predict)
