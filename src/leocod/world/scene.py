"""Render one frame of a place as the wearer's camera sees it, with the exact box of what is visible of each thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, cos, floor, log2, sin

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from leocod.world.objects import EDGE, HAND, VIEWS, draw_instance, measure_reach
from leocod.world.panorama import FLOOR
from leocod.world.pen import Sprite
from leocod.world.places import Item, Place
from leocod.world.walk import Gaze

VIEW_HEIGHT = 96.0
"""World units from top to bottom of a view at zoom 1."""
HORIZON = 104.0
SMALLEST_SIDE = 4
"""Pixels of a visible part below which nobody would draw a box."""
OCCLUDER = 255
"""The owner of pixels that show the wearer's hand or something else in front of everything."""

NEAREST, BILINEAR, AFFINE = Image.Resampling.NEAREST, Image.Resampling.BILINEAR, Image.Transform.AFFINE


@dataclass(frozen=True)
class Optics:
    """How things are drawn, the same for every frame of a world."""

    width: int
    height: int
    variation: float
    object_size: float
    clutter: float
    min_visible: float

    @property
    def pixels_per_unit(self) -> float:
        """Of the drawings kept in advance: a little finer than a view at zoom 1."""
        return 1.4 * self.height / VIEW_HEIGHT

    @property
    def view_width(self) -> float:
        return VIEW_HEIGHT * self.width / self.height


@dataclass(frozen=True)
class Picture:
    """A rendered frame with all that is known about it."""

    pixels: NDArray[np.uint8]
    boxes: NDArray[np.float32]
    kinds: NDArray[np.int64]
    """Position in KINDS of each labelled thing."""
    owners: NDArray[np.uint8]
    """Which thing each pixel shows: 0 the place, then the number given in `numbers`, 255 an occluder."""
    numbers: NDArray[np.int64]
    """The owner number of each labelled thing."""
    visible: dict[int, float]
    """Owner number -> visible share of the whole thing, for every thing that has a class and touches the view."""


@dataclass(frozen=True)
class Camera:
    """World units to pixels: turned by `roll`, magnified by `scale`, leaning by `shear` after a step aside."""

    x: float
    y: float
    scale: float
    roll: float
    shear: float
    middle: tuple[float, float]

    def project(self, x: float, y: float) -> tuple[float, float]:
        across, down = x - self.x + self.shear * (y - FLOOR), y - self.y
        turned = cos(self.roll) * across - sin(self.roll) * down, sin(self.roll) * across + cos(self.roll) * down
        return self.middle[0] + self.scale * turned[0], self.middle[1] + self.scale * turned[1]

    def unproject(self, pixels_per_unit: float) -> tuple[float, float, float, float, float, float]:
        """Coefficients from view pixels to panorama pixels, in Pillow's order."""
        c, s = cos(self.roll) / self.scale, sin(self.roll) / self.scale
        u, v = self.middle
        # The inverse turn first, then the inverse lean: across = turned - shear * (down + y - FLOOR).
        a, b, offset = c + self.shear * s, s - self.shear * c, self.x - self.shear * (self.y - FLOOR)
        p = pixels_per_unit
        return a * p, b * p, (offset - a * u - b * v) * p, -s * p, c * p, (self.y + s * u - c * v) * p


def aim(place: Place, gaze: Gaze, optics: Optics) -> Camera:
    """Point the camera so that the view stays inside the panorama."""
    scale = gaze.zoom * optics.height / VIEW_HEIGHT
    half = optics.view_width / gaze.zoom / 2 + 16
    reach = max(0.0, place.backdrop.width - 2 * half)
    middle = optics.width / 2, optics.height / 2
    y = HORIZON - 17 + 35 * gaze.tilt
    return Camera(half + gaze.pan * reach, y, scale, gaze.roll, 0.09 * gaze.sidestep, middle)


def render(place: Place, items: Sequence[Item], gaze: Gaze, optics: Optics, random: np.random.Generator) -> Picture:
    """One frame. Boxes are those of the sharp picture: blur, light and noise come after."""
    camera = aim(place, gaze, optics)
    size = (optics.width, optics.height)
    canvas = place.backdrop.picture.transform(size, AFFINE, camera.unproject(place.backdrop.pixels_per_unit), BILINEAR)
    owners = Image.new("L", size, 0)
    luck = random.random((len(items), 3))
    areas: dict[int, tuple[int, int]] = {}
    for number, (item, draws) in enumerate(zip(items, luck, strict=True), start=1):
        area = _draw_item(canvas, owners, number, item, camera, optics, draws)
        if area and item.kind >= 0:
            areas[number] = (item.kind, area)
    _draw_occluders(canvas, owners, optics, random)
    pixels = _expose(np.asarray(canvas, np.float32), place.light, optics, random)
    return _label(pixels, np.asarray(owners), areas, optics)


def _draw_item(
    canvas: Image.Image,
    owners: Image.Image,
    number: int,
    item: Item,
    camera: Camera,
    optics: Optics,
    draws: NDArray[np.float64],
) -> int:
    """Paste a thing and write its number where it is; the pixels of the whole thing, 0 if it is out of view."""
    u, v = camera.project(item.x, item.y)
    scale = camera.scale * item.scale
    # Most things of a place are out of view. They are not drawn at all; a pixel more, for what is rounded.
    reach = 1 + scale * measure_reach(item.kind, variation=optics.variation, object_size=optics.object_size)
    if not (-reach < u < optics.width + reach and -reach < v < optics.height + reach):
        return 0
    bearing = (item.x - camera.x) / optics.view_width
    view = min(VIEWS - 1, max(0, int(VIEWS * (0.5 + 0.5 * bearing + 1.1 * (draws[0] - 0.5)))))
    sprite = draw_instance(
        item.kind,
        item.key,
        view=view,
        variation=optics.variation,
        object_size=optics.object_size,
        pixels_per_unit=optics.pixels_per_unit,
    )
    strength = min(1.0, optics.variation)
    squeeze = 1 - 0.28 * strength * draws[1]
    lean = camera.roll + 0.16 * strength * (draws[2] - 0.5)
    mirror = -1.0 if item.mirrored else 1.0
    return _paste(canvas, owners, number, sprite, (u, v), (scale * squeeze * mirror, scale), lean)


def _paste(
    canvas: Image.Image,
    owners: Image.Image,
    number: int,
    sprite: Sprite,
    foot: tuple[float, float],
    scale: tuple[float, float],
    lean: float,
) -> int:
    """Turn, scale and paste a sprite with its foot at a pixel; returns the pixels of the whole thing, cut or not."""
    c, s = cos(lean), sin(lean)
    width, height = sprite.size
    left, top = -sprite.foot[0] * width, -sprite.foot[1] * height
    corners = [(x * scale[0], y * scale[1]) for x in (left, left + width) for y in (top, top + height)]
    us = [foot[0] + c * x - s * y for x, y in corners]
    vs = [foot[1] + s * x + c * y for x, y in corners]
    u0, v0 = floor(min(us)), floor(min(vs))
    size = ceil(max(us)) - u0, ceil(max(vs)) - v0
    if u0 >= canvas.width or v0 >= canvas.height or u0 + size[0] <= 0 or v0 + size[1] <= 0:
        return 0
    finest = sprite.colour[0].height / height
    level = min(len(sprite.colour) - 1, max(0, floor(log2(max(finest / scale[1], 1e-6)) + 0.4)))
    colour, coverage = sprite.colour[level], sprite.coverage[level]
    px, py = colour.width / width, colour.height / height
    a, b, d, e = c / scale[0] * px, s / scale[0] * px, -s / scale[1] * py, c / scale[1] * py
    u, v = u0 - foot[0], v0 - foot[1]
    coefficients = (a, b, a * u + b * v - left * px, d, e, d * u + e * v - top * py)
    mask = coverage.transform(size, AFFINE, coefficients, BILINEAR)
    # A pixel belongs to what covers at least half of it.
    solid = mask.convert("1", dither=Image.Dither.NONE)
    canvas.paste(colour.transform(size, AFFINE, coefficients, BILINEAR), (u0, v0), mask)
    owners.paste(number, (u0, v0, u0 + size[0], v0 + size[1]), solid)
    return solid.histogram()[255]


def _draw_occluders(canvas: Image.Image, owners: Image.Image, optics: Optics, random: np.random.Generator) -> None:
    """Now and then the wearer's hand or something close to the camera is in the way."""
    draws = random.random(8)
    scale = optics.height / VIEW_HEIGHT
    for kind, odds, luck in ((HAND, 0.14, draws[0]), (EDGE, 0.1, draws[1])):
        if luck >= odds * optics.clutter:
            continue
        sharpness = 1.0 if kind == HAND else 0.15
        sprite = draw_instance(
            kind,
            (17, int(16 * draws[2])),
            view=int(VIEWS * draws[3]),
            variation=0.6,
            object_size=1.0,
            pixels_per_unit=optics.pixels_per_unit * sharpness,
        )
        low = optics.height * (1.05 + 0.3 * draws[4]) if kind == HAND else optics.height * 1.5
        size = scale * (0.7 + 0.5 * draws[5])
        _paste(
            canvas,
            owners,
            OCCLUDER,
            sprite,
            (optics.width * draws[6], low),
            (size, size),
            0.7 * (draws[7] - 0.5) * sharpness,
        )


def _expose(
    pixels: NDArray[np.float32], light: NDArray[np.float32], optics: Optics, random: np.random.Generator
) -> NDArray[np.uint8]:
    """Motion blur, the light of the place, the camera's changing exposure, and sensor noise."""
    angle, luck, side = random.random(3)
    length = 1.5 * luck + (5.0 * (luck - 0.8) * 5 if luck > 0.8 else 0.0)
    blurred = _smear(pixels, length * optics.height / VIEW_HEIGHT, float(np.pi * angle))
    gain, slope = np.exp(random.normal(0, 0.14)), random.normal(0, 0.1, 2)
    balance = (light * gain * np.exp(random.normal(0, 0.035, 3))).astype(np.float32)
    x = np.linspace(-1, 1, optics.width, dtype=np.float32)[None, :]
    y = np.linspace(-1, 1, optics.height, dtype=np.float32)[:, None]
    field = 1 + np.float32(slope[0]) * x + np.float32(slope[1]) * y - np.float32(0.12 * side) * (x * x + y * y)
    blurred *= field[:, :, None] * balance
    blurred += random.standard_normal(blurred.shape, np.float32) * np.float32(1.5 + 4.0 * random.random())
    return np.clip(blurred, 0, 255, out=blurred).astype(np.uint8)


def _smear(pixels: NDArray[np.float32], length: float, angle: float) -> NDArray[np.float32]:
    """The mean over a straight movement of `length` pixels."""
    along = np.linspace(-0.5, 0.5, max(2, ceil(length) + 1)) * length
    offsets = {(round(step * sin(angle)), round(step * cos(angle))) for step in along}
    if len(offsets) == 1:
        return pixels.copy()
    margin = ceil(length / 2) + 1
    padded = np.pad(pixels, ((margin, margin), (margin, margin), (0, 0)), mode="edge")
    height, width = pixels.shape[:2]
    total = np.zeros_like(pixels)
    for down, across in sorted(offsets):
        total += padded[margin + down : margin + down + height, margin + across : margin + across + width]
    total /= len(offsets)
    return total


def _label(
    pixels: NDArray[np.uint8], owners: NDArray[np.uint8], areas: dict[int, tuple[int, int]], optics: Optics
) -> Picture:
    """Boxes of the pixels that things own in the end, for those of which enough is left."""
    counts = np.bincount(owners.ravel(), minlength=256)
    boxes, kinds, numbers, visible = [], [], [], {}
    for number, (kind, area) in areas.items():
        visible[number] = float(counts[number]) / area
        if counts[number] == 0 or visible[number] < optics.min_visible:
            continue
        mine = owners == number
        rows, columns = np.flatnonzero(mine.any(axis=1)), np.flatnonzero(mine.any(axis=0))
        box = (columns[0], rows[0], columns[-1] + 1, rows[-1] + 1)
        if min(box[2] - box[0], box[3] - box[1]) >= SMALLEST_SIDE:
            boxes.append(box)
            kinds.append(kind)
            numbers.append(number)
    return Picture(
        pixels,
        np.asarray(boxes, np.float32).reshape(-1, 4),
        np.asarray(kinds, np.int64),
        owners,
        np.asarray(numbers, np.int64),
        visible,
    )
