"""The walk: in which place the wearer is at each step, and where the camera looks in each frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SLOW_FRAMES = 34.0
FAST_FRAMES = 1.5
"""Frames between two targets of the gaze at speed 1: one while strolling along, one while looking around."""


@dataclass(frozen=True)
class Itinerary:
    """The place of every step, as small integers: a long walk takes little memory."""

    place: NDArray[np.int32]
    visit: NDArray[np.int32]
    """Number of the visit, counted over all places."""
    since: NDArray[np.int32]
    """Steps since the visit began."""


def plan_itinerary(seed: int, *, steps: int, places: int, stay: float) -> Itinerary:
    """Plan long and short visits; the first places are visited often, the last ones rarely.

    Each visit goes to the place that is most overdue for its popularity, with some chance: so even a rare place is seen
    again in a long walk, after a long absence.
    """
    random = np.random.default_rng([seed, 6])
    popularity = 1.0 / (np.arange(places) + 2.2) ** 1.25
    popularity /= popularity.sum()
    seen = np.zeros(places)
    place: list[int] = []
    visit: list[int] = []
    since: list[int] = []
    last, number = -1, 0
    while len(place) < steps:
        overdue = popularity * (number + 1) - seen + random.gumbel(0, 0.35, places)
        if places > 1 and last >= 0:
            overdue[last] = -np.inf
        last = int(np.argmax(overdue))
        seen[last] += 1
        length = 1 + int(random.gamma(2.0, max(0.0, stay - 1 + 0.5) / 2.0)) if stay > 1 else 1
        for offset in range(min(length, steps - len(place))):
            place.append(last)
            visit.append(number)
            since.append(offset)
        number += 1
    return Itinerary(np.asarray(place, np.int32), np.asarray(visit, np.int32), np.asarray(since, np.int32))


@dataclass(frozen=True)
class Gaze:
    """Where the camera looks: `pan` and `tilt` from 0 to 1 over the place, the rest in its own unit."""

    pan: float
    tilt: float
    zoom: float
    roll: float
    """Radians."""
    sidestep: float
    """How far the wearer stepped aside, -1 to 1: what is near shifts against what is far."""


def aim_gaze(seed: int, visit: int, time: int, *, speed: float) -> Gaze:
    """Aim the camera at one frame of a visit: it drifts along the place and jumps, as a head does in two seconds."""
    slow = _interpolate_targets(seed, visit, time * speed / SLOW_FRAMES, 0)
    fast = _interpolate_targets(seed, visit, time * speed / FAST_FRAMES, 1)
    bob = np.random.default_rng([seed, 8, visit, time]).normal(0, 1, 2)
    pan = 0.5 + 1.2 * (0.45 * (slow[0] - 0.5) + 0.6 * (fast[0] - 0.5))
    return Gaze(
        pan=float(min(1.0, max(0.0, pan))),
        tilt=float(min(1.0, max(0.0, 0.75 * fast[1] + 0.25 * slow[1] + 0.1 * bob[0]))),
        zoom=float(np.exp(np.log(0.82) + np.log(1.8 / 0.82) * (0.85 * fast[2] + 0.15 * slow[2]))),
        roll=float(np.clip(0.03 * bob[1] + 0.08 * (fast[3] - 0.5), -0.1, 0.1)),
        sidestep=float(fast[4] + slow[4] - 1.0),
    )


def _interpolate_targets(seed: int, visit: int, time: float, layer: int) -> NDArray[np.float64]:
    """Interpolate between random targets at whole times: any time can be computed without those before it."""
    before = int(time)
    share = time - before
    share = share * share * (3 - 2 * share)
    first = np.random.default_rng([seed, 7, visit, layer, before]).random(5)
    if share == 0:
        return first
    second = np.random.default_rng([seed, 7, visit, layer, before + 1]).random(5)
    blended: NDArray[np.float64] = first + (second - first) * share
    return blended
