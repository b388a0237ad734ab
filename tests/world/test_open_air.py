from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from leocod.world.open_air import paint_park, paint_street
from leocod.world.panorama import FLOOR, Backdrop

Build = Callable[[float, float, np.random.Generator], Backdrop]


@pytest.mark.parametrize("build", [paint_street, paint_park])
def test_there_is_something_to_put_things_on(build: Build) -> None:
    view = build(420, 1.0, np.random.default_rng(2))

    assert view.tops
    assert all(0 < top.left < top.right < view.width and top.y < FLOOR for top in view.tops)


@pytest.mark.parametrize("build", [paint_street, paint_park])
def test_two_of_a_kind_do_not_look_alike(build: Build) -> None:
    one, other = (build(300, 1.0, np.random.default_rng(seed)) for seed in (1, 2))

    assert (np.asarray(one.picture) != np.asarray(other.picture)).mean() > 0.5
