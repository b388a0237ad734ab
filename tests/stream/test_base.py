"""An arrival keeps what the learner gets apart from what only the benchmark's side may know."""

from __future__ import annotations

from leocod.stream.base import Arrival
from leocod.types import Labels


def test_the_frames_whose_truth_is_known_are_those_with_true_labels(a_step):
    step = a_step(frames=4, labelled=2)
    first, second, *_ = step.frames

    arrival = Arrival(step, truth={second.id: Labels.none(), first.id: Labels.none(), 99: Labels.none()})

    assert arrival.known_frames == [first, second]


def test_a_step_does_not_lead_to_its_arrival(a_step, reachable):
    step = a_step()
    hidden = Labels.none()
    arrival = Arrival(step, truth={step.frames[-1].id: hidden})

    assert not {id(arrival), id(hidden)} & {id(one) for one in reachable(step)}
