"""What can happen in a run. Sinks read these events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field
from typing import Any

from leocod.types import Detections, Frame, Labels


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


@dataclass(frozen=True)
class PseudoLabelAudit:
    """How right the pseudo labels of one step were, by the hidden truth. Counts, so that steps can be added up."""

    frames: int
    """Frames that were pseudo-labelled."""
    labels: int
    """Pseudo labels given."""
    right: int
    """Of these: same class as a true box, IoU at least 0.5, each true box matched once."""
    objects: int
    """True boxes in these frames."""

    @classmethod
    def together(cls, audits: Iterable[PseudoLabelAudit]) -> PseudoLabelAudit:
        """Of several steps."""
        return cls(*map(sum, zip((0, 0, 0, 0), *map(astuple, audits), strict=True)))


@dataclass(frozen=True)
class StepArrived:
    """The frames of a step are there. Until the step is learnt, the learner is not at rest."""

    step: int
    revealed: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Step -> ids of the frames that a person labelled for it."""
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
    """Of frames and labels kept: the memory's, and for offline training the whole stream's."""
    seconds: Mapping[str, float]
    """Where the time went: stream, and the learner's own parts."""
    pseudo: Mapping[int, Labels] = field(default_factory=dict, repr=False)
    """Frame id -> the pseudo labels it was given."""
    frames: tuple[Frame, ...] = field(default=(), repr=False)
    """The step's frames."""
    truth: Mapping[int, Labels] = field(default_factory=dict, repr=False)
    """Frame id -> true labels, as far as anybody knows them."""
    skipped: Mapping[int, str] = field(default_factory=dict)
    """Frame id -> what is wrong with it, of frames left out of the step because they could not be read."""
    refused: str | None = None
    """Why the learner is as it was before the step: the numbers that were not finite."""


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
