"""What a run is made of. `leocod run` builds it from a config; from Python anyone may compose it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import Field

from leocod.evaluation.definitions import Definitions
from leocod.evaluation.evaluator import Evaluator
from leocod.evaluation.metrics.base import list_shipped
from leocod.evaluation.retest import Retest
from leocod.learner import Learner
from leocod.settings import Settings
from leocod.stream.added_labels import KnownLabels
from leocod.stream.base import Steps


class CheckpointOptions(Settings):
    """When the learner is saved."""

    every: int = Field(100, ge=1)
    """Steps from one checkpoint to the next. There is always one after the last step."""
    minutes: float | None = Field(5.0, gt=0)
    """Minutes after which there is a checkpoint, too, however few the steps. What is learnt does not depend on it.
    Null: only steps count, as in `leocod live`, whose journal has what came after its last checkpoint."""
    keep: int = Field(2, ge=1)
    """Checkpoints that are kept. Older ones are removed. With two, one is left when one is damaged."""


class RecordOptions(Settings):
    """How much of a long run is kept on the disk."""

    detections: int | None = Field(None, ge=1)
    """Evaluations whose detections are kept. Older ones are removed. Null: all, so that `leocod score` can compute any
    metric again."""


@dataclass(frozen=True)
class RunFacts:
    """What a run is, in the words of results.json."""

    benchmark: str
    strategy: str
    detector: str = "own"
    efficient_cls: bool = False
    ema: bool = False
    pseudo_labels: bool = False
    plus: bool = False
    labels_per_step: int | None = None
    """Labelled frames in a step; None where it varies."""
    labels_nested: bool = False
    seed: int = 0
    diagnosis: str | None = None


@dataclass(frozen=True)
class Parts:
    """The parts of a run, ready to go. `start_run` and `resume_run` take them.

    To resume a run exactly, build equal parts again: a stream that gives the same steps, and a learner, an evaluator
    and sinks made with the same options.
    """

    stream: Steps
    learner: Learner
    evaluator: Evaluator
    facts: RunFacts
    config: Mapping[str, Any] | None = None
    """The config that the parts were built from, as plain values. None: they were composed in Python."""
    definitions: Definitions = field(default_factory=Definitions)
    """What AP and forgetting mean."""
    metrics: tuple[str, ...] = list_shipped()
    """What sums up the run: names of metrics, or module:Class."""
    labelling: Mapping[str, Any] = field(default_factory=dict)
    """How the labelled frames are chosen, for labels.json."""
    checkpoint: CheckpointOptions = field(default_factory=CheckpointOptions)
    record: RecordOptions = field(default_factory=RecordOptions)
    bad_steps: int = 20
    """Steps in a row whose loss or gradient is not finite, after which the run stops."""
    threads: int = 1
    device: str = "cpu"
    known_classes: tuple[str, ...] | None = None
    """The stream's classes that the starting weights know: pseudo labels are counted apart for them and for the others.
    None: nobody says, and they are not."""
    lost_test_frames: int = 0
    """Test frames that cannot be used."""
    known_labels: KnownLabels | None = None
    """What earlier runs of the stream have learnt from; None: there were none."""
    retests: tuple[Retest, ...] = ()
    """Test frames of earlier streams, tried again at each evaluation."""

    @property
    def described(self) -> Mapping[str, Any]:
        """The config, or what stands in for it where the parts were composed in Python."""
        if self.config is not None:
            return self.config
        kinds = {
            name: f"{type(part).__module__}:{type(part).__qualname__}"
            for name, part in (("stream", self.stream), ("learner", self.learner), ("evaluator", self.evaluator))
        }
        composed = {**asdict(self.facts), **kinds, "classes": list(self.evaluator.classes)}
        # `leocod score` reads the definitions here.
        return {"composed": composed, "evaluate": self.definitions.model_dump(mode="json")}
