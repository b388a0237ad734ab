"""The typed whole of an experiment, from three layers: defaults in code, a YAML file, overrides. The last one wins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import Field, field_validator, model_validator

from leocod.errors import InvalidConfig, InvalidRun
from leocod.evaluation.definitions import Definitions
from leocod.evaluation.metrics.base import find_metrics, list_shipped
from leocod.files.documents import parse_mapping, read_yaml
from leocod.files.run_directory import RunDirectory
from leocod.networks.base import Precision
from leocod.plugins.diagnosis import Diagnosis
from leocod.plugins.efficient_cls import EfficientCLSOptions
from leocod.run.choices import BenchmarkChoice, DetectorChoice, LabelsChoice, SinkChoice, StrategyChoice, validate
from leocod.run.config_file import read_config_file
from leocod.run.layers import compare
from leocod.run.parts import CheckpointOptions, RecordOptions
from leocod.run.plugin import expand, fold, lay
from leocod.settings import MAY_CHANGE, Settings, list_leaves
from leocod.sinks.base import BaseSink, RunInfo

FRAMES_PER_STEP = 16
"""Of a benchmark that does not say otherwise."""


class EvaluateOptions(Definitions):
    """When the learner is tried on the test frames, and by which metrics."""

    every: int = Field(100, ge=1)
    """Steps from one evaluation to the next. There is always one after the last step."""
    frames: int | None = Field(None, ge=1)
    """Test frames that are looked at, evenly spread over all of them. Null: all."""
    start: bool = False
    """Also evaluate before the first step. The metric `fwt` needs it."""
    prequential: bool = False
    """Also try the learner on the frames of each step before it learns from them. The metric `prequential` needs it.
    Each training frame is detected once more."""
    also: tuple[Path, ...] = ()
    """Earlier runs whose test frames are tried again at each evaluation, and before the first step: what the stream
    costs on what was learnt before it."""
    metrics: tuple[str, ...] = list_shipped()
    """What sums up the run: files of `evaluation/metrics/`, or module:Class."""

    @field_validator("metrics")
    @classmethod
    def _exist(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        find_metrics(names)
        return names

    @property
    def definitions(self) -> Definitions:
        """What the figures mean, without when they were taken."""
        return Definitions.model_validate(self.model_dump(include=set(Definitions.model_fields)))


class ExperimentConfig(Settings):
    """Everything that a run depends on.

    >>> config = ExperimentConfig.model_validate({"strategy": "incremental", "seed": 3})
    >>> config.strategy.name, config.labels.per_step
    ('incremental', 4)
    """

    benchmark: BenchmarkChoice = Field(default_factory=lambda: BenchmarkChoice.model_validate({}))
    """What is learnt: a file of `benchmarks/`, or module:Class."""
    labels: LabelsChoice = Field(default_factory=lambda: LabelsChoice.model_validate({}))
    """How many frames a person labels, and which: a file of `labelling/`, or module:Class."""
    detector: DetectorChoice = Field(default_factory=lambda: DetectorChoice.model_validate({}))
    """What learns: a file of `detectors/`, or module:Class."""
    strategy: StrategyChoice = Field(default_factory=lambda: StrategyChoice.model_validate({}))
    """How it learns: a file of `strategies/`, or module:Class."""
    efficient_cls: EfficientCLSOptions | None = EfficientCLSOptions()
    """The plug-in's options; null runs the bare strategy."""
    earlier_run: Path | None = None
    """A run to go on from with a new stream: the learner begins with all that it had learnt, its network, memory, class
    list, slow learner and optimiser. `detector` and `strategy` must be those of that run, and `classes` be `open`."""
    new_labels_since: Path | None = None
    """A run that has learnt this stream before: only frames are learnt whose labels it did not have, or had otherwise,
    with the unlabelled frames of their steps."""
    diagnosis: Diagnosis | None = None
    """To find out what limits a run, or where a gain comes from; no result. What if the pseudo labels were better?
    `true_boxes`: they are the truth. `right_labels`: the wrong ones are left out. `missed_ignored`: objects without one
    are not taught as background. `no_errors`: both. And controls, in the place of the pseudo-labelled frames:
    `all_empty`: the same frames as if nothing were in them. `positives_only`: the labels without the background around
    them. `random_boxes`: the labels in random places. `copies`: augmented copies of the labelled frames."""
    evaluate: EvaluateOptions = EvaluateOptions()
    """When the learner is tried, and by which metrics."""
    checkpoint: CheckpointOptions = CheckpointOptions()
    """When the learner is saved."""
    record: RecordOptions = RecordOptions()
    """How much of a long run is kept on the disk."""
    sinks: tuple[SinkChoice, ...] = Field(
        default_factory=lambda: tuple(SinkChoice.model_validate(name) for name in ("console", "jsonl", "tensorboard"))
    )
    """What shows and stores the run: files of `sinks/`, or module:Class. `jsonl` must be among them, because the report
    is drawn from its file. Results, labels, detections, samples and checkpoints are always written."""
    bad_steps: int = Field(20, ge=1)
    """Steps in a row whose loss or gradient is not finite, after which the run stops. Such a step changes nothing."""
    patience: float = Field(0.0, ge=0)
    """Seconds to wait for a source that is away, such as a network folder, before the run stops. It can go on later
    either way."""
    seed: int = Field(0, ge=0)
    """Of everything random. The built-in world takes it as it is; the rest draws its own seeds from it. To keep the
    stream and vary the rest, set `benchmark.seed` and `labels.seed`."""
    classes: Literal["all", "open"] = "all"
    """`all`: the detector has the benchmark's class list from the start. `open`: it starts with the classes that its
    weights know, and a class is added with its first label."""
    device: str = "cpu"
    """Where the detector runs: cpu, cuda, cuda:1, mps."""
    precision: Precision = "float32"
    """Of products of matrices; `bfloat16` and `float16` are faster on most GPUs. Weights and losses stay float32."""
    frames_at_once: int | None = Field(None, ge=1)
    """Frames that go through the network together. Fewer need less memory; loss and gradient stay the same, but for the
    padding where frames of several sizes meet. Null: the detector's own."""
    workers: int = Field(0, ge=0)
    """Processes that read the frames of the next steps while this one is learnt; offline training reads its own. 0:
    none, frames are read in between."""
    threads: int = Field(1, ge=1)
    """CPU threads. More help large detectors only; another number may change the last digits of a result."""

    @property
    def frames_per_step(self) -> int:
        """Training frames in one step."""
        return int(getattr(self.benchmark.options, "frames_per_step", FRAMES_PER_STEP))

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if (self.labels.per_step or 0) > self.frames_per_step:
            raise InvalidConfig(
                f"labels.per_step is {self.labels.per_step}: it should be from 0 to {self.frames_per_step}, "
                "the frames in a step."
            )
        if "jsonl" not in [sink.name for sink in self.sinks]:
            raise InvalidConfig("sinks has no `jsonl`: add it, because the report is drawn from events.jsonl.")
        if self.diagnosis and not (self.efficient_cls and self.efficient_cls.pseudo_labels):
            raise InvalidConfig(
                f"diagnosis is '{self.diagnosis}', but there are no pseudo labels to change: "
                "it should be null, or efficient_cls on with pseudo_labels: true."
            )
        if self.labels.name == "disagreement" and not (self.efficient_cls and self.efficient_cls.ema):
            raise InvalidConfig(
                "labels.name is 'disagreement', but there is no slow learner to disagree with the fast one: "
                "it should be another, or efficient_cls on with ema: true."
            )
        if self.earlier_run is not None and self.classes != "open":
            raise InvalidConfig(
                f"earlier_run is {self.earlier_run}, whose classes need not be those of this stream: classes should be "
                "'open'."
            )
        if self.diagnosis and self.classes == "open":
            raise InvalidConfig("diagnosis knows true boxes of classes that an open list does not have: leave one out.")
        return self

    def build_sinks(self, info: RunInfo) -> list[BaseSink]:
        """The sinks that the config names."""
        return [sink.build(info) for sink in self.sinks]

    def to_yaml(self) -> str:
        """Complete, defaults included; reads back as the same config."""
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False)


RENAMED = {
    "labels.choice": "labels.name (`drawn` is now `random`, `given` is now `fixed`)",
    "labels.name=budget": "labels.name=random",
    "labels=budget": "labels=random",
    "record.pack_events_every": "pack_every of the sink jsonl, as in sinks=[console,{name: jsonl, pack_every: 500}]",
}
"""Keys of earlier versions, or a key with a value -> where their meaning is now."""


def load_config(file: Path | None = None, overrides: Iterable[Mapping[str, Any]] = ()) -> ExperimentConfig:
    """A config from a YAML file, or from the embedded quickstart when there is none, with overrides laid over it."""
    return load_mapping(reduce(lay, [read_config_file(file) if file else load_quickstart(), *overrides], {}))


def load_run_config(file: Path, overrides: Iterable[Mapping[str, Any]] = ()) -> ExperimentConfig:
    """The config of a run directory, perhaps of an earlier version, with overrides laid over it."""
    return load_mapping(reduce(lay, overrides, upgrade(read_yaml(file), file)))


OF_DETECTORS = ("detector", "device", "precision", "frames_at_once")
"""Keys of a config that a detector alone needs."""


def load_detector_config(values: Mapping[str, Any], where: object) -> ExperimentConfig:
    """Of the config of a run only what its detector needs: the modules of other parts may be elsewhere."""
    upgraded = upgrade(values, where)
    return load_mapping({key: upgraded[key] for key in OF_DETECTORS if key in upgraded})


def load_successor_config(
    earlier: RunDirectory, file: Path | None = None, overrides: Iterable[Mapping[str, Any]] = ()
) -> ExperimentConfig:
    """The config of a run that goes on from an earlier one: what that one had, a file and overrides laid over it."""
    # The name, so that another strategy gets its settings, and another plug-in none of them.
    before = fold(upgrade(read_yaml(earlier.config), earlier.config))
    layers: list[Mapping[str, Any]] = [
        {"earlier_run": str(earlier.path), "new_labels_since": None, "classes": "open", "diagnosis": None}
    ]
    layers += [read_config_file(file)] if file else []
    return load_mapping(reduce(lay, [*layers, *overrides], before))


def load_mapping(values: Mapping[str, Any]) -> ExperimentConfig:
    """A config from plain values, or one line about what is wrong with them."""
    for key, value in list_leaves(values):
        for old in (key, f"{key}={value}" if isinstance(value, str) else key):
            if old in RENAMED:
                raise InvalidConfig(f"{old} is now {RENAMED[old]}.")
    return validate(ExperimentConfig, expand(lay({}, values)))


def upgrade(values: Mapping[str, Any], where: object) -> dict[str, Any]:
    """The config of a run of an earlier version, in today's keys; `where` it was found is named in an error."""
    if "composed" in values:
        raise InvalidRun(
            f"{where}: this run was composed in Python, so no config can rebuild it. Use leocod.resume_run with its "
            "parts."
        )
    config = dict(values)
    labels = config.get("labels")
    if isinstance(labels, Mapping) and "choice" in labels:
        labels = dict(labels)
        labels["name"] = {"drawn": "random", "given": "fixed"}.get(labels.pop("choice"), "random")
        if labels["name"] == "fixed":
            labels.pop("nested", None)
        config["labels"] = labels
    benchmark, detector = config.get("benchmark"), config.get("detector")
    if isinstance(benchmark, Mapping) and benchmark.get("name") == "wander" and "edition" not in benchmark:
        config["benchmark"] = {**benchmark, "edition": "first"}
        if isinstance(detector, Mapping) and (detector.get("name"), detector.get("weights")) == ("tiny", "start"):
            config["detector"] = {**detector, "weights": "first_start"}
    if isinstance(benchmark, Mapping) and benchmark.get("name") == "video" and "test_every" not in benchmark:
        config["benchmark"] = {**benchmark, "test_every": 0}
    if isinstance(labels, Mapping) and labels.get("name") == "budget":
        config["labels"] = {**labels, "name": "random"}
    strategy = config.get("strategy")
    if isinstance(strategy, Mapping) and "memory_replacement" in strategy and "memory_intake" not in strategy:
        config["strategy"] = {**strategy, "memory_intake": "all" if strategy.get("recipe") == "joint" else "random"}
    record = config.get("record")
    if isinstance(record, Mapping) and "pack_events_every" in record:
        config["record"] = {key: value for key, value in record.items() if key != "pack_events_every"}
        jsonl = {"name": "jsonl", "pack_every": record["pack_events_every"]}
        config["sinks"] = ["console", jsonl, "tensorboard"]
    return config


def describe_changes(before: ExperimentConfig, after: ExperimentConfig) -> list[str]:
    """What keeps a run of one config from being resumed with another: each key, with both values."""
    return [f"{key} was {old} and is {new}" for key, (old, new) in find_changes(before, after).items()]


def find_changes(before: ExperimentConfig, after: ExperimentConfig) -> dict[str, tuple[str, str]]:
    """Every key in which two configs differ, with both values as JSON, but for the keys that nothing depends on."""
    first, second = (config.model_dump(mode="json", exclude=set(MAY_CHANGE)) for config in (before, after))
    return compare(first, second)


def load_quickstart() -> dict[str, Any]:
    """What `leocod run` does without a config file."""
    text = files("leocod.run").joinpath("quickstart.yaml").read_text(encoding="utf-8")
    return parse_mapping(text, "quickstart.yaml")
