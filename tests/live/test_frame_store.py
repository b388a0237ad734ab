"""Frames on the disk: what is read back is what was learnt from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from leocod.errors import InvalidFrame
from leocod.live.frame_store import FrameStore


@pytest.fixture
def image() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 255, (40, 60, 3), np.uint8)


def test_what_is_added_is_what_is_read(tmp_path: Path, image: np.ndarray) -> None:
    store = FrameStore(tmp_path / "frames", "run")

    added = store.add(7, image)
    store.make_durable(7)

    assert added.size == (40, 60)
    np.testing.assert_array_equal(added.image(), store.read(7).image())
    assert np.abs(added.image().astype(int) - image).mean() < 10


def test_only_what_is_wanted_stays(tmp_path: Path, image: np.ndarray) -> None:
    store = FrameStore(tmp_path / "frames", "run")
    for number in range(5):
        store.add(number, image)
    (store.folder / ".9.jpg.123.part").write_bytes(b"half")

    store.keep_only({1, 3, 99})

    assert sorted(file.name for file in store.folder.iterdir()) == ["1.jpg", "3.jpg"]
    assert store.has(1)
    assert not store.has(2)


def test_a_frame_that_is_gone_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidFrame, match=r"4\.jpg cannot be read"):
        FrameStore(tmp_path / "frames", "run").read(4)
