"""How new things are: which instances the labelled frames of a stream show, and which come back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leocod.settings import Settings
from leocod.types import LabelledFrame


class Novelty(Settings):
    """Shares of instances, from 0 to 1; null where there is no instance to count."""

    instances: int
    """Different things in the whole stream."""
    seen_in_step: float | None = None
    """Of the instances in the unlabelled frames of a step: the share that its labelled frames show, too."""
    never_labelled: float | None = None
    """Of all instances: the share that no labelled frame of the stream shows."""
    seen_before: float | None = None
    """Of the instances of a class that comes back after a gap: the share that was there at an earlier visit of it."""


@dataclass(frozen=True)
class StepInstances:
    """The instances of one step."""

    labelled: frozenset[int]
    """Those that labelled frames show."""
    unlabelled: frozenset[int]
    """Those that other frames show."""
    by_class: Mapping[int, frozenset[int]]
    """Those of each class, in any frame."""


def collect_instances(
    pairs: Sequence[LabelledFrame], instances: Sequence[NDArray[np.int64]], labelled: Collection[int]
) -> StepInstances:
    """Collect the instances of a step. `labelled` has the ids of its labelled frames."""
    shown: dict[bool, set[int]] = {True: set(), False: set()}
    by_class: dict[int, set[int]] = defaultdict(set)
    for (frame, labels), ids in zip(pairs, instances, strict=True):
        shown[frame.id in labelled].update(ids.tolist())
        for kind, instance in zip(labels.classes.tolist(), ids.tolist(), strict=True):
            by_class[kind].add(instance)
    classes = {kind: frozenset(members) for kind, members in by_class.items()}
    return StepInstances(frozenset(shown[True]), frozenset(shown[False]), classes)


def measure_novelty(steps: Sequence[StepInstances]) -> Novelty:
    """Count over all steps. An instance counts once in each step, or in each visit, however many frames show it."""
    everything = frozenset[int]().union(*(step.labelled | step.unlabelled for step in steps))
    labelled = frozenset[int]().union(*(step.labelled for step in steps))
    hidden = sum(len(step.unlabelled) for step in steps)
    known = sum(len(step.unlabelled & step.labelled) for step in steps)
    back = [
        visit
        for kind in sorted({kind for step in steps for kind in step.by_class})
        for visit in _list_returns(steps, kind)
    ]
    returned = sum(len(visit) for visit, _ in back)
    return Novelty(
        instances=len(everything),
        seen_in_step=known / hidden if hidden else None,
        never_labelled=len(everything - labelled) / len(everything) if everything else None,
        seen_before=sum(len(visit & earlier) for visit, earlier in back) / returned if returned else None,
    )


def _list_returns(steps: Sequence[StepInstances], kind: int) -> list[tuple[frozenset[int], frozenset[int]]]:
    """For each visit of a class but its first: the instances of the visit, and those of all earlier ones."""
    visits: list[frozenset[int]] = []
    away = True
    for step in steps:
        here = step.by_class.get(kind, frozenset())
        if here and away:
            visits.append(here)
        elif here:
            visits[-1] |= here
        away = not here
    return [(visit, frozenset[int]().union(*visits[:number])) for number, visit in enumerate(visits) if number]
