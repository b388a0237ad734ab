"""What can happen in a run. Sinks read these events."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from leocod.types import Detections, Effort, Frame, Labels


@dataclass(frozen=True)
class RunStarted:
    """The run starts, or is resumed, at a step."""

    name: str
    classes: tuple[str, ...]
    steps: int | None
    """Of the whole stream; None where nobody knows."""
    first_step: int
    single_pass: bool = True
    """Whether every frame comes once: only offline training sees them again."""
    known_classes: tuple[str, ...] | None = None
    """Those of the classes that the starting weights know; None where nobody says."""

    @property
    def groups(self) -> dict[str, frozenset[int]]:
        """The numbers of the `known` and of the `new` classes; empty where nobody says which are known."""
        return group_classes(self.classes, self.known_classes)


def group_classes(classes: Sequence[str], known: Collection[str] | None) -> dict[str, frozenset[int]]:
    """The numbers of the classes that the starting weights know, and of those that are new to them.

    >>> group_classes(["mug", "dog"], ["dog"])
    {'known': frozenset({1}), 'new': frozenset({0})}
    """
    if known is None:
        return {}
    numbers = frozenset(number for number, name in enumerate(classes) if name in known)
    return {"known": numbers, "new": frozenset(range(len(classes))) - numbers}


class ClassCounts(NamedTuple):
    """How right the pseudo labels of one class were; `PseudoLabelAudit` says what each count is."""

    labels: int
    right: int
    objects: int


class Quality:
    """Precision and recall of whatever counts labels, right ones and objects."""

    labels: int
    right: int
    objects: int

    @property
    def precision(self) -> float | None:
        """How many of the labels were right, from 0 to 1; None without labels."""
        return self.right / self.labels if self.labels else None

    @property
    def recall(self) -> float | None:
        """How many of the objects got a right label, from 0 to 1; None without objects."""
        return self.right / self.objects if self.objects else None


@dataclass(frozen=True)
class PseudoLabelAudit(Quality):
    """How right the pseudo labels of one step were, by the hidden truth. Counts, so that steps can be added up."""

    frames: int
    """Unlabelled frames that the pseudo-labeller looked at, and whose truth is known: also those in which it was sure
    of nothing, and those that were left out of training."""
    labels: int
    """Pseudo labels that it wrote."""
    right: int
    """Of these: same class as a true box, IoU at least 0.5, each true box matched once."""
    objects: int
    """True boxes in these frames."""
    by_class: Mapping[int, ClassCounts] | None = None
    """The same for each class that has a label or an object; a label counts for the class that it says. None in events
    of earlier versions, which did not count by class."""

    @classmethod
    def together(cls, audits: Iterable[PseudoLabelAudit]) -> PseudoLabelAudit:
        """Of several steps. By class only if each of them is."""
        audits = list(audits)
        by_class: dict[int, ClassCounts] = {}
        for audit in audits:
            for number, counts in (audit.by_class or {}).items():
                by_class[number] = _add(by_class.get(number, NO_COUNTS), counts)
        return cls(
            sum(audit.frames for audit in audits),
            sum(audit.labels for audit in audits),
            sum(audit.right for audit in audits),
            sum(audit.objects for audit in audits),
            None if any(audit.by_class is None for audit in audits) else by_class,
        )

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> PseudoLabelAudit:
        """As it was stored. Earlier versions did not count by class."""
        by_class = values.get("by_class")
        counts = None if by_class is None else {number: ClassCounts(*one) for number, one in by_class.items()}
        return cls(**{**values, "by_class": counts})

    def select(self, classes: Collection[int]) -> PseudoLabelAudit | None:
        """The same frames, but only the labels and objects of these classes; None where nobody counted by class."""
        if self.by_class is None:
            return None
        by_class = {number: counts for number, counts in self.by_class.items() if number in classes}
        labels, right, objects = (sum(column) for column in zip(NO_COUNTS, *by_class.values(), strict=True))
        return PseudoLabelAudit(self.frames, labels, right, objects, by_class)


NO_COUNTS = ClassCounts(0, 0, 0)


def _add(one: ClassCounts, other: ClassCounts) -> ClassCounts:
    return ClassCounts(one.labels + other.labels, one.right + other.right, one.objects + other.objects)


@dataclass(frozen=True)
class PseudoLabelCheck:
    """What the writer of pseudo labels would have written on a labelled frame, by what a person says is there.

    A learner can count this by itself, also on a stream of which nobody knows the truth.
    """

    labels: int
    right: int
    """Of these: right as in `PseudoLabelAudit`."""


@dataclass(frozen=True)
class StepArrived:
    """The frames of a step are there. Until the step is learnt, the learner is not at rest."""

    step: int
    revealed: Mapping[int, Collection[int] | Mapping[int, Effort]] = field(default_factory=dict)
    """Step -> ids of the frames whose labels come with it, and what each took a person, where that is known."""
    stream_state: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What the stream needs to go on after this step."""


@dataclass(frozen=True)
class StepTested:
    """The learner was tried on the frames of a step before it learnt from them: test, then train."""

    step: int
    detections: Mapping[int, Detections] = field(repr=False)
    """Frame id -> what was found."""
    truth: Mapping[int, Labels] = field(repr=False)
    """Frame id -> true labels, of the same frames."""


@dataclass(frozen=True)
class StepLearned:
    """The learner has taken in a step, or has refused to."""

    step: int
    losses: Mapping[str, float]
    labelled_ids: tuple[int, ...]
    present: tuple[int, ...]
    """Classes in the step's frames, labelled or not."""
    labelled: tuple[int, ...]
    """Classes in the step's labelled frames."""
    audit: PseudoLabelAudit | None
    memory_bytes: int
    """Of frames and labels kept: the memory's and those of the stream."""
    seconds: Mapping[str, float]
    """Where the time went: stream, and the learner's own parts."""
    pseudo: Mapping[int, Labels] = field(default_factory=dict, repr=False)
    """Frame id -> what the pseudo-labeller wrote, of every unlabelled frame that it looked at, trained on or not."""
    frames: tuple[Frame, ...] = field(default=(), repr=False)
    """The step's frames."""
    truth: Mapping[int, Labels] = field(default_factory=dict, repr=False)
    """Frame id -> true labels, as far as anybody knows them."""
    skipped: Mapping[int, str] = field(default_factory=dict)
    """Frame id -> what is wrong with it, of frames left out of the step because they could not be read."""
    refused: str | None = None
    """Why the learner is as it was before the step: the numbers that were not finite."""
    trained_on: tuple[int, ...] = ()
    """Frames in each update of the weights, one number an update."""
    check: PseudoLabelCheck | None = None
    """How right its pseudo-labeller is, as far as the learner can tell by itself."""
    labelled_frames: Mapping[int, int] = field(default_factory=dict)
    """Class -> labelled frames of the step that show it."""


@dataclass(frozen=True)
class Warned:
    """Something looks wrong. The run continues."""

    step: int
    what: str


@dataclass(frozen=True)
class Evaluated:
    """What a user would get, the slow learner where there is one, was tried on the whole test set after this step.

    Step -1: before the first one.
    """

    step: int
    ap_by_class: Mapping[str, float | None]
    """AP by class name, 0 to 1; None for a class without a test box."""
    seconds: float
    detections: Mapping[int, Detections] = field(repr=False)
    """Test frame id -> what was found."""
    ap_name: str = "AP50"
    """What the figure is called where it is shown; another definition has another name."""
    also: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    """Earlier run -> AP by class name on its test frames."""


@dataclass(frozen=True)
class StepFinished:
    """The step is over and the learner at rest: the moment to save."""

    step: int
    seconds: float = 0.0
    """Since the run began, or went on."""


@dataclass(frozen=True)
class StreamEnded:
    """No more steps. What is left is to sum up, and to evaluate if the source ended early."""

    steps: int


@dataclass(frozen=True)
class Scored:
    """The metrics of the whole run. Comes once, before RunFinished."""

    step: int
    """The last one."""
    scores: Mapping[str, float | None]
    """By the name of the metric, as in results.json."""


@dataclass(frozen=True)
class RunFinished:
    """The run is complete."""

    steps: int
    seconds: float
    """Since the run began, or went on."""


Event = (
    RunStarted
    | StepArrived
    | StepTested
    | StepLearned
    | Warned
    | Evaluated
    | StepFinished
    | StreamEnded
    | Scored
    | RunFinished
)
