"""The typed whole of an experiment, from three layers: defaults in code, a YAML file, overrides. The last one wins."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, TypeVar

import yaml
from pydantic import Field, SerializeAsAny, ValidationError, model_serializer, model_validator

from leocod.benchmarks.base import BENCHMARKS, Benchmark
from leocod.detectors.base import DETECTORS, Detector
from leocod.errors import InvalidConfig
from leocod.evaluation.metrics import Metrics
from leocod.files.documents import DEEPEST, parse_mapping, parse_yaml, read_yaml
from leocod.find import Kind
from leocod.networks.base import Precision
from leocod.plugins.diagnosis import Diagnosis
from leocod.plugins.efficient_cls import EfficientCLSOptions
from leocod.run.validation_messages import explain
from leocod.settings import Settings
from leocod.strategies.base import STRATEGIES, Strategy
from leocod.text import one_line

Chosen = TypeVar("Chosen", bound=Settings)

FRAMES_PER_STEP = 16
"""Of a benchmark that does not say otherwise."""


class LabelsOptions(Settings):
    """How many frames a person labels."""

    per_step: int = Field(4, ge=0)
    """Labelled frames in each step of 16: 16, 8, 4, 2, 1 are the paper's annotation costs."""
    seed: int | None = Field(None, ge=0)
    """Chooses which ones. Null: from the experiment's seed."""
    choice: Literal["drawn", "given"] = "drawn"
    """Who chooses: `drawn` by the seed, or `given` with the data, as by the authors' files, a column for each cost."""
    nested: bool = False
    """The frames of a smaller budget are among those of a larger one. Off, as in the authors' data: each budget is
    drawn by itself."""


class EvaluateOptions(Metrics):
    """When the learner is tried on the test frames, and by which metrics."""

    every: int = Field(100, ge=1)
    """Steps from one evaluation to the next. There is always one after the last step."""
    frames: int | None = Field(None, ge=1)
    """Test frames that are looked at, evenly spread over all of them. Null: all."""

    @property
    def metrics(self) -> Metrics:
        """What the figures mean, without when they were taken."""
        return Metrics.model_validate(self.model_dump(include=set(Metrics.model_fields)))


class CheckpointOptions(Settings):
    """When the learner is saved."""

    every: int = Field(100, ge=1)
    """Steps from one checkpoint to the next. There is always one after the last step."""
    keep: int = Field(2, ge=1)
    """Checkpoints kept; older ones are removed. With two, there is one left when one is damaged."""


class RecordOptions(Settings):
    """How much of a long run is kept on the disk."""

    detections: int | None = Field(None, ge=1)
    """Evaluations whose detections are kept; older ones are removed. Null: all, so that any metric can be computed
    again."""
    pack_events_every: int = Field(10_000, ge=1)
    """Steps after which the log of events is packed away, to about a fifth of its size, and a new one begun."""


class Part(Settings):
    """One choice from a folder, with its options; in YAML `{name: ..., option: ...}` or the bare name."""

    kind: ClassVar[Kind[Any]]
    default: ClassVar[str]

    name: str
    options: SerializeAsAny[Settings]

    @model_validator(mode="before")
    @classmethod
    def _from_flat(cls, value: Any) -> Any:
        if isinstance(value, str):
            value = {"name": value}
        if not isinstance(value, Mapping):
            raise ValueError("Input should be a name, or a mapping with a name and options")
        if isinstance(value.get("options"), Settings):
            return value
        flat = dict(value)
        name = flat.pop("name", cls.default)
        if not isinstance(name, str):
            raise ValueError("Input should be a mapping whose name is a string")
        return {"name": name, "options": validate(cls.kind.find(name).Options, flat, cls.kind.name)}

    @model_serializer
    def _flat(self) -> dict[str, Any]:
        return {"name": self.name, **self.options.model_dump(mode="json")}


class BenchmarkPart(Part):
    """What is learnt."""

    kind: ClassVar[Kind[Benchmark]] = BENCHMARKS
    default: ClassVar[str] = "wander"

    def find(self) -> type[Benchmark]:
        """The class of that name."""
        return self.kind.find(self.name)

    def build(self, seed: int) -> Benchmark:
        """The benchmark itself."""
        return self.find()(self.options, seed=seed)


class DetectorPart(Part):
    """What learns."""

    kind: ClassVar[Kind[Detector]] = DETECTORS
    default: ClassVar[str] = "tiny"

    def find(self) -> type[Detector]:
        """The class of that name."""
        return self.kind.find(self.name)


class StrategyPart(Part):
    """How it learns."""

    kind: ClassVar[Kind[Strategy]] = STRATEGIES
    default: ClassVar[str] = "icarl"

    def find(self) -> type[Strategy]:
        """The class of that name."""
        return self.kind.find(self.name)

    def build(self, detector: Detector, *, seed: int) -> Strategy:
        """The strategy around its detector."""
        # The class checks its own options: they need not be StrategyOptions.
        options: Any = self.options
        return self.find()(detector, options, seed=seed)


PARTS: dict[str, type[Part]] = {"benchmark": BenchmarkPart, "detector": DetectorPart, "strategy": StrategyPart}


class ExperimentConfig(Settings):
    """Everything that a run depends on.

    >>> config = ExperimentConfig.model_validate({"strategy": "incremental", "seed": 3})
    >>> config.strategy.name, config.labels.per_step
    ('incremental', 4)
    """

    benchmark: BenchmarkPart = Field(default_factory=lambda: BenchmarkPart.model_validate({}))
    """What is learnt: a file of `benchmarks/`, or module:Class."""
    labels: LabelsOptions = LabelsOptions()
    """How many frames a person labels."""
    detector: DetectorPart = Field(default_factory=lambda: DetectorPart.model_validate({}))
    """What learns: a file of `detectors/`, or module:Class."""
    strategy: StrategyPart = Field(default_factory=lambda: StrategyPart.model_validate({}))
    """How it learns: a file of `strategies/`, or module:Class."""
    efficient_cls: EfficientCLSOptions | None = EfficientCLSOptions()
    """The plug-in's options; null runs the bare strategy."""
    diagnosis: Diagnosis | None = None
    """What if the pseudo labels were better? `true_boxes`: they are the truth. `right_labels`: the wrong ones are left
    out. `missed_ignored`: objects without one are not taught as background. `no_errors`: both. To find out what limits
    a run; no result."""
    evaluate: EvaluateOptions = EvaluateOptions()
    """When the learner is tried, and by which metrics."""
    checkpoint: CheckpointOptions = CheckpointOptions()
    """When the learner is saved."""
    record: RecordOptions = RecordOptions()
    """How much of a long run is kept on the disk."""
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
        if self.labels.per_step > self.frames_per_step:
            raise InvalidConfig(
                f"labels.per_step is {self.labels.per_step}: it should be from 0 to {self.frames_per_step}, "
                "the frames in a step."
            )
        if self.diagnosis and not (self.efficient_cls and self.efficient_cls.pseudo_labels):
            raise InvalidConfig(
                f"diagnosis is '{self.diagnosis}', but there are no pseudo labels to make better: "
                "it should be null, or efficient_cls on with pseudo_labels: true."
            )
        if self.diagnosis and self.classes == "open":
            raise InvalidConfig("diagnosis knows true boxes of classes that an open list does not have: leave one out.")
        return self

    def to_yaml(self) -> str:
        """Complete, defaults included; reads back as the same config."""
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False)


def load_config(file: Path | None = None, overrides: Iterable[Mapping[str, Any]] = ()) -> ExperimentConfig:
    """A config from a YAML file, or from the embedded quickstart when there is none, with overrides laid over it."""
    return load_mapping(reduce(overlay, overrides, read_yaml(file) if file else load_quickstart()))


def load_mapping(values: Mapping[str, Any]) -> ExperimentConfig:
    """A config from plain values, or one line about what is wrong with them."""
    return validate(ExperimentConfig, values)


MAY_CHANGE = ("checkpoint", "record", "patience", "workers", "bad_steps")
"""Keys that a run may go on with other values of: nothing that is learnt or measured depends on them."""


def describe_changes(one: ExperimentConfig, other: ExperimentConfig) -> list[str]:
    """What keeps a run of one config from going on with another: each key, with both values."""
    return [f"{key} was {before} and is {after}" for key, (before, after) in find_changes(one, other).items()]


def find_changes(one: ExperimentConfig, other: ExperimentConfig) -> dict[str, tuple[str, str]]:
    """Every key in which two configs differ, with both values as JSON, but for what nothing depends on."""
    first, second = (dict(_leaves(config.model_dump(mode="json"))) for config in (one, other))
    keys = [key for key in dict.fromkeys([*first, *second]) if key.split(".")[0] not in MAY_CHANGE]
    said = {key: (_shown(first, key), _shown(second, key)) for key in keys}
    return {key: (before, after) for key, (before, after) in said.items() if before != after}


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Every value that is no mapping, with the keys that lead to it."""
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(inner, f"{key}.{name}" if key else name)
    else:
        yield key, value


def _shown(leaves: Mapping[str, Any], key: str) -> str:
    return json.dumps(leaves[key]) if key in leaves else "not there"


def overlay(base: Mapping[str, Any], layer: Mapping[str, Any]) -> dict[str, Any]:
    """A new mapping: `layer` wins, key by key. Another name for a part drops the options meant for the part before.

    >>> laid_over({"strategy": {"name": "icarl", "replay_per_step": 8}}, {"strategy": "incremental"})
    {'strategy': {'name': 'incremental'}}
    """
    result = dict(base)
    for key, value in layer.items():
        new, old = _as_part(key, value), _as_part(key, result.get(key))
        is_named = key in PARTS and isinstance(new, Mapping) and "name" in new
        replaced = is_named and _name(key, new) != _name(key, old)
        result[key] = new if replaced else _merged(old, new)
    return result


def _merged(old: Any, new: Any) -> Any:
    """Key by key at any depth. What is called as a part is, inside of one, is an option like any other."""
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return new
    return {**old, **{key: _merged(old.get(key), value) for key, value in new.items()}}


def parse_override(text: str) -> dict[str, Any]:
    """One `key=value` of the command line as a layer; the value is read as YAML.

    >>> override("strategy.memory_per_class=10")
    {'strategy': {'memory_per_class': 10}}
    """
    key, equals, value = text.partition("=")
    names = key.strip().split(".")
    if not equals or not all(names) or len(names) > DEEPEST:
        shown = one_line(text[:60])
        raise InvalidConfig(f"'{shown}' is not an override. Write it as key=value, for example labels.per_step=2.")
    try:
        layer: Any = parse_yaml(value)
    except InvalidConfig as error:
        shown = one_line(f"{key[:60]}: '{value[:60]}'")
        raise InvalidConfig(f"{shown} cannot be read as YAML ({error}).") from error
    for name in reversed(names):
        layer = {name: layer}
    return dict(layer)


def load_quickstart() -> dict[str, Any]:
    """What `leocod run` does without a config file."""
    text = files("leocod.run").joinpath("quickstart.yaml").read_text(encoding="utf-8")
    return parse_mapping(text, "quickstart.yaml")


def validate(kind: type[Chosen], values: Mapping[str, Any], prefix: str = "") -> Chosen:
    """Settings from plain values, or one line about what is wrong with them; `prefix` is where the values stand."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise explain(error, kind, prefix) from error


def _as_part(key: str, value: Any) -> Any:
    return {"name": value} if key in PARTS and isinstance(value, str) else value


def _name(key: str, value: Any) -> Any:
    return value.get("name", PARTS[key].default) if isinstance(value, Mapping) else PARTS[key].default
