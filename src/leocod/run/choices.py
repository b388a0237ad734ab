"""A part of a config that is chosen by name: benchmark, labeller, detector, strategy, sink."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from pydantic import SerializeAsAny, ValidationError, model_serializer, model_validator

from leocod.benchmarks.base import BENCHMARKS, Benchmark
from leocod.detectors.base import DETECTORS, Detector
from leocod.find import Kind
from leocod.labelling.base import LABELLERS, Labeller, LabellerOptions, StreamInfo
from leocod.run.validation_messages import explain
from leocod.settings import Settings
from leocod.sinks.base import SINKS, BaseSink, RunInfo
from leocod.strategies.base import STRATEGIES, Strategy

Options = TypeVar("Options", bound=Settings)


def validate(kind: type[Options], values: Mapping[str, Any], prefix: str = "") -> Options:
    """Settings from plain values, or one line about what is wrong with them; `prefix` is where the values stand."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise explain(error, kind, prefix) from error


class Choice(Settings):
    """One choice from a folder, with its options; in YAML `{name: ..., option: ...}` or the bare name."""

    kind: ClassVar[Kind[Any]]
    key: ClassVar[str]
    """Where it stands in a config."""
    default: ClassVar[str]
    shared: ClassVar[frozenset[str]] = frozenset()
    """Options that stay when another name is chosen."""

    name: str
    options: SerializeAsAny[Settings]

    @classmethod
    def has_option(cls, key: str) -> bool:
        """Whether one of the shipped choices has it."""
        return any(cls.kind.find(name).Options.has_option(key) for name in cls.kind.names())

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
        return {"name": name, "options": validate(cls.kind.find(name).Options, flat, cls.key)}

    @model_serializer
    def _flat(self) -> dict[str, Any]:
        return {"name": self.name, **self.options.model_dump(mode="json")}


class BenchmarkChoice(Choice):
    """What is learnt."""

    kind: ClassVar[Kind[Benchmark]] = BENCHMARKS
    key: ClassVar[str] = "benchmark"
    default: ClassVar[str] = "wander"

    def find(self) -> type[Benchmark]:
        """The class of that name."""
        return self.kind.find(self.name)

    def build(self, seed: int) -> Benchmark:
        """The benchmark itself."""
        return self.find()(self.options, seed=seed)


class DetectorChoice(Choice):
    """What learns."""

    kind: ClassVar[Kind[Detector]] = DETECTORS
    key: ClassVar[str] = "detector"
    default: ClassVar[str] = "tiny"

    def find(self) -> type[Detector]:
        """The class of that name."""
        return self.kind.find(self.name)


class StrategyChoice(Choice):
    """How it learns."""

    kind: ClassVar[Kind[Strategy]] = STRATEGIES
    key: ClassVar[str] = "strategy"
    default: ClassVar[str] = "icarl"

    def find(self) -> type[Strategy]:
        """The class of that name."""
        return self.kind.find(self.name)

    def build(self, detector: Detector, *, seed: int) -> Strategy:
        """The strategy around its detector."""
        # The class checks its own options: they need not be StrategyOptions.
        options: Any = self.options
        return self.find()(detector, options, seed=seed)


class LabelsChoice(Choice):
    """How many frames a person labels, and which."""

    kind: ClassVar[Kind[Labeller]] = LABELLERS
    key: ClassVar[str] = "labels"
    default: ClassVar[str] = "random"
    shared: ClassVar[frozenset[str]] = frozenset(LabellerOptions.model_fields)

    options: SerializeAsAny[LabellerOptions]

    @property
    def per_step(self) -> int | None:
        """Labelled frames in a step; None where another budget counts."""
        return self.options.per_step

    def build(self, *, seed: int, stream: StreamInfo) -> Labeller:
        """The labeller itself."""
        return self.kind.find(self.name)(self.options, seed=seed, stream=stream)


class SinkChoice(Choice):
    """What shows or stores the run."""

    kind: ClassVar[Kind[BaseSink]] = SINKS
    key: ClassVar[str] = "sinks"
    default: ClassVar[str] = "console"

    def build(self, info: RunInfo) -> BaseSink:
        """The sink itself."""
        return self.kind.find(self.name)(self.options, run=info)


CHOICES: dict[str, type[Choice]] = {
    "benchmark": BenchmarkChoice,
    "labels": LabelsChoice,
    "detector": DetectorChoice,
    "strategy": StrategyChoice,
}
"""Keys of a config whose value is one choice."""
