"""Vessels: much alike in outline, told apart by handle, neck, opening and proportion. `turn` goes from -1 to 1."""

from __future__ import annotations

from math import cos, pi, sin

from leocod.world.palette import BRIGHT, CERAMIC, GLASS
from leocod.world.pen import PATTERNS, Pen, Traits, mix, shade


def draw_mug(pen: Pen, traits: Traits, turn: float) -> None:
    """A straight or bellied cup with a handle that turns away and comes back."""
    paint = traits.paint(*CERAMIC, patterns=PATTERNS)
    foot, rim = traits.number(0.29, 0.2, 0.34), traits.number(0.32, 0.27, 0.37)
    waist = traits.number(0.31, 0.24, 0.38)
    side = 1 if turn > 0 else -1
    reach, loop = (0.10 + 0.14 * abs(turn)) * 0.9, traits.number(0.24, 0.17, 0.3)
    grip = shade(paint.colour, 0.85)
    ring = [(0.5 + side * (rim + reach * sin(a)), 0.5 - loop * cos(a)) for a in (pi * k / 10 for k in range(11))]
    pen.line(ring, traits.number(0.085, 0.06, 0.11), grip)
    pen.lathe([(rim, 0.12), (waist, 0.5), (foot, 0.9), (foot * 0.85, 1.0)], paint)
    opening = traits.number(0.1, 0.06, 0.13)
    pen.ellipse(0.5, 0.13, rim, opening, shade(paint.colour, 1.15))
    pen.ellipse(
        0.5, 0.14, rim * 0.85, opening * 0.75, traits.colour((75, 50, 35), (170, 90, 40), (225, 215, 205), (40, 35, 30))
    )


def draw_bowl(pen: Pen, traits: Traits, turn: float) -> None:
    """Wide and low, open to the top, sometimes with fruit in it."""
    paint = traits.paint(*CERAMIC, patterns=PATTERNS)
    rim, foot = traits.number(0.48, 0.43, 0.5), traits.number(0.2, 0.13, 0.3)
    belly = traits.number(0.4, 0.33, 0.47)
    opening = traits.number(0.2, 0.13, 0.27) + 0.02 * turn
    pen.lathe([(rim, 0.25), (belly, 0.65), (foot, 0.94), (foot, 1.0)], paint)
    pen.ellipse(0.5, 0.24, rim, opening, shade(paint.colour, 1.15))
    pen.ellipse(0.5, 0.27, rim * 0.88, opening * 0.78, shade(paint.colour, 0.6))
    if traits.chance(0.45):
        food = traits.colour((200, 60, 40), (220, 180, 60), (90, 150, 60), (230, 220, 200))
        for number in range(4):
            pen.disc(0.5 + (number - 1.5) * 0.16, 0.24 - 0.05 * (number % 2), 0.15, shade(food, 0.8 + 0.12 * number))


def draw_bottle(pen: Pen, traits: Traits, turn: float) -> None:
    """Neck, shoulder and body; mostly with a label."""
    paint = traits.paint(*GLASS)
    body, neck = traits.number(0.4, 0.3, 0.48), traits.number(0.14, 0.1, 0.22)
    shoulder = traits.number(0.38, 0.25, 0.5)
    pen.lathe(
        [
            (neck, 0.05),
            (neck, shoulder - 0.12),
            (body, shoulder),
            (body, 0.7),
            (body * traits.number(1, 0.8, 1.05), 0.97),
            (body * 0.9, 1.0),
        ],
        paint,
    )
    pen.box(0.5 - neck * 1.25, 0.0, 0.5 + neck * 1.25, traits.number(0.08, 0.05, 0.13), traits.colour(*BRIGHT))
    if not traits.chance(0.3):
        label = traits.paint(
            (235, 230, 215), (190, 50, 45), (240, 200, 80), (40, 70, 120), patterns=("plain", "stripes", "band")
        )
        top = traits.number(0.52, 0.45, 0.6)
        pen.box(0.5 - body + 0.02, top, 0.5 + body - 0.02, top + traits.number(0.25, 0.15, 0.33), label)
    shine = 0.5 - body * 0.6 * (1 if turn < 0 else -1)
    pen.line([(shine, shoulder + 0.06), (shine, 0.9)], 0.03, mix(paint.colour, (255, 255, 255), 0.55))


def draw_vase(pen: Pen, traits: Traits, turn: float) -> None:
    """Lip, neck and belly; often with flowers."""
    paint = traits.paint(*CERAMIC, *GLASS, patterns=PATTERNS)
    flowers = traits.chance(0.6)
    top = 0.38 if flowers else 0.0
    if flowers:
        petals = traits.colour((220, 90, 110), (240, 200, 80), (235, 230, 225), (150, 100, 190), (220, 80, 50))
        for number in range(5):
            x, y = 0.5 + (number - 2) * traits.number(0.16, 0.1, 0.2) + 0.04 * turn, 0.12 + 0.07 * abs(number - 2)
            pen.line([(0.5, top + 0.05), (x, y)], 0.025, (70, 120, 60))
            pen.disc(x, y, traits.number(0.08, 0.05, 0.11), shade(petals, 0.8 + 0.1 * number))
            pen.disc(x, y, 0.025, shade(petals, 0.5))
    tall = 1 - top
    lip, neck = traits.number(0.24, 0.15, 0.33), traits.number(0.15, 0.09, 0.26)
    belly, foot = traits.number(0.42, 0.28, 0.49), traits.number(0.2, 0.13, 0.3)
    bulge = traits.number(0.55, 0.35, 0.75)
    pen.lathe(
        [
            (lip, top),
            (neck, top + 0.18 * tall),
            (belly, top + bulge * tall),
            (belly * 0.9, top + (bulge + 0.12) * tall),
            (foot, 0.96),
            (foot * 1.1, 1.0),
        ],
        paint,
    )
    pen.ellipse(0.5, top + 0.01, lip, 0.03, shade(paint.colour, 0.5))
