from collections.abc import Callable

import pytest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("report", "none"), "none is not a directory"),
        (("report",), "Missing argument"),
    ],
)
def test_bad_input_is_one_clear_line_and_nothing_is_written(
    arguments: tuple[str, ...], message: str, refused: Callable[..., str]
) -> None:
    assert message in refused(*arguments)
