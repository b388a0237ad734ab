"""Things of a household, each drawn from its instance's traits. `turn` goes from -1 to 1: the side it is seen from."""

from __future__ import annotations

from math import cos, pi, sin

from leocod.world.palette import BRIGHT, CERAMIC, DARK, LEAF, SCREEN, WOOD
from leocod.world.pen import Pen, Traits, shade


def draw_plant(pen: Pen, traits: Traits, turn: float) -> None:
    """A pot with a bush, a fan of leaves or a palm."""
    pot = traits.paint((175, 95, 60), *CERAMIC, patterns=("plain", "plain", "stripes", "band"))
    leaf = traits.colour(*LEAF)
    rim = traits.number(0.26, 0.18, 0.33)
    height = traits.number(0.62, 0.52, 0.72)
    build = traits.choose("bush", "fan", "palm")
    count = int(traits.number(13, 8, 20))
    for number in range(count):
        spread = (number / max(1, count - 1) - 0.5) * 2 + 0.12 * turn
        tone = shade(leaf, 0.7 + 0.5 * ((number * 7) % count) / count)
        reach = traits.number(0.5, 0.3, 0.62)
        if build == "bush":
            angle, out = number * 2.4 + 0.4 * turn, ((number + 0.5) / count) ** 0.5
            x, y = 0.5 + 0.7 * reach * out * cos(angle), height * 0.5 + 0.25 * out * sin(angle)
            pen.ellipse(x, y, 0.15, 0.1, tone, number)
            continue
        tip = (0.5 + spread * reach * 0.9, height - height * cos(spread * 1.1) * traits.number(0.9, 0.65, 1.0))
        middle = (0.5 + spread * reach * 0.35, (height + tip[1]) * 0.48)
        width = 0.05 if build == "palm" else 0.09
        pen.polygon(
            [(0.5, height + 0.05), (middle[0] - width, middle[1]), tip, (middle[0] + width, middle[1] + width)], tone
        )
    pen.lathe(
        [
            (rim, height),
            (rim * 0.97, height + 0.08),
            (rim * 0.85, height + 0.1),
            (rim * traits.number(0.7, 0.55, 0.9), 1.0),
        ],
        pot,
    )


def draw_book(pen: Pen, traits: Traits, turn: float) -> None:
    """Standing, lying, open, or a small pile."""
    cover = traits.paint(*BRIGHT, (215, 205, 190), patterns=("plain", "band", "stripes", "plain", "dots"))
    page = (228, 222, 205)
    build = traits.choose("standing", "lying", "open", "pile")
    if build == "standing":
        thick = traits.number(0.2, 0.1, 0.32)
        lean = 0.1 * turn
        pen.polygon([(0.1 + lean + thick, 0.06), (0.9 + lean, 0.0), (0.9, 0.94), (0.1 + thick, 1.0)], cover)
        pen.polygon(
            [(0.1 + lean, 0.04), (0.1 + lean + thick, 0.06), (0.1 + thick, 1.0), (0.1, 0.97)], shade(cover.colour, 0.65)
        )
        pen.box(0.3 + thick + lean * 0.5, 0.2, 0.78, 0.36, cover.accent)
    elif build == "open":
        pen.polygon(
            [(0.0, 0.45), (0.5, 0.55), (1.0, 0.45), (1.0, 0.95), (0.5, 1.0), (0.0, 0.95)], shade(cover.colour, 0.8)
        )
        for side in (-1, 1):
            pen.polygon([(0.5, 0.5), (0.5 + side * 0.46, 0.42), (0.5 + side * 0.46, 0.88), (0.5, 0.95)], page)
            for row in range(4):
                y = 0.55 + 0.09 * row
                pen.line([(0.5 + side * 0.08, y), (0.5 + side * 0.4, y - 0.04)], 0.018, (150, 145, 140))
    else:
        count = 1 if build == "lying" else 3
        thick = traits.number(0.24, 0.16, 0.3)
        for number in range(count):
            bottom, shift = 1.0 - number * thick, 0.05 * ((number * 5) % 3 - 1)
            tone = cover if number % 2 == 0 else cover.accent
            pen.polygon(
                [
                    (0.12 + shift, bottom - thick - 0.1),
                    (0.95 + shift, bottom - thick - 0.1),
                    (0.9 + shift, bottom - thick),
                    (0.04 + shift, bottom - thick),
                ],
                tone,
            )
            pen.box(
                0.05 + shift,
                bottom - thick,
                0.9 + shift,
                bottom,
                shade(cover.colour if number % 2 == 0 else cover.accent, 0.7),
            )
            pen.box(0.12 + shift, bottom - thick * 0.75, 0.9 + shift, bottom - thick * 0.25, page)


def draw_clock(pen: Pen, traits: Traits, turn: float) -> None:
    """A face with hours and two hands; round, square, or an alarm clock with bells."""
    rim, face = (
        traits.colour((50, 50, 55), *BRIGHT, *WOOD),
        traits.colour((235, 232, 225), (40, 42, 48), (215, 200, 160)),
    )
    ink = (30, 30, 32) if sum(face) > 380 else (230, 230, 225)
    squeeze = 1 - 0.25 * abs(turn)
    build = traits.choose("round", "square", "alarm")
    thick = traits.number(0.07, 0.04, 0.12)
    if build == "alarm":
        for side in (-1, 1):
            pen.disc(0.5 + side * 0.28 * squeeze, 0.12, 0.13, shade(rim, 1.2))
            pen.line([(0.5 + side * 0.2, 0.8), (0.5 + side * 0.34, 1.0)], 0.07, shade(rim, 0.8))
    middle, radius = (0.55, 0.43) if build == "alarm" else (0.5, 0.5)
    if build == "square":
        left = 0.5 - 0.48 * squeeze + 0.07 * turn
        pen.rounded_box(left, 0.02, left + 0.96 * squeeze, 0.98, shade(rim, 0.6), 0.15)
        pen.rounded_box(0.5 - 0.48 * squeeze, 0.02, 0.5 + 0.48 * squeeze, 0.98, rim, 0.15)
        radius = 0.46
    else:
        pen.disc(0.5 + 0.07 * turn, middle, radius, shade(rim, 0.6), squeeze)
        pen.disc(0.5, middle, radius, rim, squeeze)
    pen.disc(0.5, middle, radius - thick, face, squeeze)
    for hour in range(12):
        x, y = sin(hour * pi / 6), -cos(hour * pi / 6)
        outer, inner = radius - thick - 0.02, radius - thick - (0.1 if hour % 3 == 0 else 0.06)
        pen.line(
            [(0.5 + x * outer * squeeze, middle + y * outer), (0.5 + x * inner * squeeze, middle + y * inner)],
            0.03,
            ink,
        )
    for share, width in ((0.5, 0.06), (0.8, 0.04)):
        angle = float(traits.random.uniform(0, 2 * pi))
        reach = share * (radius - thick)
        pen.line([(0.5, middle), (0.5 + sin(angle) * reach * squeeze, middle - cos(angle) * reach)], width, ink)


def draw_lamp(pen: Pen, traits: Traits, turn: float) -> None:
    """A shade on a stem, or a desk lamp with an arm."""
    glow = traits.paint(
        (245, 225, 170),
        (235, 200, 150),
        (250, 245, 230),
        (190, 70, 60),
        (90, 130, 150),
        patterns=("plain", "plain", "stripes", "band"),
    )
    stem = traits.colour((60, 55, 50), *WOOD, (180, 150, 80), (190, 190, 195))
    if traits.choose("shaded", "shaded", "arm") == "arm":
        side = 1 if turn > 0 else -1
        elbow, head = (
            (0.5 - side * traits.number(0.25, 0.15, 0.35), traits.number(0.45, 0.35, 0.55)),
            (0.5 + side * 0.15, 0.12),
        )
        pen.line([(0.5, 0.95), elbow, head], 0.055, stem)
        pen.polygon(
            [
                (head[0] - side * 0.12, 0.02),
                (head[0] + side * 0.14, 0.05),
                (head[0] + side * 0.33, 0.36),
                (head[0] - side * 0.18, 0.3),
            ],
            shade(stem, 1.3),
        )
        pen.polygon(
            [(head[0] + side * 0.33, 0.36), (head[0] - side * 0.18, 0.3), (head[0] + side * 0.05, 0.42)], glow.colour
        )
    else:
        top, bottom = traits.number(0.24, 0.12, 0.36), traits.number(0.46, 0.34, 0.5)
        edge = traits.number(0.45, 0.33, 0.52)
        pen.line([(0.5, edge - 0.1), (0.5, 0.96)], traits.number(0.07, 0.04, 0.13), stem)
        if traits.chance(0.4):
            pen.lathe([(0.06, edge), (0.2, 0.72), (0.12, 0.96)], shade(stem, 1.2))
        pen.polygon([(0.5 - top, 0.0), (0.5 + top, 0.0), (0.5 + bottom, edge), (0.5 - bottom, edge)], glow)
        pen.ellipse(0.5, edge, bottom, 0.03, shade(glow.colour, 1.2))
        seam = 0.5 + 0.8 * turn * top
        pen.line([(seam, 0.02), (0.5 + 0.8 * turn * bottom, edge)], 0.02, shade(glow.colour, 0.75))
    pen.ellipse(0.5, 0.96, traits.number(0.26, 0.18, 0.36), 0.045, shade(stem, 0.9))


def draw_laptop(pen: Pen, traits: Traits, turn: float) -> None:
    """A screen leaning back over a keyboard."""
    shell, screen = traits.colour(*DARK), traits.colour(*SCREEN)
    shear, tilt = 0.12 * turn, traits.number(0.08, -0.02, 0.16)
    hinge = traits.number(0.68, 0.6, 0.76)
    left, right = 0.1 + shear, 0.9 + shear
    pen.polygon(
        [(left + shear + tilt * 0.4, 0.0), (right + shear - tilt * 0.4, 0.0), (right, hinge), (left, hinge)],
        shade(shell, 0.85),
    )
    edge = 0.05
    corners = [
        (left + shear + tilt * 0.4 + edge, edge),
        (right + shear - tilt * 0.4 - edge, edge),
        (right - edge, hinge - edge),
        (left + edge, hinge - edge),
    ]
    pen.polygon(corners, screen)
    if traits.chance(0.8):
        window = traits.colour((235, 235, 235), (60, 70, 90), (220, 160, 90))
        pen.polygon([(x * 0.5 + 0.22 + shear * 0.3, y * 0.6 + 0.08) for x, y in corners], window)
    pen.polygon([(left, hinge), (right, hinge), (1.0, 0.95), (0.0, 0.95)], shell)
    pen.polygon(
        [(left + 0.06, hinge + 0.04), (right - 0.06, hinge + 0.04), (0.92, 0.85), (0.08, 0.85)], shade(shell, 0.55)
    )
    pen.polygon([(0.0, 0.95), (1.0, 0.95), (0.98, 1.0), (0.02, 1.0)], shade(shell, 0.7))


def draw_monitor(pen: Pen, traits: Traits, turn: float) -> None:
    """A screen on a stand."""
    shell, screen = traits.colour((35, 37, 42), *DARK), traits.colour(*SCREEN)
    bottom = traits.number(0.74, 0.66, 0.82)
    near, far = 0.0, 0.06 * abs(turn)
    left, right = (near, far) if turn > 0 else (far, near)
    pen.box(0.5 - 0.06, bottom - 0.05, 0.5 + 0.06, 0.96, shade(shell, 0.8))
    pen.ellipse(0.5, 0.96, traits.number(0.22, 0.14, 0.3), 0.05, shade(shell, 1.1))
    pen.polygon([(0.0, left), (1.0, right), (1.0, bottom - right), (0.0, bottom - left)], shell)
    edge = traits.number(0.045, 0.025, 0.07)
    pen.polygon(
        [
            (edge, left + edge),
            (1 - edge, right + edge),
            (1 - edge, bottom - right - edge * 1.6),
            (edge, bottom - left - edge * 1.6),
        ],
        screen,
    )
    for _ in range(int(traits.number(1, 0, 4))):
        x, y = float(traits.random.uniform(0.1, 0.55)), float(traits.random.uniform(0.12, 0.4))
        pen.box(
            x,
            y,
            x + float(traits.random.uniform(0.15, 0.35)),
            y + float(traits.random.uniform(0.08, 0.25)),
            traits.colour((235, 235, 235), *BRIGHT),
        )


def draw_backpack(pen: Pen, traits: Traits, turn: float) -> None:
    """A rounded bag with a pocket, a handle and straps."""
    cloth = traits.paint(*BRIGHT, (90, 95, 60), patterns=("plain", "plain", "stripes", "checks", "dots"))
    side = 1 if turn > 0 else -1
    strap = shade(cloth.colour, 0.6)
    pen.line([(0.42, 0.1), (0.42, 0.0), (0.58, 0.0), (0.58, 0.1)], 0.05, strap)
    pen.line(
        [(0.5 + side * 0.3, 0.15), (0.5 + side * (0.36 + 0.12 * abs(turn)), 0.5), (0.5 + side * 0.34, 0.88)],
        0.07,
        strap,
    )
    half = traits.number(0.36, 0.3, 0.42)
    pen.rounded_box(0.5 - half, 0.04, 0.5 + half, 1.0, cloth, traits.number(0.5, 0.25, 0.9))
    flap = traits.number(0.42, 0.34, 0.52)
    pen.rounded_box(0.5 - half * 0.75, flap + 0.08, 0.5 + half * 0.75, 0.94, shade(cloth.colour, 0.78), 0.3)
    pen.line([(0.5 - half * 0.9, flap), (0.5 + half * 0.9, flap)], 0.03, shade(cloth.accent, 0.7))
    pen.line([(0.5, flap + 0.1), (0.5, flap + 0.2)], 0.05, (200, 195, 185))
