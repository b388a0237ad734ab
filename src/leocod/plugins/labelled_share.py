"""The share of the labelled frames in the update on the current frames, however many they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from leocod.types import LabelledFrame, Labels


def share_update(
    labelled: Sequence[LabelledFrame], others: Sequence[LabelledFrame], share: float | None
) -> list[LabelledFrame]:
    """All that is shown anew: the other frames; with a share, the labelled ones too, both weighed for it.

    Without frames of both kinds there is nothing to share.
    """
    if share is None or not labelled or not others:
        return list(others)
    frames = len(labelled) + len(others)
    return [
        *((frame, _scale(labels, frames * share / len(labelled))) for frame, labels in labelled),
        *((frame, _scale(labels, frames * (1 - share) / len(others))) for frame, labels in others),
    ]


def _scale(labels: Labels, factor: float) -> Labels:
    """The labels of a frame that counts so many times as much."""
    own = labels.weights
    weights = replace(own, proposals=own.proposals * factor, boxes=own.boxes * factor, classes=own.classes * factor)
    return replace(labels, weights=weights)
