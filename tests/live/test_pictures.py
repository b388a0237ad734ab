"""The live picture."""

from __future__ import annotations

import io
import json
import time
from threading import Event

import numpy as np
from PIL import Image as PillowImage

from leocod.live.pictures import WIDEST, Pictures, encode_jpeg
from leocod.live.sources.base import Captured
from leocod.types import Detections

FOUND = Detections(
    np.array([[1, 2, 30, 40], [0, 0, 5, 5]], np.float32), np.array([1, 0]), np.array([0.9, 0.2], np.float32)
)


def test_a_wide_picture_is_made_smaller() -> None:
    with PillowImage.open(io.BytesIO(encode_jpeg(np.zeros((1080, 1920, 3), np.uint8)))) as picture:
        assert picture.size == (WIDEST, 540)
    with PillowImage.open(io.BytesIO(encode_jpeg(np.zeros((48, 64, 3), np.uint8)))) as picture:
        assert picture.size == (64, 48)


def test_it_shows_the_newest_frame_with_what_is_surely_there() -> None:
    captured = Captured(np.zeros((48, 64, 3), np.uint8), time.time() - 1, 0)
    seen: set[int] = set()
    shown = Event()
    pictures = Pictures(lambda: captured, lambda image: FOUND, lambda number: f"class {number}", seen.update)
    pictures.viewers = 1
    pictures.listeners.add(shown.set)

    pictures.start()
    assert shown.wait(30)
    pictures.stop()

    assert pictures.current is not None
    length = int.from_bytes(pictures.current.message[:4], "big")
    header = json.loads(pictures.current.message[4 : 4 + length])
    assert (header["names"], header["boxes"], header["scores"]) == (["class 1"], [[1, 2, 30, 40]], [0.9])
    assert 1 <= header["lag"] < 30
    assert seen == {1}
    assert pictures.current.number == 1


def test_a_picture_that_fails_does_not_end_the_others() -> None:
    frames = [Captured(np.zeros((48, 64, 3), np.uint8), time.time(), number) for number in range(2)]
    calls: list[int] = []
    shown = Event()

    def detect(image: object) -> Detections:
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("once")
        return FOUND

    pictures = Pictures(lambda: frames[min(len(calls), 1)], detect, str, lambda classes: None)
    pictures.viewers = 1
    pictures.listeners.add(shown.set)
    pictures.start()

    assert shown.wait(30)
    pictures.stop()
