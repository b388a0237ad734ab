"""Things to sit on, each drawn from its instance's traits. `turn` goes from -1 to 1: the side it is seen from."""

from __future__ import annotations

from leocod.world.palette import BRIGHT, DARK, WOOD
from leocod.world.pen import Pen, Traits, shade


def draw_chair(pen: Pen, traits: Traits, turn: float) -> None:
    """Seat, back and four legs; the back of slats, a panel or a disc."""
    frame = traits.colour(*WOOD, *DARK)
    cloth = traits.paint(*WOOD, *BRIGHT, patterns=("plain", "plain", "stripes", "checks"))
    seat, depth = traits.number(0.55, 0.48, 0.62), traits.number(0.1, 0.06, 0.14)
    leg = traits.number(0.05, 0.03, 0.08)
    shift = 0.16 * turn
    left, right = 0.12, 0.88
    for x in (left + 0.08 + shift, right - 0.08 + shift):
        pen.line([(x, seat), (x, 0.88)], leg * 0.9, shade(frame, 0.6))
    for x in (left + 0.03, right - 0.03):
        pen.line([(x, seat + depth), (x - 0.02 * (1 if x < 0.5 else -1), 1.0)], leg, frame)
    build = traits.choose("slats", "panel", "round")
    top = [
        (left + shift + 0.06, 0.02),
        (right + shift - 0.06, 0.02),
        (right + shift * 0.6 - 0.04, seat),
        (left + shift * 0.6 + 0.04, seat),
    ]
    if build == "panel":
        pen.polygon(top, cloth)
    elif build == "round":
        pen.ellipse(0.5 + shift, 0.26, 0.36, 0.26, cloth)
        pen.line([(0.5 + shift, 0.3), (0.5 + shift * 0.6, seat)], leg * 2, frame)
    else:
        for start, end in ((top[0], top[3]), (top[1], top[2])):
            pen.line([start, end], leg, frame)
        for row in range(int(traits.number(3, 2, 5))):
            y = 0.05 + 0.13 * row
            pen.line([(left + shift + 0.06, y), (right + shift - 0.06, y)], leg * 1.2, frame)
    pen.polygon(
        [
            (left + 0.06 + shift * 0.6, seat - 0.02),
            (right - 0.06 + shift * 0.6, seat - 0.02),
            (right, seat + depth),
            (left, seat + depth),
        ],
        cloth,
    )
    pen.box(left, seat + depth, right, seat + depth + 0.035, shade(cloth.colour, 0.6))


def draw_stool(pen: Pen, traits: Traits, turn: float) -> None:
    """A chair without a back: round or square, with a rung."""
    frame = traits.colour(*WOOD, *DARK)
    seat = traits.paint(*WOOD, *BRIGHT, patterns=("plain", "plain", "stripes", "dots"))
    high, thick = traits.number(0.12, 0.08, 0.2), traits.number(0.1, 0.05, 0.17)
    splay, leg = traits.number(0.1, 0.0, 0.18), traits.number(0.06, 0.035, 0.09)
    for x in (0.3 + 0.1 * turn, 0.7 + 0.1 * turn):
        pen.line([(x, high), (x + splay * 0.5 * (1 if x > 0.5 else -1), 0.9)], leg * 0.9, shade(frame, 0.6))
    for side in (-1, 1):
        pen.line([(0.5 + side * 0.3, high + thick), (0.5 + side * (0.3 + splay), 1.0)], leg, frame)
    rung = traits.number(0.68, 0.5, 0.82)
    pen.line([(0.2, rung), (0.8, rung)], leg * 0.8, shade(frame, 0.85))
    half = traits.number(0.42, 0.36, 0.48)
    pen.box(0.5 - half, high, 0.5 + half, high + thick, shade(seat.colour, 0.7))
    if traits.chance(0.5):
        pen.box(0.5 - half, high - 0.05, 0.5 + half, high + 0.06, seat)
    else:
        pen.ellipse(0.5, high + thick, half, 0.05, shade(seat.colour, 0.7))
        pen.ellipse(0.5, high, half, traits.number(0.08, 0.05, 0.11), seat)


def draw_bench(pen: Pen, traits: Traits, turn: float) -> None:
    """A wide seat and back of slats on iron legs."""
    wood, iron = traits.colour(*WOOD, (70, 110, 80), (60, 60, 64)), traits.colour((45, 45, 48), (90, 90, 92), *WOOD)
    shift, seat = 0.05 * turn, traits.number(0.56, 0.5, 0.64)
    for x in (0.08, 0.92):
        pen.line([(x + shift, 0.02), (x, seat + 0.06), (x, 1.0)], 0.035, iron)
        pen.line([(x + shift * 0.5, seat), (x + shift * 0.5, 0.9)], 0.03, shade(iron, 0.7))
    slats = int(traits.number(3, 2, 4.9))
    gap = (seat - 0.1) / slats
    for row in range(slats):
        y = 0.04 + gap * row
        pen.polygon(
            [(0.02 + shift, y), (0.98 + shift, y), (0.98 + shift, y + gap * 0.62), (0.02 + shift, y + gap * 0.62)],
            shade(wood, 0.9 + 0.06 * row),
        )
    for row in range(3):
        y = seat + 0.06 * row
        pen.box(0.03 - 0.01 * row, y, 0.97 + 0.01 * row, y + 0.04, shade(wood, 1.1 - 0.12 * row))
    if traits.chance(0.5):
        for x in (0.06, 0.94):
            pen.line([(x, seat - 0.2), (x, seat + 0.1)], 0.03, iron)
