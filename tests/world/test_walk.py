from __future__ import annotations

import numpy as np

from leocod.world.walk import aim_gaze, plan_itinerary


def test_every_place_is_visited_and_the_first_ones_most() -> None:
    walk = plan_itinerary(3, steps=400, places=10, stay=8)

    often = np.bincount(walk.place, minlength=10)

    assert (often > 0).all()
    assert often[:3].sum() > 2 * often[-3:].sum()


def test_the_mean_stay_is_the_one_asked_for() -> None:
    for stay in (1, 4, 8):
        walk = plan_itinerary(5, steps=4000, places=10, stay=stay)

        assert abs(4000 / (walk.visit[-1] + 1) - stay) < 0.15 * stay


def test_a_stay_is_one_place_and_the_next_is_another() -> None:
    walk = plan_itinerary(5, steps=300, places=6, stay=5)

    same_visit = np.diff(walk.visit) == 0
    assert ((np.diff(walk.place) == 0) == same_visit).all()
    assert (np.diff(walk.since)[same_visit] == 1).all()


def test_a_longer_walk_begins_like_a_shorter_one() -> None:
    short, long = (plan_itinerary(5, steps=steps, places=6, stay=5) for steps in (50, 500))

    assert np.array_equal(short.place, long.place[:50])
    assert np.array_equal(short.visit, long.visit[:50])


def test_one_place_is_a_walk_too() -> None:
    assert set(plan_itinerary(5, steps=30, places=1, stay=3).place) == {0}


def test_the_gaze_stays_within_its_bounds() -> None:
    looks = [aim_gaze(1, 2, time, speed=1.0) for time in range(300)]

    assert all(0 <= look.pan <= 1 and 0 <= look.tilt <= 1 and abs(look.roll) <= 0.1 for look in looks)
    assert all(0.8 < look.zoom < 1.9 for look in looks)
    assert min(look.pan for look in looks) < 0.15
    assert max(look.pan for look in looks) > 0.85


def test_a_faster_camera_moves_further_between_frames() -> None:
    def jumps(speed: float) -> float:
        return float(np.abs(np.diff([aim_gaze(1, 2, time, speed=speed).pan for time in range(200)])).mean())

    assert jumps(0.05) < 0.25 * jumps(1.0)
    assert jumps(1.0) > 0.12


def test_each_visit_looks_around_differently() -> None:
    assert aim_gaze(1, 2, 5, speed=1.0) != aim_gaze(1, 3, 5, speed=1.0)
    assert aim_gaze(1, 2, 5, speed=1.0) == aim_gaze(1, 2, 5, speed=1.0)
