from __future__ import annotations

import numpy as np
import pytest

from leocod.world.panorama import FLOOR
from leocod.world.rooms import paint_room


@pytest.mark.parametrize("furniture", ["counter", "table", "mixed"])
def test_a_room_has_furniture_to_put_things_on(furniture: str) -> None:
    room = paint_room(400, 1.0, np.random.default_rng(2), furniture)

    assert len(room.tops) >= 2
    assert all(0 < top.left < top.right < room.width and top.y < FLOOR for top in room.tops)


def test_two_rooms_do_not_look_alike() -> None:
    one, other = (paint_room(300, 1.0, np.random.default_rng(seed), "table") for seed in (1, 2))

    assert (np.asarray(one.picture) != np.asarray(other.picture)).mean() > 0.5
