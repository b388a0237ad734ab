"""Copies of labelled frames in the place of unlabelled ones: what is augmented then is surely right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from leocod.types import LabelledFrame, Labels


def put_copies(
    pseudo: Sequence[LabelledFrame],
    labelled: Sequence[LabelledFrame],
    instead_of: Callable[[Labels], bool] = lambda labels: True,
) -> list[LabelledFrame]:
    """The pseudo-labelled frames, all or some of them replaced by frames that a person has labelled, which take turns.

    A copy counts as much as the frame that it replaces. Without labelled frames there is nothing to replace them by,
    and they are left out.
    """
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
