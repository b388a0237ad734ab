from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from leocod.world.objects import CLASS_NAMES, STRANGER
from leocod.world.places import Item, Place, build, settle
from leocod.world.scene import OCCLUDER, SMALLEST_SIDE, Camera, Optics, Picture, aim, render
from leocod.world.walk import Gaze

ALL = tuple(range(len(CLASS_NAMES)))
OPTICS = Optics(128, 96, variation=0.8, object_size=1.0, clutter=0.0, min_visible=0.12)
STRAIGHT = Gaze(pan=0.5, tilt=0.5, zoom=1.0, roll=0.0, sidestep=0.0)


@pytest.fixture(scope="module")
def place() -> Place:
    setting, residents = settle(1, 3, ALL)[0]
    return build(1, 0, setting, residents, kinds=ALL, instances=8, view_width=128, pixels_per_unit=1.4)


def chair_at(place: Place, across: float, *, depth: float = 130.0, instance: int = 1, kind: int = 1) -> Item:
    """A chair (or another kind) this many world units right of the middle of the straight view."""
    return Item(kind, (instance,), aim(place, STRAIGHT, OPTICS).x + across, depth, depth, 1.0, mirrored=False)


def photograph(place: Place, *items: Item, gaze: Gaze = STRAIGHT, optics: Optics = OPTICS) -> Picture:
    return render(place, items, gaze, optics, np.random.default_rng(5))


def test_the_camera_maps_world_to_pixels_and_back() -> None:
    camera = Camera(x=200, y=100, scale=1.3, roll=0.08, shear=0.06, middle=(64, 48))

    u, v = camera.project(230, 125)
    a, b, c, d, e, f = camera.unproject(2.0)

    assert (a * u + b * v + c, d * u + e * v + f) == pytest.approx((460, 250))


def test_a_box_is_the_bounds_of_the_pixels_a_thing_owns(place: Place) -> None:
    picture = photograph(place, chair_at(place, -20), chair_at(place, 25, instance=2))

    assert len(picture.boxes) == 2
    for box, number in zip(picture.boxes, picture.numbers, strict=True):
        rows, columns = np.nonzero(picture.owners == number)
        assert box.tolist() == [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


def test_the_box_holds_the_pixels_that_the_thing_changes(place: Place) -> None:
    empty, full = photograph(place, chair_at(place, 5000)), photograph(place, chair_at(place, 0))
    left, top, right, bottom = full.boxes[0].astype(int)

    changed = np.abs(empty.pixels.astype(int) - full.pixels.astype(int)).max(axis=2) > 60

    assert changed[top:bottom, left:right].sum() > 0.85 * changed.sum() > 0


def test_a_whole_thing_is_wholly_visible(place: Place) -> None:
    assert photograph(place, chair_at(place, 0)).visible == {1: 1.0}


def test_a_thing_cut_by_the_border_is_boxed_up_to_the_border(place: Place) -> None:
    picture = photograph(place, chair_at(place, 62))

    assert picture.boxes[0, 2] == 128
    assert 0.12 < picture.visible[1] < 0.9


def test_a_hidden_part_is_not_in_the_box(place: Place) -> None:
    alone = photograph(place, chair_at(place, 0))
    hidden = photograph(place, chair_at(place, 0), chair_at(place, 12, kind=STRANGER, instance=9))

    assert hidden.visible[1] < alone.visible[1]
    assert len(hidden.boxes) == 1
    assert hidden.boxes[0, 2] <= alone.boxes[0, 2]


def test_things_are_labelled_down_to_the_smallest_visible_share_and_no_further(place: Place) -> None:
    shares: dict[bool, list[float]] = {True: [], False: []}

    for across in np.arange(40, 84, 1.0):
        picture = photograph(place, chair_at(place, float(across)))
        if 1 in picture.visible:
            columns = np.flatnonzero((picture.owners == 1).any(axis=0))
            if len(columns) >= SMALLEST_SIDE:
                shares[len(picture.boxes) == 1].append(picture.visible[1])

    assert min(shares[True]) >= OPTICS.min_visible
    assert min(shares[True]) < 0.3
    assert all(share < OPTICS.min_visible for share in shares[False])


def test_a_stricter_rule_labels_less(place: Place) -> None:
    cut = chair_at(place, 62)

    assert len(photograph(place, cut).boxes) == 1
    assert len(photograph(place, cut, optics=replace(OPTICS, min_visible=0.95)).boxes) == 0


def test_what_has_no_class_is_never_labelled(place: Place) -> None:
    picture = photograph(place, chair_at(place, 0, kind=STRANGER))

    assert (picture.owners == 1).any()
    assert len(picture.boxes) == 0


def test_occluders_own_their_pixels(place: Place) -> None:
    crowded = replace(OPTICS, clutter=3.0)

    pictures = [render(place, [], STRAIGHT, crowded, np.random.default_rng(seed)) for seed in range(20)]

    assert any((picture.owners == OCCLUDER).any() for picture in pictures)


def test_the_view_never_leaves_the_panorama(place: Place) -> None:
    for pan in (0.0, 1.0):
        for tilt in (0.0, 1.0):
            for roll in (-0.1, 0.1):
                for sidestep in (-1.0, 1.0):
                    camera = aim(place, Gaze(pan, tilt, 0.82, roll, sidestep), OPTICS)
                    a, b, c, d, e, f = camera.unproject(place.backdrop.pixels_per_unit)
                    for u, v in ((0, 0), (128, 0), (0, 96), (128, 96)):
                        assert 0 <= a * u + b * v + c <= place.backdrop.picture.width
                        assert 0 <= d * u + e * v + f <= place.backdrop.picture.height
