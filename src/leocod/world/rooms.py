"""Panoramas under a roof: walls and a floor, windows and doors, furniture. Nothing here has a class."""

from __future__ import annotations

import numpy as np

from leocod.world.panorama import BOARDS, FLOOR, GREENS, HEIGHT, HOUSES, SKIES, WALLS, Backdrop, Painter, Top
from leocod.world.pen import Colour, mix, shade


def paint_room(width: float, pixels_per_unit: float, random: np.random.Generator, furniture: str) -> Backdrop:
    """A room: a patterned wall, a floor in perspective, windows, doors, pictures, and furniture to put things on."""
    to = Painter(width, pixels_per_unit, random)
    _paint_wall(to, to.pick(WALLS))
    _paint_floor(to, to.pick(BOARDS))
    lights = [(to.any(0, width), 60.0, to.any(30, 60), to.any(-0.15, 0.22)) for _ in range(int(width / 140) + 1)]
    x = to.any(4, 24)
    while x < width - 30:
        feature = ("window", "picture", "door", "plain", "shelf", "cupboard", "radiator")[int(random.integers(7))]
        if feature == "window":
            span = to.any(36, 58)
            _paint_window(to, x, span)
            lights.append((x + span / 2, FLOOR + 34, 24.0, 0.22))
        elif feature == "door":
            span = to.any(32, 40)
            _paint_door(to, x, span)
        elif feature == "picture":
            span = to.any(18, 34)
            _paint_picture(to, x, span)
        elif feature == "cupboard":
            span = to.any(30, 48)
            _paint_cupboard(to, x, span)
        elif feature == "radiator":
            span = to.any(26, 40)
            for left in np.arange(x, x + span, 4.0):
                to.box(float(left), 84, float(left) + 3.2, FLOOR - 4, (214, 211, 204))
                to.box(float(left) + 3.2, 84, float(left) + 4, FLOOR - 4, (150, 148, 144))
        elif feature == "shelf":
            span = to.any(36, 56)
            board = to.pick(BOARDS)
            level = to.any(74, 84)
            to.box(x, level, x + span, level + 3, board)
            to.box(x, level + 3, x + span, level + 5, shade(board, 0.5))
            to.tops.append(Top(x + 8, x + span - 8, level + 1.5))
        else:
            span = to.any(10, 25)
        x += span + to.any(6, 26)
    for _ in range(int(width / 160)):
        rug = to.pick(WALLS + BOARDS)
        middle, reach = to.any(20, width - 20), to.any(30, 55)
        to.ellipse(middle, FLOOR + 32, reach, 12, shade(rug, 0.75))
        to.ellipse(middle, FLOOR + 32, reach * 0.88, 10, rug)
    x = to.any(6, 30)
    while x < width - 50:
        span = to.any(52, 86)
        _paint_table(to, x, min(span, width - 8 - x), furniture)
        x += span + to.any(18, 50)
    return to.finish(lights)


def _paint_wall(to: Painter, colour: Colour) -> None:
    to.gradient(0, FLOOR, shade(colour, 0.88), colour)
    pattern = ("stripes", "bricks", "tiles", "panel", "plain")[int(to.random.integers(5))]
    darker = shade(colour, to.any(0.86, 0.95))
    if pattern == "stripes":
        gap = to.any(5, 14)
        for x in np.arange(0, to.width, gap):
            to.box(float(x), 0, float(x) + gap * 0.4, FLOOR, darker)
    elif pattern in ("bricks", "tiles"):
        tall, wide = (6.0, 14.0) if pattern == "bricks" else (10.0, 10.0)
        for row, y in enumerate(np.arange(0, FLOOR, tall)):
            to.line([(0, float(y)), (to.width, float(y))], 0.6, darker)
            for x in np.arange(wide / 2 * (row % 2 if pattern == "bricks" else 0), to.width, wide):
                to.line([(float(x), float(y)), (float(x), float(y) + tall)], 0.6, darker)
    elif pattern == "panel":
        lower = to.pick(WALLS)
        to.box(0, 82, to.width, FLOOR, lower)
        to.box(0, 80, to.width, 83, shade(lower, 0.7))
        for x in np.arange(0, to.width, 18):
            to.line([(float(x), 84), (float(x), FLOOR)], 0.8, shade(lower, 0.85))
    to.box(0, FLOOR - 5, to.width, FLOOR, shade(colour, 1.12 if to.any(0, 1) < 0.5 else 0.6))


def _paint_floor(to: Painter, colour: Colour) -> None:
    to.box(0, FLOOR, to.width, HEIGHT, colour)
    middle = to.width / 2
    gap = to.any(8, 22)
    build = ("planks", "tiles", "carpet")[int(to.random.integers(3))]
    spread = 1.9
    edges = np.arange(-gap * 4, to.width + gap * 4, gap)
    for number, x in enumerate(edges):
        tone = shade(
            colour, to.any(0.88, 1.1) if build == "planks" else 1.0 if build == "carpet" else 0.92 + 0.14 * (number % 2)
        )
        left, right = float(x), float(x) + gap
        to.polygon(
            [
                (left, FLOOR),
                (right, FLOOR),
                (middle + (right - middle) * spread, HEIGHT),
                (middle + (left - middle) * spread, HEIGHT),
            ],
            tone,
        )
        if build != "carpet":
            to.line([(left, FLOOR), (middle + (left - middle) * spread, HEIGHT)], 0.7, shade(colour, 0.72))
    if build == "tiles":
        y, step = FLOOR, 4.0
        while y < HEIGHT:
            to.line([(0, y), (to.width, y)], 0.7, shade(colour, 0.72))
            y, step = y + step, step * 1.3
    for depth in range(5):
        to.line([(0, FLOOR + depth), (to.width, FLOOR + depth)], 1, shade(colour, 0.55 + 0.07 * depth))


def _paint_window(to: Painter, x: float, span: float) -> None:
    upper, lower = SKIES[int(to.random.integers(len(SKIES)))]
    frame = to.pick(((225, 222, 215), (90, 70, 55), (60, 64, 70)))
    top, bottom = to.any(24, 36), to.any(82, 90)
    to.box(x - 3, top - 3, x + span + 3, bottom + 3, frame)
    for y in np.arange(top, bottom, 2.0):
        to.box(x, float(y), x + span, min(bottom, float(y) + 2), mix(upper, lower, (float(y) - top) / (bottom - top)))
    green = to.pick(GREENS)
    for _ in range(5):
        middle = to.any(x + 6, x + span - 6)
        to.ellipse(middle, bottom - 5, 6, 5, shade(green, to.any(0.8, 1.2)))
    to.box(x + span / 2 - 1, top, x + span / 2 + 1, bottom, frame)
    to.box(x, (top + bottom) / 2 - 1, x + span, (top + bottom) / 2 + 1, frame)
    to.box(x - 5, bottom + 2, x + span + 5, bottom + 5, shade(frame, 0.85))
    if to.any(0, 1) < 0.5:
        cloth = to.pick(WALLS + GREENS)
        for side in (x - 6, x + span - 4):
            for fold in range(4):
                to.box(
                    side + fold * 2.5,
                    top - 6,
                    side + fold * 2.5 + 2.5,
                    bottom + 14,
                    shade(cloth, 0.85 + 0.15 * (fold % 2)),
                )


def _paint_door(to: Painter, x: float, span: float) -> None:
    wood = to.pick(BOARDS + WALLS)
    to.box(x - 3, 34, x + span + 3, FLOOR, shade(wood, 0.7))
    to.box(x, 37, x + span, FLOOR, wood)
    for top, bottom in ((42, 68), (74, FLOOR - 6)):
        to.box(x + 5, top, x + span - 5, bottom, shade(wood, 0.86))
        to.box(x + 6, top + 1.5, x + span - 5, bottom, shade(wood, 0.95))
    to.ellipse(x + span - 4, 78, 1.6, 1.6, (200, 180, 110))


def _paint_cupboard(to: Painter, x: float, span: float) -> None:
    """Open shelves with boxes and baskets in them."""
    wood = to.pick(BOARDS)
    top = to.any(26, 50)
    to.box(x, top, x + span, FLOOR + 3, wood)
    rows = max(2, int((FLOOR - top) / 22))
    tall = (FLOOR - top) / rows
    for row in range(rows):
        upper, lower = top + row * tall + 2, top + (row + 1) * tall - 1
        to.box(x + 2, upper, x + span - 2, lower, shade(wood, 0.5))
        left = x + to.any(3, 8)
        while left < x + span - 10:
            right = min(x + span - 3, left + to.any(5, 14))
            to.box(left, max(upper + 2, lower - to.any(6, 17)), right, lower, to.pick(WALLS + BOARDS + GREENS))
            left = right + to.any(1, 9)


def _paint_picture(to: Painter, x: float, span: float) -> None:
    top, tall = to.any(34, 52), to.any(16, 28)
    to.box(x, top, x + span, top + tall, shade(to.pick(BOARDS), 0.6))
    inner = to.pick(WALLS + GREENS)
    to.box(x + 2, top + 2, x + span - 2, top + tall - 2, inner)
    for _ in range(3):
        left, upper = to.any(x + 3, x + span - 9), to.any(top + 3, top + tall - 8)
        to.box(
            left,
            upper,
            min(x + span - 3, left + to.any(3, 14)),
            min(top + tall - 3, upper + to.any(3, 10)),
            to.pick(HOUSES + GREENS + WALLS),
        )


def _paint_table(to: Painter, x: float, span: float, furniture: str) -> None:
    wood = to.pick(BOARDS + WALLS[-2:])
    top = to.any(88, 97)
    if furniture == "counter" or (furniture == "mixed" and to.any(0, 1) < 0.5):
        to.box(x, top, x + span, FLOOR + 5, wood)
        for number in range(max(1, int(span / 22))):
            left = x + 2 + number * span / max(1, int(span / 22))
            right = left + span / max(1, int(span / 22)) - 4
            to.box(left, top + 5, right, FLOOR + 2, shade(wood, 0.86))
            to.box((left + right) / 2 - 3, top + 7, (left + right) / 2 + 3, top + 8.5, shade(wood, 0.45))
    else:
        for leg in (x + 3, x + span - 6):
            to.box(leg, top, leg + 3, FLOOR + 6, shade(wood, 0.7))
        to.box(x + 3, top + 3, x + span - 3, top + 8, shade(wood, 0.75))
        to.ellipse(x + span / 2, FLOOR + 6, span / 2, 3, shade(wood, 0.35))
        for leg in (x + 1, x + span - 4):
            to.box(leg, top, leg + 3, FLOOR + 7, shade(wood, 0.85))
    to.polygon([(x + 2, top - 6), (x + span - 2, top - 6), (x + span + 2, top), (x - 2, top)], shade(wood, 1.12))
    to.box(x - 2, top, x + span + 2, top + 3, shade(wood, 0.8))
    to.tops.append(Top(x + 8, x + span - 8, top - 0.5))
