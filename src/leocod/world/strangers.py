"""Things of no class: clutter, and what stands in for classes that a world must not show."""

from __future__ import annotations

from math import cos, pi, sin

from numpy.random import Generator

from leocod.world.pen import PATTERNS, Colour, Paint, Pen, Point, Traits, shade

MUTED: tuple[Colour, ...] = (
    (140, 130, 115),
    (90, 100, 110),
    (170, 150, 120),
    (110, 90, 80),
    (80, 110, 95),
    (180, 175, 165),
    (150, 60, 50),
    (60, 80, 130),
)


def draw_stranger(pen: Pen, traits: Traits, turn: float) -> None:
    """A few parts put together at random: never a template, and unlike the classes in how the parts meet."""
    paints = [traits.paint(*MUTED, patterns=PATTERNS) for _ in range(3)]
    draw = BUILDS[int(traits.random.integers(len(BUILDS)))]
    draw(pen, paints, traits.random, turn)


def _draw_carton(pen: Pen, paints: list[Paint], random: Generator, turn: float) -> None:
    depth, edge = float(random.uniform(0.15, 0.5)), 0.5 + 0.3 * turn
    pen.polygon([(0.0, depth), (edge, 0.1 + depth), (edge, 1.0), (0.0, 0.9)], paints[0])
    pen.polygon([(edge, 0.1 + depth), (1.0, depth), (1.0, 0.9), (edge, 1.0)], shade(paints[0].colour, 0.6))
    pen.polygon(
        [(0.0, depth), (1 - edge, depth * 0.4), (1.0, depth), (edge, 0.1 + depth)], shade(paints[0].colour, 1.25)
    )


def _draw_heap(pen: Pen, paints: list[Paint], random: Generator, turn: float) -> None:
    for number in range(int(random.integers(4, 9))):
        x, y = random.uniform(0.2, 0.8), random.uniform(0.45, 0.88)
        pen.polygon(_make_lump(float(x), float(y), random.uniform(0.12, 0.22, 7).tolist()), paints[number % 3])


def _draw_star(pen: Pen, paints: list[Paint], random: Generator, turn: float) -> None:
    points = int(random.integers(4, 9))
    inner = float(random.uniform(0.4, 0.75))
    pen.polygon(_make_star(points, inner, turn * 0.4), paints[0])
    pen.disc(0.5, 0.5, float(random.uniform(0.1, 0.25)), paints[1])


def _draw_tower(pen: Pen, paints: list[Paint], random: Generator, turn: float) -> None:
    bottom = 1.0
    for number in range(int(random.integers(3, 6))):
        tall, half = float(random.uniform(0.12, 0.3)), float(random.uniform(0.12, 0.48))
        middle = 0.5 + float(random.uniform(-0.1, 0.1))
        left, top, right = max(0.0, middle - half), max(0.0, bottom - tall), min(1.0, middle + half)
        pen.box(left, top, right, bottom, paints[number % 3])
        bottom -= tall
        if bottom <= 0:
            break


def _draw_cross(pen: Pen, paints: list[Paint], random: Generator, turn: float) -> None:
    reach = 0.46
    for number in range(int(random.integers(2, 5))):
        angle = float(random.uniform(0, pi))
        start = (0.5 - reach * cos(angle), 0.5 - reach * sin(angle))
        end = (0.5 + reach * cos(angle), 0.5 + reach * sin(angle))
        pen.line([start, end], float(random.uniform(0.08, 0.2)), paints[number % 3].colour)


def _draw_cushion(pen: Pen, paints: list[Paint], random: Generator, turn: float) -> None:
    pen.polygon(
        [(0.02, 0.2), (0.5, 0.3), (0.98, 0.15), (0.88, 0.6), (0.97, 0.98), (0.5, 0.9), (0.03, 1.0), (0.12, 0.6)],
        paints[0],
    )
    pen.ellipse(0.5, 0.6, 0.08, 0.08, shade(paints[0].colour, 0.6))


def _draw_pipe(pen: Pen, paints: list[Paint], random: Generator, turn: float) -> None:
    knees = [(float(x), float(y)) for x, y in random.uniform(0.1, 0.9, (int(random.integers(3, 6)), 2))]
    pen.line([(knees[0][0], 0.97), *knees], float(random.uniform(0.08, 0.18)), paints[0].colour)
    pen.disc(knees[-1][0], knees[-1][1], float(random.uniform(0.09, 0.16)), paints[1])


def _draw_dome(pen: Pen, paints: list[Paint], random: Generator, turn: float) -> None:
    rim = float(random.uniform(0.45, 0.75))
    for x in random.uniform(0.15, 0.85, 3).tolist():
        pen.line([(x, rim), (0.5 + 1.1 * (x - 0.5), 1.0)], 0.06, paints[1].colour)
    pen.polygon([(0.5 - 0.49 * cos(pi * k / 12), rim - rim * sin(pi * k / 12)) for k in range(13)], paints[0])


BUILDS = (_draw_carton, _draw_heap, _draw_star, _draw_tower, _draw_cross, _draw_cushion, _draw_pipe, _draw_dome)
"""The order is part of the world: an instance draws a position in it."""


def _make_lump(x: float, y: float, radii: list[float]) -> list[Point]:
    angles = [2 * pi * number / len(radii) for number in range(len(radii))]
    return [(x + r * cos(a), min(1.0, y + r * sin(a))) for r, a in zip(radii, angles, strict=True)]


def _make_star(points: int, inner: float, start: float) -> list[Point]:
    corners = []
    for number in range(2 * points):
        radius = 0.5 if number % 2 == 0 else 0.5 * inner
        angle = start + pi * number / points
        corners.append((0.5 + radius * cos(angle), 0.5 + radius * sin(angle)))
    return corners


def draw_hand(pen: Pen, traits: Traits, turn: float) -> None:
    """The wearer's own hand, reaching into the picture from below."""
    random = traits.random
    skin = ((224, 182, 150), (190, 140, 105), (140, 95, 70), (90, 62, 48))[int(random.integers(4))]
    sleeve = traits.paint(*MUTED, patterns=("plain", "stripes"))
    side = 1 if turn > 0 else -1
    for finger in range(4):
        angle = -0.5 + 0.33 * finger + float(random.uniform(-0.08, 0.08))
        tip = (0.5 + 0.38 * sin(angle), 0.42 - float(random.uniform(0.24, 0.36)) * cos(angle))
        pen.line([(0.36 + 0.09 * finger, 0.5), tip], 0.07, shade(skin, 0.94 + 0.03 * finger))
    pen.line([(0.5, 0.6), (0.5 + side * 0.34, 0.42)], 0.08, shade(skin, 0.9))
    pen.ellipse(0.5, 0.53, 0.22, 0.16, skin)
    pen.polygon([(0.36, 0.58), (0.64, 0.58), (0.7, 1.0), (0.3, 1.0)], skin)
    pen.polygon([(0.31, 0.76), (0.69, 0.76), (0.76, 1.0), (0.24, 1.0)], sleeve)


def draw_edge(pen: Pen, traits: Traits, turn: float) -> None:
    """Something close by and out of focus: a door frame, a post, a strap."""
    tone = traits.colour(*MUTED)
    pen.polygon([(0.0, 0.0), (1.0, 0.0), (0.95 - 0.1 * turn, 1.0), (0.05, 1.0)], shade(tone, 0.6))
    pen.polygon([(0.55, 0.0), (0.85, 0.0), (0.8 - 0.1 * turn, 1.0), (0.55, 1.0)], shade(tone, 0.8))
