from collections.abc import Callable

import pytest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("predict", "none", "typo.yaml"), "none is not a run directory"),
        (("predict", "other_run", "none.png"), "No file or folder 'none.png'"),
        (("pretrain", "--set", "step=3"), "step: unknown key. Did you mean 'steps'?"),
    ],
)
def test_bad_input_is_one_clear_line_and_nothing_is_written(
    arguments: tuple[str, ...], message: str, refused: Callable[..., str]
) -> None:
    assert message in refused(*arguments)
