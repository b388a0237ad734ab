"""Panoramas under the sky: streets with houses and a road, parks with trees and lawn."""

from __future__ import annotations

import numpy as np

from leocod.world.panorama import BOARDS, FLOOR, GREENS, HEIGHT, HOUSES, SKIES, Backdrop, Painter, Top
from leocod.world.pen import Colour, shade


def paint_street(width: float, pixels_per_unit: float, random: np.random.Generator) -> Backdrop:
    """House fronts with windows, doors and awnings above a pavement and a road; low walls to put things on."""
    to = _paint_sky(width, pixels_per_unit, random)
    x = -to.any(0, 20)
    while x < width:
        span = to.any(46, 90)
        _paint_house(to, x, span)
        x += span + (to.any(4, 20) if to.any(0, 1) < 0.3 else 0)
    stone = to.pick(((170, 166, 160), (150, 150, 152), (140, 130, 120)))
    road = to.pick(((82, 84, 88), (98, 96, 96), (70, 72, 80)))
    _paint_paving(to, stone, FLOOR, FLOOR + 22)
    to.box(0, FLOOR + 22, width, FLOOR + 25, shade(stone, 1.15))
    to.box(0, FLOOR + 25, width, FLOOR + 28, shade(stone, 0.6))
    to.box(0, FLOOR + 28, width, HEIGHT, road)
    for left in np.arange(to.any(0, 30), width, 44):
        to.polygon(
            [(left + 4, FLOOR + 46), (left + 24, FLOOR + 46), (left + 26, FLOOR + 50), (left, FLOOR + 50)],
            (205, 200, 180),
        )
    for _ in range(int(width / 60)):
        to.ellipse(
            to.any(0, width), to.any(FLOOR + 32, HEIGHT), to.any(6, 18), to.any(1, 3), shade(road, to.any(0.8, 1.15))
        )
    _paint_low_walls(to, stone)
    _paint_posts(to)
    return to.finish([(to.any(0, width), 40.0, 60.0, to.any(-0.22, 0.15)) for _ in range(3)])


def paint_park(width: float, pixels_per_unit: float, random: np.random.Generator) -> Backdrop:
    """Trees and bushes behind a lawn with a path; picnic tables to put things on."""
    to = _paint_sky(width, pixels_per_unit, random)
    green = to.pick(GREENS)
    for _ in range(int(width / 6)):
        to.ellipse(
            to.any(-10, width + 10),
            FLOOR - to.any(4, 26),
            to.any(10, 24),
            to.any(10, 20),
            shade(green, to.any(0.5, 0.8)),
        )
    to.gradient(FLOOR - 2, HEIGHT, shade(green, 0.95), shade(green, 1.25))
    for _ in range(int(width * 3)):
        x, y = to.any(0, width), to.any(FLOOR, HEIGHT)
        tall = 1 + 3 * (y - FLOOR) / (HEIGHT - FLOOR)
        to.line([(x, y), (x + to.any(-1, 1), y - tall)], 0.6, shade(green, to.any(0.7, 1.4)))
    sand = to.pick(((196, 178, 142), (160, 150, 140), (180, 160, 130)))
    top = FLOOR + to.any(10, 26)
    path = [(x, top + 3 * float(np.sin(x / 37.0 + top))) for x in np.arange(0, width + 8, 8)]
    to.polygon([*path, *[(x, y + 11 + 2 * float(np.sin(x / 23.0))) for x, y in path[::-1]]], sand)
    for _ in range(int(width / 48)):
        _paint_tree(to, to.any(0, width), FLOOR + to.any(0, 5), to.any(0.8, 1.3), green)
    for left in np.arange(to.any(10, 60), width - 60, to.any(95, 140)):
        _paint_picnic_table(to, float(left), to.any(48, 66))
    return to.finish([(to.any(0, width), to.any(60, 150), 40.0, to.any(-0.3, 0.15)) for _ in range(6)])


def _paint_sky(width: float, pixels_per_unit: float, random: np.random.Generator) -> Painter:
    to = Painter(width, pixels_per_unit, random)
    upper, lower = SKIES[int(random.integers(len(SKIES)))]
    to.gradient(0, FLOOR, upper, lower)
    for _ in range(int(width / 30)):
        x, y = to.any(0, width), to.any(10, 70)
        for _ in range(4):
            to.ellipse(
                x + to.any(-16, 16), y + to.any(-3, 3), to.any(8, 18), to.any(2, 5), shade(lower, to.any(0.98, 1.08))
            )
    return to


def _paint_house(to: Painter, x: float, span: float) -> None:
    front = to.pick(HOUSES)
    roof = to.any(2, 46)
    to.box(x, roof, x + span, FLOOR, front)
    to.box(x - 1, roof - 3, x + span + 1, roof + 1, shade(front, 0.7))
    if to.any(0, 1) < 0.5:
        for y in np.arange(roof + 3, FLOOR, 4.5):
            to.line([(x, float(y)), (x + span, float(y))], 0.5, shade(front, 0.88))
    frame, glass = to.pick(((225, 222, 215), (70, 60, 55))), to.pick(((88, 104, 122), (60, 70, 84), (190, 180, 130)))
    columns = max(2, int(span / 20))
    gap = span / columns
    for top in np.arange(FLOOR - 66, roof - 8, -34)[::1] if roof < FLOOR - 70 else ():
        for number in range(columns):
            _paint_pane(to, x + gap * number + gap * 0.25, float(top), gap * 0.5, 22, frame, glass)
    if to.any(0, 1) < 0.45:
        _paint_pane(to, x + 5, FLOOR - 36, span - 26, 28, frame, glass)
        awning = to.pick(((170, 50, 45), (50, 90, 80), (210, 180, 90), (60, 80, 130)))
        for number in range(int(span / 6)):
            left = x + 2 + number * 6.0
            tone = awning if number % 2 else (228, 224, 214)
            to.polygon(
                [
                    (left, FLOOR - 46),
                    (min(x + span, left + 6), FLOOR - 46),
                    (min(x + span, left + 6.5), FLOOR - 36),
                    (left - 0.5, FLOOR - 36),
                ],
                tone,
            )
    else:
        for number in range(columns - 1):
            _paint_pane(to, x + gap * number + gap * 0.22, FLOOR - 36, gap * 0.55, 24, frame, glass)
    door = to.pick(BOARDS)
    to.box(x + span - 18, FLOOR - 38, x + span - 5, FLOOR, shade(door, 0.6))
    to.box(x + span - 17, FLOOR - 37, x + span - 6, FLOOR, door)


def _paint_pane(to: Painter, x: float, y: float, wide: float, tall: float, frame: Colour, glass: Colour) -> None:
    to.box(x - 1.2, y - 1.2, x + wide + 1.2, y + tall + 2, frame)
    to.box(x, y, x + wide, y + tall, glass)
    to.polygon(
        [(x, y + tall), (x + wide * 0.6, y), (x + wide * 0.85, y), (x + wide * 0.2, y + tall)], shade(glass, 1.25)
    )
    to.box(x + wide / 2 - 0.5, y, x + wide / 2 + 0.5, y + tall, frame)


def _paint_paving(to: Painter, stone: Colour, top: float, bottom: float) -> None:
    to.box(0, top, to.width, bottom, stone)
    y, step = top, 4.0
    while y < bottom:
        shift = to.any(0, 12)
        for x in np.arange(-shift, to.width, 13.0):
            to.box(float(x), y, float(x) + 12.5, y + step - 0.6, shade(stone, to.any(0.9, 1.06)))
        y, step = y + step, step * 1.25
    for depth in range(4):
        to.line([(0, top + depth), (to.width, top + depth)], 1, shade(stone, 0.6 + 0.08 * depth))


def _paint_low_walls(to: Painter, stone: Colour) -> None:
    x = to.any(5, 40)
    while x < to.width - 40:
        span = to.any(40, 70)
        brick = to.pick(HOUSES)
        top = FLOOR - to.any(10, 18)
        to.box(x, top, x + span, FLOOR + 6, brick)
        for row, y in enumerate(np.arange(top + 3, FLOOR + 6, 4.0)):
            to.line([(x, float(y)), (x + span, float(y))], 0.5, shade(brick, 0.75))
            for joint in np.arange(x + 4 * (row % 2), x + span, 8.0):
                to.line([(float(joint), float(y)), (float(joint), float(y) + 4)], 0.5, shade(brick, 0.75))
        to.box(x - 2, top - 4, x + span + 2, top + 1, shade(stone, 1.1))
        to.tops.append(Top(x + 7, x + span - 7, top - 0.5))
        x += span + to.any(40, 90)


def _paint_posts(to: Painter) -> None:
    metal = to.pick(((70, 74, 76), (110, 112, 110), (50, 70, 60)))
    for x in np.arange(to.any(10, 80), to.width, to.any(90, 150)):
        left = float(x)
        to.box(left, 0, left + 3, FLOOR + 14, metal)
        to.box(left, 0, left + 1, FLOOR + 14, shade(metal, 1.3))
        if to.any(0, 1) < 0.5:
            to.box(left - 8, 40, left + 11, 54, to.pick(((200, 60, 50), (60, 90, 150), (230, 225, 215))))


def _paint_tree(to: Painter, x: float, foot: float, size: float, green: Colour) -> None:
    bark = to.pick(((92, 72, 56), (110, 100, 90), (70, 56, 48)))
    top = foot - 62 * size
    to.polygon([(x - 4 * size, foot), (x - 2 * size, top), (x + 2 * size, top), (x + 4 * size, foot + 1)], bark)
    to.line([(x + 2, foot), (x + 1, top)], 1.2, shade(bark, 0.7))
    leaf = to.pick((green, shade(green, 0.8), (150, 130, 60)))
    for _ in range(26):
        to.ellipse(
            x + to.any(-24, 24) * size,
            top - to.any(-14, 26) * size,
            to.any(6, 12) * size,
            to.any(5, 10) * size,
            shade(leaf, to.any(0.65, 1.2)),
        )


def _paint_picnic_table(to: Painter, x: float, span: float) -> None:
    wood = to.pick(BOARDS)
    top = FLOOR - 14
    to.ellipse(x + span / 2, FLOOR + 7, span / 2, 3, shade(wood, 0.3))
    for leg in (x + 8, x + span - 8):
        to.line([(leg, top), (leg - 7, FLOOR + 7)], 2.5, shade(wood, 0.65))
        to.line([(leg, top), (leg + 7, FLOOR + 7)], 2.5, shade(wood, 0.75))
    to.polygon([(x + 2, top - 6), (x + span - 2, top - 6), (x + span + 2, top), (x - 2, top)], shade(wood, 1.12))
    to.box(x - 2, top, x + span + 2, top + 3, shade(wood, 0.75))
    to.tops.append(Top(x + 7, x + span - 7, top - 0.5))
