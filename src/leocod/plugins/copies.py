"""Copies of labelled frames in the place of unlabelled ones: what is augmented then is surely right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from leocod.types import LabelledFrame, Labels, Step


def put_copies(
    step: Step, pseudo: Sequence[LabelledFrame], instead_of: Callable[[Labels], bool]
) -> list[LabelledFrame]:
    """The pseudo-labelled frames, some of them replaced by the step's labelled frames, which take turns.

    A copy counts as much as the frame that it replaces. Without labelled frames there is nothing to replace them by,
    and they are left out.
    """
    labelled = step.labelled("human")
    taught: list[LabelledFrame] = []
    turn = 0
    for frame, found in pseudo:
        if not instead_of(found):
            taught.append((frame, found))
        elif labelled:
            shown, given = labelled[turn % len(labelled)]
            taught.append((replace(shown, id=frame.id), replace(given, source="pseudo", weights=found.weights)))
            turn += 1
    return taught
