"""What places are painted on: a wide picture in world units, and where things can stand in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from leocod.world.pen import Colour, Point, clip_colour, mix

HEIGHT = 216.0
"""Of every panorama, in world units: the camera's tilt and roll stay inside."""
FLOOR = 114.0
"""Where wall and floor meet."""
GROUND_DEPTH = 46.0
"""How far from there, downwards in the picture, things stand on the floor."""
WALLS: tuple[Colour, ...] = (
    (205, 196, 178),
    (176, 190, 196),
    (190, 202, 180),
    (214, 190, 170),
    (168, 160, 170),
    (150, 165, 175),
    (222, 218, 208),
    (190, 150, 130),
)
BOARDS: tuple[Colour, ...] = (
    (150, 110, 74),
    (112, 82, 60),
    (180, 152, 118),
    (132, 128, 122),
    (96, 92, 90),
    (190, 180, 165),
)
HOUSES: tuple[Colour, ...] = (
    (168, 102, 82),
    (190, 175, 150),
    (140, 140, 146),
    (205, 195, 180),
    (120, 98, 88),
    (160, 170, 165),
)
SKIES: tuple[tuple[Colour, Colour], ...] = (
    ((110, 160, 215), (200, 218, 230)),
    ((150, 160, 172), (200, 204, 206)),
    ((210, 160, 130), (240, 210, 170)),
    ((60, 80, 125), (140, 130, 160)),
)
GREENS: tuple[Colour, ...] = ((84, 122, 62), (110, 140, 70), (64, 100, 60), (128, 134, 82))


@dataclass(frozen=True)
class Top:
    """A flat place off the floor where small things stand."""

    left: float
    right: float
    y: float


@dataclass(frozen=True)
class Backdrop:
    """A finished panorama and where things can stand in it."""

    picture: Image.Image
    width: float
    pixels_per_unit: float
    tops: tuple[Top, ...]


class Painter:
    """Draws on a panorama in world units."""

    def __init__(self, width: float, pixels_per_unit: float, random: np.random.Generator) -> None:
        self.width, self.scale, self.random = width, pixels_per_unit, random
        self.picture = Image.new("RGB", (int(width * pixels_per_unit), int(HEIGHT * pixels_per_unit)))
        self.draw = ImageDraw.Draw(self.picture)
        self.tops: list[Top] = []

    def any(self, low: float, high: float) -> float:
        return float(self.random.uniform(low, high))

    def pick(self, colours: Sequence[Colour]) -> Colour:
        """One of the colours, a little off."""
        base = np.asarray(colours[int(self.random.integers(len(colours)))])
        return clip_colour(base + self.random.normal(0, 9, 3) + self.random.normal(0, 10))

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour) -> None:
        if right > left and bottom > top:
            self.draw.rectangle([value * self.scale for value in (left, top, right, bottom)], fill=colour)

    def polygon(self, points: Sequence[Point], colour: Colour) -> None:
        self.draw.polygon([(x * self.scale, y * self.scale) for x, y in points], fill=colour)

    def line(self, points: Sequence[Point], width: float, colour: Colour) -> None:
        placed = [(x * self.scale, y * self.scale) for x, y in points]
        self.draw.line(placed, fill=colour, width=max(1, round(width * self.scale)))

    def ellipse(self, x: float, y: float, rx: float, ry: float, colour: Colour) -> None:
        self.draw.ellipse([value * self.scale for value in (x - rx, y - ry, x + rx, y + ry)], fill=colour)

    def gradient(self, top: float, bottom: float, upper: Colour, lower: Colour) -> None:
        for y in np.arange(top, bottom, 2.0):
            self.box(0, float(y), self.width, float(y) + 2.5, mix(upper, lower, (float(y) - top) / (bottom - top)))

    def finish(self, lights: Sequence[tuple[float, float, float, float]]) -> Backdrop:
        """Put light pools (x, y, reach, strength) and grime over the picture."""
        pixels = np.asarray(self.picture.filter(ImageFilter.BoxBlur(0.4)), np.float32)
        height, width = pixels.shape[:2]
        field = _draw_noise(self.random, (height, width), 7, 0.055) + _draw_noise(
            self.random, (height, width), 60, 0.035
        )
        y, x = np.mgrid[0:height:8, 0:width:8].astype(np.float32) / self.scale
        pools = np.zeros_like(x)
        for middle_x, middle_y, reach, strength in lights:
            pools += strength * np.exp(-((x - middle_x) ** 2 + (y - middle_y) ** 2) / (2 * reach**2))
        field += np.asarray(Image.fromarray(pools).resize((width, height), Image.Resampling.BILINEAR))
        field += self.random.normal(0, 0.022, (height, width)).astype(np.float32)
        lit = np.clip(pixels * (1 + field[:, :, None]), 0, 255).astype(np.uint8)
        return Backdrop(Image.fromarray(lit), self.width, self.scale, tuple(self.tops))


def _draw_noise(random: np.random.Generator, size: tuple[int, int], cells: int, strength: float) -> NDArray[np.float32]:
    """Smooth noise around 0, about `cells` bumps high."""
    height, width = size
    grid = random.normal(0, strength, (cells, max(2, cells * width // height))).astype(np.float32)
    return np.asarray(Image.fromarray(grid).resize((width, height), Image.Resampling.BICUBIC))
