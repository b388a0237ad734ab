from collections.abc import Callable

import pytest
from PIL import Image as PillowImage
from typer.testing import Result


def test_it_writes_a_contact_sheet_and_tells_counts(leocod: Callable[..., Result]) -> None:
    result = leocod("show", "wander", "--set", "steps=2", "--set", "width=64", "--set", "height=48", "--out", "a/b.png")

    assert result.exit_code == 0, result.output
    assert "2 steps, 32 training and 2 test frames" in result.output
    with PillowImage.open("a/b.png") as sheet:
        assert sheet.width > 64


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "wonder"), "No benchmark 'wonder'"),
        (("show", "wander", "--set", "step=3"), "benchmark.step: unknown key. Did you mean 'steps'?"),
        (("show", "wander", "--out", "sheet.doc"), "should be a .png file"),
    ],
)
def test_bad_input_is_one_clear_line_and_nothing_is_written(
    arguments: tuple[str, ...], message: str, refused: Callable[..., str]
) -> None:
    assert message in refused(*arguments)
