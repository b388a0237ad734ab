"""What a stream is: it hands out steps, once, in order, and tells the benchmark's side what it knows of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from leocod.learner import Learner
from leocod.types import Effort, Frame, Labels, Step


@dataclass(frozen=True, eq=False)
class Arrival:
    """A step as it arrives, with what only the benchmark's side may know. The learner gets the step alone."""

    step: Step
    truth: Mapping[int, Labels] = field(default_factory=dict, repr=False)
    """Frame id -> true labels, as far as anybody knows all of them."""
    skipped: Mapping[int, str] = field(default_factory=dict)
    """Frame id -> what is wrong with it, of frames left out of the step because they cannot be read."""
    warnings: tuple[str, ...] = ()
    """What looked wrong with the source before this step."""
    revealed: Mapping[int, Collection[int] | Mapping[int, Effort]] = field(default_factory=dict)
    """Step -> ids of the frames whose labels come with it, and what each took a person, where that is known. Offline
    training has the labels of all steps before the first."""
    bytes: int = 0
    """Frames and labels that the stream keeps: those whose labels are under way, all labelled frames for offline
    training, and nothing else."""
    state: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What the stream needs to go on after this step, in plain values: a checkpoint keeps it."""

    @property
    def known_frames(self) -> list[Frame]:
        """The frames of the step whose true labels are known."""
        return [frame for frame in self.step.frames if frame.id in self.truth]


class Steps(ABC):
    """Anything that hands out steps: a recorded benchmark, its labelled frames shuffled, a camera."""

    length: int | None = None
    """How many steps there are; None where nobody knows."""

    @abstractmethod
    def arrivals(self, start: int = 0, *, learner: Learner | None = None) -> Iterator[Arrival]:
        """Every step from `start` on, once, in order.

        `learner`: a labeller may ask it about frames, between two steps only. None: labels do not depend on it.
        """

    def steps(self, start: int = 0) -> Iterator[Step]:
        """What a learner gets: the steps alone."""
        return (arrival.step for arrival in self.arrivals(start))

    def load_state_dict(self, state: Mapping[str, Any]) -> None:  # noqa: B027
        """Go on after the step whose arrival had this state."""
