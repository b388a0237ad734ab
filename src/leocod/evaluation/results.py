"""results.json: the figures of a run. The run writes this class, and whoever shows a run reads it."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from leocod.evaluation.definitions import Definitions
from leocod.evaluation.metrics.base import METRICS, Direction, Metric
from leocod.events import PseudoLabelAudit, Quality

MOST_STEPS = 10**8
MOST_METRICS = 100
LONGEST = 200
"""Characters of the label or the title of a metric."""

StepNumber = Annotated[int, Field(ge=0, lt=MOST_STEPS)]
Count = Annotated[int, Field(ge=0, le=10**18)]
Points = Annotated[float, Field(ge=-101, le=101)]
Seconds = Annotated[float, Field(ge=0, le=10**12)]
Words = Annotated[str, Field(max_length=LONGEST)]


class Stored(BaseModel):
    """What a file of a run holds. Keys that it does not know, as a later version may add, are left alone."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)


class ClassScores(Stored):
    """AP by the definition of the run, in points from 0 to 100."""

    ap: Points | None
    """Mean over classes; None when no class has a test box."""
    ap_by_class: dict[str, Points | None]
    """By class name; None for a class without a test box."""


class Evaluation(ClassScores):
    """AP after one step."""

    step: StepNumber


class Retested(Stored):
    """AP on the test frames of an earlier run."""

    start: ClassScores
    """Before the first step."""
    evaluations: list[Evaluation]


class MetricWords(Stored):
    """How to show a metric: a report of somebody else's run must not import the metric to know."""

    label: Words
    title: Words
    direction: Direction
    unit: Words = "points"

    @classmethod
    def of(cls, metric: Metric | type[Metric], definitions: Definitions) -> MetricWords:
        """Of a metric by the definitions of a run."""
        title = definitions.fill_in(metric.title)[:LONGEST]
        return cls(label=metric.label[:LONGEST], title=title, direction=metric.direction, unit=metric.unit[:LONGEST])

    @property
    def arrow(self) -> str:
        """Up where higher is better."""
        return "↑" if self.direction == "higher" else "↓"


class Counts(Stored, Quality):
    """How right pseudo labels were, in numbers that can be added up; `PseudoLabelAudit` says what each is."""

    frames: Count
    labels: Count
    right: Count
    objects: Count

    @classmethod
    def of(cls, audit: PseudoLabelAudit) -> Counts:
        """Of an audit, all classes together."""
        return cls(frames=audit.frames, labels=audit.labels, right=audit.right, objects=audit.objects)


class PseudoLabelPeriod(Stored):
    """How right pseudo labels were from one evaluation to the next: all, and by what the starting weights know.

    A label counts for the class that it says, and an object for its class; frames are those looked at, in each group.
    """

    first_step: StepNumber
    last_step: StepNumber
    """The one after which the evaluation came."""
    all: Counts
    known: Counts
    """Of classes that the starting weights know."""
    new: Counts
    """Of the other classes."""


class CheckCounts(Stored):
    """What the pseudo-labeller would have written on labelled frames, and how much is right by a person's labels."""

    labels: Count
    right: Count


class Results(Stored):
    """What came out of a run."""

    benchmark: str
    """Its name in the config; so are the next two."""
    detector: str
    """What learnt."""
    strategy: str
    """By which method."""
    efficient_cls: bool
    """Whether the plug-in was around the strategy."""
    ema: bool
    """Whether there was a slow learner."""
    pseudo_labels: bool
    """Whether frames that nobody labelled were learnt from."""
    plus: bool = False
    """Whether the plug-in had the settings of Efficient-CLS+."""
    labels_per_step: Count | None
    """Frames of each step that a person may label; None where the budget is another one."""
    labels_nested: bool = False
    """Whether a smaller budget is a part of a larger one."""
    seed: Annotated[int, Field(ge=0, lt=2**128)]
    """Of everything random."""
    diagnosis: str | None = None
    """What was changed about the pseudo labels to find a cause; None in an ordinary run."""
    steps: StepNumber
    """Steps that were learnt."""
    labelled_frames: Count
    """Frames that a person labelled."""
    labelled_boxes: Count | None = None
    """In these frames; None where nobody counted."""
    labelling_seconds: Seconds | None = None
    """Of a person, for these frames: measured, or estimated from frames and boxes; None where nobody says."""
    skipped_frames: Count = 0
    """Training frames that could not be used."""
    skipped_test_frames: Count = 0
    """Test frames that could not be used."""
    refused_steps: Count = 0
    """Steps that were not learnt because their numbers were bad."""
    warnings: Count = 0
    """All that the run warned of."""
    scores: dict[str, float | None] = Field(max_length=MOST_METRICS)
    """By the name of the metric; None where it is not defined. What was not measured is not here."""
    metrics: dict[str, MetricWords] = Field({}, max_length=MOST_METRICS)
    """How to show each of the scores."""
    definitions: Definitions = Definitions()
    """What AP and forgetfulness mean in all of this."""
    start: ClassScores | None = None
    """Before the first step; None unless `evaluate.start` asks for it."""
    evaluations: list[Evaluation]
    """AP after some of the steps, in order."""
    also: dict[str, Retested] = Field({}, max_length=100)
    """Earlier run -> AP on its test frames, as `evaluate.also` asks for."""
    pseudo_label_counts: Counts | None = None
    """Over the whole run; None where there were no pseudo labels, or where a run has gone on that did not count."""
    pseudo_label_groups: dict[str, Counts] = Field({}, max_length=2)
    """The same by `known` and `new` class, as in a period; empty where nobody says what the starting weights know."""
    pseudo_label_periods: list[PseudoLabelPeriod] = []
    """One for each stretch between evaluations, in order; empty where there are no groups."""
    pseudo_label_check: CheckCounts | None = None
    """What the learner can tell by itself; None where it was not asked, or where a run has gone on that did not ask."""
    seconds: Seconds
    """From start to end, over all sessions of the run."""
    seconds_by_part: dict[str, Seconds] = Field({}, max_length=100)
    """The same, by what it was spent on."""
    updates: Count | None = None
    """Steps of the optimiser; None where nobody counted, or where a run has gone on that did not count."""
    frames_trained_on: Count | None = None
    """In these updates together. A frame counts each time."""
    memory_bytes: Count | None = None
    """Of frames and labels kept at the end; None where nobody counted."""
    peak_ram_bytes: Count | None = None
    """RAM that the process of the run held at most, or the first of several that train as one; without processes that
    load frames ahead, and GPUs. None where the system does not say, or where a part of a resumed run had none."""

    @property
    def is_short_of_labels(self) -> bool:
        """Whether fewer frames were labelled than might have been, because nobody had labels for more."""
        return self.labels_per_step is not None and self.labelled_frames < self.labels_per_step * self.steps

    def words(self, name: str) -> MetricWords:
        """How to show a score. Earlier versions did not say; what they had is shipped."""
        if name in self.metrics:
            return self.metrics[name]
        if name in METRICS.names():
            return MetricWords.of(METRICS.find(name), self.definitions)
        return MetricWords(label=name[:LONGEST], title=name[:LONGEST], direction="higher")

    @model_validator(mode="before")
    @classmethod
    def _read_first_form(cls, values: Any) -> Any:
        """Results of versions before there was a list of metrics."""
        if not isinstance(values, dict) or "scores" in values or "fap" not in values:
            return values
        names = {"fap": "fap", "cap": "cap", "forgetting": "forgetfulness"}
        scores = {new: values.get(old) for new, old in names.items()}
        changed = {"scores": scores, "metrics": {}, "definitions": values.get("metrics", {})}
        if isinstance(evaluations := values.get("evaluations"), list):
            changed["evaluations"] = [_read_first_evaluation(evaluation) for evaluation in evaluations]
        return values | changed

    @field_validator("evaluations")
    @classmethod
    def _in_order(cls, evaluations: list[Evaluation]) -> list[Evaluation]:
        for before, after in pairwise(evaluations):
            if after.step <= before.step:
                raise ValueError(f"step {after.step} comes after step {before.step}")
        return evaluations

    @field_validator("definitions")
    @classmethod
    def _countable(cls, definitions: Definitions) -> Definitions:
        if (definitions.forgetting_bins or 0) > MOST_STEPS:
            raise ValueError(f"forgetting_bins: more than {MOST_STEPS}")
        return definitions


def _read_first_evaluation(values: Any) -> Any:
    """It was called `ap50` whatever its definition."""
    names = {"ap50": "ap", "ap50_by_class": "ap_by_class"}
    return {names.get(key, key): value for key, value in values.items()} if isinstance(values, dict) else values
