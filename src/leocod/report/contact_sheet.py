"""Frames side by side with their boxes: to see at a glance what a benchmark shows or a detector found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from colorsys import hsv_to_rgb
from functools import cache
from pathlib import Path

from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont

from leocod.files.run_files import make_legible as legible
from leocod.types import Detections, Image, Labels

GAP = 2
"""Pixels between frames."""

LONGEST_NAME = 40
"""Letters of a class name; more would not fit on a frame."""


def pick_class_colour(number: int) -> tuple[int, int, int]:
    """A bright colour for each class; neighbours in the list are far apart on the colour wheel."""
    red, green, blue = hsv_to_rgb(number * 0.618 % 1.0, 0.65 + 0.3 * (number % 2), 1.0)
    return int(red * 255), int(green * 255), int(blue * 255)


def _lighten(colour: tuple[int, int, int]) -> tuple[int, int, int]:
    """Halfway to white: a pure blue cannot be read on black."""
    red, green, blue = colour
    return (red + 255) // 2, (green + 255) // 2, (blue + 255) // 2


def draw_contact_sheet(
    frames: Iterable[tuple[Image, Labels | Detections]],
    classes: Sequence[str],
    columns: int = 6,
    scale: int = 3,
    longest: int | None = None,
) -> PillowImage.Image:
    """One picture of many frames, row by row, each enlarged `scale` times, with thin boxes, class names and, for
    detections, scores.

    No side gets longer than `longest` pixels: large frames are made smaller instead.
    """
    if columns < 1 or scale < 1 or (longest is not None and longest < 1):
        raise ValueError(f"columns={columns}, scale={scale}, longest={longest}: all must be 1 or more.")
    panels = [_draw_panel(image, marked, classes, _choose_factor(image, scale, longest)) for image, marked in frames]
    if not panels:
        return PillowImage.new("RGB", (1, 1))
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    width, height = max(panel.width for panel in panels) + GAP, max(panel.height for panel in panels) + GAP
    sheet = PillowImage.new("RGB", (columns * width - GAP, rows * height - GAP), (24, 24, 24))
    for number, panel in enumerate(panels):
        sheet.paste(panel, (number % columns * width, number // columns * height))
    return sheet


def _choose_factor(image: Image, scale: int, longest: int | None) -> float:
    return scale if longest is None else min(scale, longest / max(image.shape[:2]))


def _draw_panel(image: Image, marked: Labels | Detections, classes: Sequence[str], factor: float) -> PillowImage.Image:
    height, width = (max(1, round(side * factor)) for side in image.shape[:2])
    panel = PillowImage.fromarray(image).resize((width, height), PillowImage.Resampling.BICUBIC)
    draw = ImageDraw.Draw(panel)
    scores = [f" {score:.2f}" for score in marked.scores] if isinstance(marked, Detections) else [""] * len(marked)
    for box, number, score in zip(marked.boxes * factor, marked.classes, scores, strict=True):
        left, top, right, bottom = (float(value) for value in box)
        colour = pick_class_colour(int(number))
        # A frame made smaller may leave less than a pixel of a box.
        draw.rectangle((left, top, max(left, right - 1), max(top, bottom - 1)), outline=colour)
        name = legible(classes[int(number)])[:LONGEST_NAME] + score
        font = _find_font(is_latin=all(ord(letter) < 256 for letter in name))
        text = draw.textbbox((0, 0), name, font=font)
        x = min(max(0.0, left), panel.width - text[2] - 2.0)
        y = top - text[3] - 1 if top > text[3] + 1 else top + 1
        draw.rectangle((x, y, x + text[2] + 1, y + text[3] + 1), fill=(0, 0, 0))
        draw.text((x + 1, y), name, fill=_lighten(colour), font=font)
    return panel


@cache
def _find_font(*, is_latin: bool) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Pillow's own font, or, for names that it has no letters for, the larger one that comes with matplotlib."""
    if is_latin:
        return ImageFont.load_default()
    import matplotlib

    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"), 10)
