"""What can happen in a run. Everything that shows, stores or draws a run reads these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from leocod.types import Detections, Labels


@dataclass(frozen=True)
class RunStarted:
    """The run begins, or goes on, at a step."""

    name: str
    classes: tuple[str, ...]
    steps: int
    first_step: int


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


@dataclass(frozen=True)
class StepLearned:
    """The learner has taken in a step."""

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
    skipped: Mapping[int, str] = field(default_factory=dict)
    """Frame id -> what is wrong with it, of frames left out of the step because they could not be read."""


@dataclass(frozen=True)
class Evaluated:
    """What a user would get, the slow learner where there is one, was tried on the whole test set after this step."""

    step: int
    ap_by_class: Mapping[str, float | None]
    """AP50 by class name, 0 to 1; None for a class without a test box."""
    seconds: float
    detections: Mapping[int, Detections] = field(repr=False)
    """Test frame id -> what was found."""
    ap_name: str = "AP50"
    """What the figure is called where it is shown; another definition has another name."""


@dataclass(frozen=True)
class StepFinished:
    """The step is over and the learner at rest: the moment to save."""

    step: int


@dataclass(frozen=True)
class RunFinished:
    """The stream has ended."""

    steps: int
    seconds: float


Event = RunStarted | StepLearned | Evaluated | StepFinished | RunFinished
