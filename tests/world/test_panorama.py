from __future__ import annotations

import numpy as np

from leocod.world.panorama import HEIGHT, Painter


def test_world_units_become_pixels() -> None:
    to = Painter(100, 2.0, np.random.default_rng(0))

    to.box(10, 20, 30, 40, (255, 0, 0))

    rows, columns = np.nonzero(np.asarray(to.picture)[:, :, 0] == 255)
    assert (columns.min(), columns.max(), rows.min(), rows.max()) == (20, 60, 40, 80)


def test_a_finished_panorama_is_lit_and_grimy_but_equal_for_equal_seeds() -> None:
    def paint() -> np.ndarray:
        to = Painter(100, 1.0, np.random.default_rng(3))
        to.box(0, 0, 100, HEIGHT, (120, 120, 120))
        return np.asarray(to.finish([(50.0, 100.0, 20.0, 0.4)]).picture)

    assert len(np.unique(paint())) > 20
    assert np.array_equal(paint(), paint())
