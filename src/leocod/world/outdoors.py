"""Vehicles, and what else one meets in the street. `turn` goes from -1 to 1: the side it is seen from."""

from __future__ import annotations

from math import cos, pi, sin

from leocod.world.palette import BRIGHT, DARK, PAINTWORK, TYRE, WINDOW, WOOD
from leocod.world.pen import Colour, Pen, Traits, mix, shade


def _draw_wheels(pen: Pen, traits: Traits, xs: tuple[float, ...], radius: float) -> None:
    hub = traits.colour((170, 172, 176), (90, 90, 94), (210, 210, 212))
    for x in xs:
        pen.disc(x, 1 - radius, radius, TYRE)
        pen.disc(x, 1 - radius, radius * 0.55, hub)
        pen.disc(x, 1 - radius, radius * 0.18, (60, 60, 62))


def _draw_lights(pen: Pen, front: float, back: float, y: float) -> None:
    pen.ellipse(front, y, 0.022, 0.05, (245, 240, 205))
    pen.ellipse(back, y, 0.02, 0.05, (190, 35, 30))


def _draw_corner(pen: Pen, colour: Colour, turn: float, top: float, bottom: float) -> None:
    """The face towards the viewer when it does not stand square: the front on the left, the back on the right."""
    wide, tone = 0.16 * abs(turn), shade(colour, 0.62)
    if turn > 0:
        pen.polygon([(0.01, top + 0.03), (wide, top), (wide, bottom), (0.01, bottom - 0.03)], tone)
    else:
        pen.polygon([(0.99, top + 0.03), (1 - wide, top), (1 - wide, bottom), (0.99, bottom - 0.03)], tone)


def draw_car(pen: Pen, traits: Traits, turn: float) -> None:
    """Bonnet, cabin and boot over two wheels."""
    body = traits.paint(*PAINTWORK, patterns=("plain", "plain", "plain", "band"))
    belt, roof = traits.number(0.46, 0.4, 0.52), traits.number(0.05, 0.0, 0.12)
    hood, boot = traits.number(0.27, 0.2, 0.34), traits.number(0.84, 0.76, 0.97)
    front, rear = hood + traits.number(0.13, 0.07, 0.19), boot - traits.number(0.1, 0.02, 0.18)
    nose = belt + traits.number(0.07, 0.02, 0.14)
    pen.polygon(
        [
            (0.0, nose + 0.08),
            (0.05, nose),
            (hood, belt),
            (front, roof),
            (rear, roof),
            (boot, belt),
            (0.97, belt + 0.03),
            (1.0, 0.62),
            (0.99, 0.84),
            (0.01, 0.84),
        ],
        body,
    )
    glass = mix(WINDOW, (150, 180, 200), float(traits.random.uniform(0, 0.7)))
    middle = (front + rear) / 2
    pen.polygon(
        [(hood + 0.05, belt), (front + 0.02, roof + 0.06), (middle - 0.015, roof + 0.06), (middle - 0.015, belt)], glass
    )
    pen.polygon(
        [(middle + 0.015, belt), (middle + 0.015, roof + 0.06), (rear - 0.02, roof + 0.06), (boot - 0.06, belt)], glass
    )
    pen.line([(middle, belt), (middle, 0.8)], 0.012, shade(body.colour, 0.6))
    pen.box(0.01, 0.76, 0.99, 0.85, shade(body.colour, 0.55))
    _draw_corner(pen, body.colour, turn, belt + 0.12, 0.84)
    _draw_lights(pen, 0.035, 0.975, 0.6)
    _draw_wheels(
        pen, traits, (traits.number(0.2, 0.17, 0.23), traits.number(0.79, 0.76, 0.83)), traits.number(0.19, 0.16, 0.22)
    )


def draw_van(pen: Pen, traits: Traits, turn: float) -> None:
    """One box with a short nose; few or no windows behind the driver."""
    body = traits.paint((235, 235, 230), *PAINTWORK, patterns=("plain", "plain", "band", "stripes"))
    belt, nose = traits.number(0.45, 0.4, 0.52), traits.number(0.1, 0.04, 0.2)
    front = nose + traits.number(0.14, 0.08, 0.2)
    pen.polygon(
        [
            (0.0, 0.62),
            (nose * 0.5, belt + 0.04),
            (nose, belt),
            (front, 0.03),
            (0.97, 0.0),
            (1.0, 0.1),
            (1.0, 0.86),
            (0.0, 0.86),
        ],
        body,
    )
    glass = mix(WINDOW, (150, 180, 200), float(traits.random.uniform(0, 0.7)))
    pen.polygon([(nose + 0.03, belt), (front + 0.02, 0.1), (front + 0.17, 0.1), (front + 0.17, belt)], glass)
    for number in range(int(traits.number(0, 0, 3.2))):
        x = front + 0.21 + 0.2 * number
        pen.box(x, 0.12, min(0.96, x + 0.17), belt - 0.02, glass)
    for x in (front + 0.19, front + 0.44):
        pen.line([(x, 0.05), (x, 0.82)], 0.012, shade(body.colour, 0.65))
    pen.box(0.0, 0.79, 1.0, 0.87, shade(body.colour, 0.5))
    _draw_corner(pen, body.colour, turn, belt + 0.08, 0.86)
    _draw_lights(pen, 0.025, 0.985, 0.64)
    _draw_wheels(pen, traits, (0.2, traits.number(0.8, 0.75, 0.84)), traits.number(0.155, 0.13, 0.18))


def draw_bus(pen: Pen, traits: Traits, turn: float) -> None:
    """A long box with a row of windows, now and then two."""
    body = traits.paint((185, 45, 40), *PAINTWORK, patterns=("plain", "band", "plain", "stripes"))
    glass = mix(WINDOW, (150, 180, 200), float(traits.random.uniform(0, 0.7)))
    pen.rounded_box(0.0, 0.0, 1.0, 0.9, body, 0.14)
    decks = 2 if traits.chance(0.3) else 1
    top, deep = (0.08, 0.2) if decks == 2 else (traits.number(0.14, 0.1, 0.2), traits.number(0.33, 0.26, 0.38))
    count = int(traits.number(6, 4, 8.5))
    for deck in range(decks):
        y = top + 0.32 * deck
        for number in range(count):
            x = 0.03 + 0.94 * number / count
            pen.box(x, y, x + 0.94 / count * 0.84, y + deep, glass)
    door = traits.number(0.12, 0.08, 0.5)
    pen.box(door, top + 0.04, door + 0.1, 0.84, shade(glass, 0.75))
    pen.line([(0.0, 0.62), (1.0, 0.62)], 0.02, body.accent)
    pen.box(0.0, 0.83, 1.0, 0.9, shade(body.colour, 0.5))
    _draw_corner(pen, body.colour, turn, 0.1, 0.88)
    _draw_lights(pen, 0.02, 0.985, 0.72)
    _draw_wheels(
        pen, traits, (traits.number(0.22, 0.18, 0.28), traits.number(0.78, 0.72, 0.84)), traits.number(0.12, 0.1, 0.14)
    )


def draw_bicycle(pen: Pen, traits: Traits, turn: float) -> None:
    """Two wheels, a frame, a saddle and handlebars."""
    frame, radius = traits.colour(*BRIGHT, *DARK), traits.number(0.31, 0.27, 0.34)
    squeeze = 1 - 0.2 * abs(turn)
    hubs = ((0.22, 1 - radius), (0.78, 1 - radius))
    aspect = pen.height / pen.width * squeeze
    for x, y in hubs:
        ring = [(x + radius * aspect * cos(k * pi / 12), y + radius * sin(k * pi / 12)) for k in range(25)]
        for spoke in range(0, 24, 6):
            pen.line([(x, y), ring[spoke + 1]], 0.012, (130, 130, 132))
        pen.line(ring, traits.number(0.035, 0.025, 0.05), TYRE)
    seat, crank, head = (0.4, 0.24), (0.46, 1 - radius), (0.68, traits.number(0.26, 0.2, 0.34))
    width = traits.number(0.035, 0.025, 0.05)
    drop = traits.number(0.08, 0.0, 0.25)
    for start, end in (
        (hubs[0], (0.41, 0.34)),
        (hubs[0], crank),
        (crank, (seat[0], seat[1] - 0.04)),
        (crank, head),
        ((0.41, 0.34 + drop), head),
        (head, hubs[1]),
    ):
        pen.line([start, end], width, frame)
    pen.line([head, (0.66, 0.1), (traits.number(0.74, 0.6, 0.78), 0.06)], 0.035, (50, 50, 52))
    pen.rounded_box(0.32, 0.13, 0.5, 0.21, (45, 40, 38), 0.8)
    pen.disc(crank[0], crank[1], 0.08, (90, 90, 92), squeeze)
    across, down = 0.07 * cos(2 * turn), 0.14 * sin(2 * turn)
    pen.line([(crank[0] - across, crank[1] - down), (crank[0] + across, crank[1] + down)], 0.03, (60, 60, 62))
    if traits.chance(0.4):
        pen.polygon([(0.74, 0.12), (0.95, 0.12), (0.92, 0.36), (0.77, 0.36)], traits.colour(*WOOD))


def draw_hydrant(pen: Pen, traits: Traits, turn: float) -> None:
    """A cast-iron body with a cap and nozzles to the sides."""
    iron = traits.colour((190, 45, 35), (215, 175, 50), (60, 110, 160), (150, 150, 150), (60, 130, 80))
    cap = traits.colour((200, 195, 185), (190, 45, 35), (215, 175, 50), (50, 50, 54))
    half = traits.number(0.24, 0.19, 0.3)
    shoulder = traits.number(0.3, 0.24, 0.36)
    arm = 0.46 - 0.12 * abs(turn)
    y = traits.number(0.45, 0.4, 0.55)
    pen.box(0.5 - arm, y - 0.07, 0.5 + arm, y + 0.07, shade(iron, 0.8))
    for side in (-1, 1):
        pen.rounded_box(0.5 + side * arm - 0.06, y - 0.1, 0.5 + side * arm + 0.06, y + 0.1, cap, 0.3)
    pen.lathe(
        [
            (0.05, 0.0),
            (0.07, 0.05),
            (half * 0.9, 0.12),
            (half * 1.1, shoulder),
            (half * 1.15, shoulder + 0.04),
            (half, shoulder + 0.05),
            (half, 0.9),
            (half * 1.4, 0.91),
            (half * 1.4, 1.0),
        ],
        iron,
    )
    pen.disc(0.5 + 0.16 * turn, y, 0.1, cap, 0.9)
    pen.disc(0.5 + 0.16 * turn, y, 0.05, shade(cap, 0.6), 0.9)
    pen.box(0.5 - half * 1.15, shoulder, 0.5 + half * 1.15, shoulder + 0.05, shade(iron, 0.7))


def draw_dog(pen: Pen, traits: Traits, turn: float) -> None:
    """Standing or sitting; ears up or hanging."""
    coat = traits.paint(
        (150, 100, 60),
        (60, 50, 45),
        (225, 215, 200),
        (190, 150, 95),
        (110, 110, 112),
        patterns=("plain", "plain", "speckle", "dots"),
    )
    leg, back = traits.number(0.08, 0.055, 0.11), traits.number(0.36, 0.3, 0.42)
    stride = 0.05 + 0.05 * turn
    deep = traits.number(0.16, 0.12, 0.2)
    snout = traits.number(0.12, 0.06, 0.16)
    if traits.choose("standing", "standing", "sitting") == "sitting":
        pen.ellipse(0.46, 0.8, 0.26, 0.2, coat)
        pen.line([(0.2, 0.95), (0.05, 0.85)], 0.06, coat.colour)
        pen.polygon([(0.4, 0.75), (0.52, 0.32), (0.72, 0.36), (0.68, 0.9)], coat)
        pen.line([(0.66, 0.6), (0.68, 1.0)], leg, shade(coat.colour, 0.9))
        head = (0.66, 0.24)
    else:
        for x, tone in ((0.25 + stride, 0.65), (0.66 + stride, 0.65), (0.2 - stride, 1.0), (0.7 - stride, 0.95)):
            pen.line([(x, back + deep), (x + 0.02, 1.0)], leg, shade(coat.colour, tone))
        pen.line([(0.14, back + 0.04), (0.02, back - traits.number(0.15, -0.15, 0.28))], 0.05, coat.colour)
        pen.ellipse(0.45, back + deep * 0.8, 0.35, deep * 1.1, coat)
        pen.polygon([(0.6, back + 0.1), (0.68, 0.2), (0.84, 0.26), (0.78, back + 0.18)], coat.colour)
        head = (0.78, 0.2)
    pen.ellipse(head[0], head[1], 0.13, 0.15, coat.colour)
    pen.ellipse(head[0] + snout, head[1] + 0.05, 0.09, 0.075, shade(coat.colour, 0.85))
    pen.ellipse(head[0] + snout + 0.07, head[1] + 0.03, 0.025, 0.03, (25, 22, 22))
    ear = shade(coat.colour, 0.6)
    if traits.chance(0.5):
        pen.polygon(
            [(head[0] - 0.1, head[1] - 0.04), (head[0] - 0.05, head[1] - 0.2), (head[0] + 0.03, head[1] - 0.08)], ear
        )
    else:
        pen.ellipse(head[0] - 0.07, head[1] + 0.04, 0.05, 0.13, ear)
    pen.ellipse(head[0] + 0.04, head[1] - 0.03, 0.018, 0.022, (20, 20, 20))
