"""How one thing is drawn: the traits of an instance, the pen that draws it, and the finished sprite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import cos, pi, sin

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

Colour = tuple[int, int, int]
Point = tuple[float, float]

OVERSAMPLING = 3
MARGIN = 0.08
"""Room around the drawing for handles and the shadow, as a share of its longer side."""
SHADOW_ALPHA = 90
"""Below one half, so that a shadow darkens the ground but is not part of the thing's box."""


def clip_colour(values: Sequence[float] | NDArray[np.float64]) -> Colour:
    """Whole numbers from 0 to 255."""
    red, green, blue = (int(min(255.0, max(0.0, value))) for value in values)
    return red, green, blue


def shade(colour: Colour, factor: float) -> Colour:
    """The same colour, darker (below 1) or lighter (above 1)."""
    return clip_colour([channel * factor for channel in colour])


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """`share` of the second colour in the first."""
    return clip_colour([a + (b - a) * share for a, b in zip(first, second, strict=True)])


class Traits:
    """The random traits of an instance. At variation 0 every instance is the template of its class."""

    def __init__(self, random: np.random.Generator, variation: float) -> None:
        self.random = random
        self.variation = variation

    def number(self, typical: float, low: float, high: float) -> float:
        """A measure: `typical` without variation, anywhere from `low` to `high` with variation 1, beyond above 1."""
        return typical + self.variation * (float(self.random.uniform(low, high)) - typical)

    def choose(self, *options: str) -> str:
        """One of several builds; the first is the template's."""
        drawn = options[int(self.random.integers(len(options)))]
        return drawn if self.random.random() < self.variation else options[0]

    def chance(self, probability: float) -> bool:
        """Whether something that the template lacks is there."""
        return bool(self.random.random() < probability * min(1.0, self.variation))

    def colour(self, *options: Colour) -> Colour:
        """One of the colours a class comes in, or now and then any colour, never twice the same."""
        drawn = options[int(self.random.integers(len(options)))]
        odd = mix(clip_colour(self.random.uniform(0, 255, 3)), (120, 115, 110), 0.4)
        jitter = self.random.normal(0, 16, 3) + self.random.normal(0, 24)
        luck = self.random.random(2)
        base = options[0] if luck[0] >= self.variation else odd if luck[1] < 0.3 * self.variation else drawn
        return clip_colour(np.asarray(base) + self.variation * jitter)

    def paint(self, *options: Colour, patterns: Sequence[str] = ("plain",)) -> Paint:
        """A colour and what is printed on it."""
        colour = self.colour(*options)
        accent = mix(clip_colour(self.random.uniform(0, 255, 3)), (130, 125, 120), 0.25)
        strength = float(self.random.uniform(0.25, 0.9))
        return Paint(
            colour=colour,
            accent=mix(colour, accent, strength),
            pattern=self.choose(*patterns),
            period=float(self.random.uniform(0.1, 0.3)),
            angle=float(self.random.choice([0.0, np.pi / 2, np.pi / 4, -np.pi / 4])),
        )


@dataclass(frozen=True)
class Paint:
    """A colour with a pattern printed in a second colour."""

    colour: Colour
    accent: Colour
    pattern: str = "plain"
    period: float = 0.2
    angle: float = 0.0


PATTERNS = ("plain", "stripes", "dots", "checks", "speckle", "band")


@lru_cache(maxsize=64)
def make_pattern_mask(pattern: str, size: tuple[int, int], period: float, angle: float) -> Image.Image:
    """Where the accent colour goes, over a canvas of this size."""
    width, height = size
    y, x = np.mgrid[0:height, 0:width] / max(size)
    across = (x * np.cos(angle) + y * np.sin(angle)) / period
    along = (y * np.cos(angle) - x * np.sin(angle)) / period
    if pattern == "stripes":
        printed = (across % 1) < 0.45
    elif pattern == "dots":
        printed = ((across % 1 - 0.5) ** 2 + (along % 1 - 0.5) ** 2) < 0.08
    elif pattern == "checks":
        printed = (np.floor(across) + np.floor(along)) % 2 == 0
    elif pattern == "speckle":
        grains = np.random.default_rng(7).random((height // 6 + 1, width // 6 + 1)) < 0.3
        printed = np.kron(grains, np.ones((6, 6)))[:height, :width] > 0
    else:
        printed = np.abs(y - 0.5) < period
    return Image.fromarray((printed * 255).astype(np.uint8))


@dataclass(frozen=True)
class Sprite:
    """A finished drawing at falling resolutions: colour, and coverage from 0 to 255."""

    colour: tuple[Image.Image, ...]
    coverage: tuple[Image.Image, ...]
    size: tuple[float, float]
    """Width and height of the whole canvas in world units."""
    foot: Point
    """Where the thing stands: a share of the canvas' width and height."""


def measure_margin(width: float, height: float) -> float:
    """World units around a thing of this width and height that its drawing has besides."""
    return MARGIN * max(width, height) + 1.0


class Pen:
    """Draws parts in coordinates from 0 to 1 over the thing's box, left to right and top to bottom."""

    def __init__(self, width: float, height: float, *, pixels_per_unit: float) -> None:
        """A thing of this width and height in world units."""
        self.width, self.height = width, height
        self.scale = pixels_per_unit * OVERSAMPLING
        self.margin = measure_margin(width, height)
        self.size = (
            max(8 * OVERSAMPLING, int((width + 2 * self.margin) * self.scale)),
            max(8 * OVERSAMPLING, int((height + 2 * self.margin) * self.scale)),
        )
        self.canvas = Image.new("RGB", self.size, (110, 105, 100))
        self.mask = Image.new("L", self.size, 0)
        self.on_canvas = ImageDraw.Draw(self.canvas)
        self.on_mask = ImageDraw.Draw(self.mask)

    def place(self, point: Point) -> Point:
        return (self.margin + point[0] * self.width) * self.scale, (self.margin + point[1] * self.height) * self.scale

    def polygon(self, points: Sequence[Point], paint: Paint | Colour) -> None:
        placed = [self.place(point) for point in points]
        if isinstance(paint, Paint) and paint.pattern != "plain":
            part = Image.new("L", self.size, 0)
            ImageDraw.Draw(part).polygon(placed, fill=255)
            printed = Image.new("RGB", self.size, paint.colour)
            pattern = make_pattern_mask(paint.pattern, self.size, round(paint.period, 2), paint.angle)
            printed.paste(paint.accent, (0, 0), pattern)
            self.canvas.paste(printed, (0, 0), part)
        else:
            self.on_canvas.polygon(placed, fill=paint.colour if isinstance(paint, Paint) else paint)
        self.on_mask.polygon(placed, fill=255)

    def box(self, left: float, top: float, right: float, bottom: float, paint: Paint | Colour) -> None:
        self.polygon([(left, top), (right, top), (right, bottom), (left, bottom)], paint)

    def rounded_box(
        self, left: float, top: float, right: float, bottom: float, paint: Paint | Colour, r: float = 0.3
    ) -> None:
        """A box with round corners; `r` is a share of its shorter side."""
        radius = r * min((right - left) * self.width, (bottom - top) * self.height)
        rx, ry = radius / self.width, radius / self.height
        corners = ((right - rx, bottom - ry), (left + rx, bottom - ry), (left + rx, top + ry), (right - rx, top + ry))
        points = [
            (x + rx * cos((quarter + share) * pi / 2), y + ry * sin((quarter + share) * pi / 2))
            for quarter, (x, y) in enumerate(corners)
            for share in (0, 0.25, 0.5, 0.75, 1)
        ]
        self.polygon(points, paint)

    def ellipse(self, x: float, y: float, rx: float, ry: float, paint: Paint | Colour, tilt: float = 0.0) -> None:
        angles = np.linspace(0, 2 * np.pi, 25)[:-1]
        across, up = rx * np.cos(angles) * self.width, ry * np.sin(angles) * self.height
        xs = x + (across * np.cos(tilt) - up * np.sin(tilt)) / self.width
        ys = y + (across * np.sin(tilt) + up * np.cos(tilt)) / self.height
        self.polygon(list(zip(xs.tolist(), ys.tolist(), strict=True)), paint)

    def disc(self, x: float, y: float, radius: float, paint: Paint | Colour, squeeze: float = 1.0) -> None:
        """A circle whose radius is a share of the height; squeezed sideways when it is turned away."""
        self.ellipse(x, y, radius * self.height / self.width * squeeze, radius, paint)

    def line(self, points: Sequence[Point], width: float, colour: Colour) -> None:
        """A bar along the points; its width is a share of the longer side."""
        placed = [self.place(point) for point in points]
        pixels = max(OVERSAMPLING, round(width * max(self.width, self.height) * self.scale))
        self.on_canvas.line(placed, fill=colour, width=pixels, joint="curve")
        self.on_mask.line(placed, fill=255, width=pixels, joint="curve")

    def lathe(self, profile: Sequence[Point], paint: Paint | Colour, x: float = 0.5) -> None:
        """A shape as from a lathe: (half width, height) pairs from top to bottom, joined smoothly."""
        halves, heights = np.asarray(profile, dtype=float).T
        steps = np.linspace(0, len(profile) - 1, 6 * len(profile))
        smooth = np.interp(steps, np.arange(len(profile)), halves)
        smooth[1:-1] = (smooth[:-2] + 2 * smooth[1:-1] + smooth[2:]) / 4
        ys = np.interp(steps, np.arange(len(profile)), heights)
        left = list(zip((x - smooth).tolist(), ys.tolist(), strict=True))
        right = list(zip((x + smooth).tolist(), ys.tolist(), strict=True))
        self.polygon(left + right[::-1], paint)

    def sprite(self, *, light: float, grain: float, random: np.random.Generator, shadow: bool = True) -> Sprite:
        """Finish: light from one side (-1 left to 1 right), rounded edges, surface grain, and a shadow at the foot."""
        colour, coverage = self.canvas.reduce(OVERSAMPLING), self.mask.reduce(OVERSAMPLING)
        width, height = coverage.size
        solid = np.asarray(coverage.filter(ImageFilter.BoxBlur(max(1.0, min(width, height) / 14))), np.float32) / 255
        x = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
        y = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
        shading = (0.62 + 0.42 * solid) * (1 + 0.22 * light * x - 0.12 * y)
        shading = shading + random.normal(0, grain, (height, width)).astype(np.float32)
        lit = np.clip(np.asarray(colour, np.float32) * shading[:, :, None], 0, 255).astype(np.uint8)
        colour = Image.fromarray(lit)
        if shadow:
            colour, coverage = self._add_shadow(colour, coverage, light)
        levels = [(colour, coverage)]
        while min(levels[-1][1].size) >= 8 and len(levels) < 4:
            levels.append((levels[-1][0].reduce(2), levels[-1][1].reduce(2)))
        return Sprite(
            tuple(level[0] for level in levels),
            tuple(level[1] for level in levels),
            (self.width + 2 * self.margin, self.height + 2 * self.margin),
            (0.5, (self.margin + self.height) / (self.height + 2 * self.margin)),
        )

    def _add_shadow(self, colour: Image.Image, coverage: Image.Image, light: float) -> tuple[Image.Image, Image.Image]:
        width, height = coverage.size
        foot = (self.margin + self.height) / (self.height + 2 * self.margin) * height
        depth = max(1.5, 0.06 * height)
        middle = width * (0.5 - 0.08 * light)
        cast = Image.new("L", coverage.size, 0)
        ImageDraw.Draw(cast).ellipse(
            (middle - 0.38 * width, foot - depth, middle + 0.38 * width, foot + 0.8 * depth), fill=SHADOW_ALPHA
        )
        cast = cast.filter(ImageFilter.BoxBlur(1))
        dark = Image.new("RGB", colour.size, (16, 14, 18))
        # Edge pixels keep the thing's own colour, so that downsampling does not draw a dark rim.
        dark.paste(colour, (0, 0), coverage.point([0] * 8 + [255] * 248))
        return dark, Image.fromarray(np.maximum(np.asarray(cast), np.asarray(coverage)))
