from pathlib import Path

import pytest
from jinja2 import UndefinedError

from leocod.report.page import format_duration, format_points, format_size, format_yaml, render_template


def test_numbers_are_written_for_people() -> None:
    assert [format_points(None), format_points(float("nan")), format_points(-0.26), format_points(-0.01)] == [
        "–",
        "–",
        "−0.3",
        "0.0",
    ]
    assert [format_duration(3.21), format_duration(61), format_duration(7260)] == ["3.2 s", "1 min 1 s", "2 h 1 min"]
    assert [format_size(12), format_size(1500), format_size(2_000_000)] == ["12 bytes", "1.5 kB", "2.0 MB"]
    assert format_size(None) == "–"


def test_nested_values_are_legible() -> None:
    assert format_yaml({"a": [1], "b": "é"}) == "a:\n- 1\nb: é"


def test_what_is_filled_in_cannot_become_part_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "a.html.j2").write_text("<p>{{ name }}</p>{% include 'style.css.j2' %}")

    text = render_template(tmp_path / "a.html.j2", name="<b>")

    assert text.startswith("<p>&lt;b&gt;</p>")
    assert "--ink" in text


def test_a_value_that_is_missing_is_our_mistake(tmp_path: Path) -> None:
    (tmp_path / "a.html.j2").write_text("{{ name }}")

    with pytest.raises(UndefinedError):
        render_template(tmp_path / "a.html.j2")
