"""Pages that stand alone: what their sections are, one way to fill in a template, and how numbers are written in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup


@dataclass(frozen=True)
class Grid:
    """A table. Under a heading, it is folded away."""

    head: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]
    heading: str = ""
    is_text: bool = False
    """Whether its cells are words, which may take several lines, and not numbers."""


@dataclass(frozen=True)
class Section:
    """A title that says what is seen, how to read it, and what there is to see or why there is nothing."""

    title: str
    note: str
    figures: tuple[tuple[str, Markup], ...] = ()
    """Each with a heading of its own, which may be empty."""
    tables: tuple[Grid, ...] = ()
    missing: str | None = None


def render_template(template: Path, **values: Any) -> str:
    """A template with its values, all of them escaped. It may include the templates that lie here."""
    environment = Environment(
        loader=FileSystemLoader([template.parent, Path(__file__).parent]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "points": format_points,
        "percent": format_percent,
        "duration": format_duration,
        "size": format_size,
        "yaml": format_yaml,
    }
    return environment.get_template(template.name).render(**values)


def format_points(value: float | None) -> str:
    """A figure in points, or a dash for none."""
    if value is None or np.isnan(value):
        return "–"
    # Adding 0 turns -0.0 into 0.0.
    return f"{round(value, 1) + 0:.1f}".replace("-", "−")


def format_percent(share: float | None) -> str:
    """A share from 0 to 1 in percent, or a dash for none."""
    return "–" if share is None else f"{100 * share:.1f} %"


def format_duration(seconds: float) -> str:
    """A time that a person can read."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def format_size(count: int | None) -> str:
    """A number of bytes that a person can read, or a dash for none."""
    if count is None:
        return "–"
    for unit, one in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= one:
            return f"{count / one:.1f} {unit}"
    return f"{count} bytes"


def format_yaml(value: Any) -> str:
    """Nested values, legibly."""
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True).strip()
