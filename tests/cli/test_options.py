from collections.abc import Callable

from typer.testing import Result


def test_any_key_can_be_set_in_every_command_that_takes_a_config(leocod: Callable[..., Result]) -> None:
    for command in (("run",), ("pretrain",), ("paper",), ("show",), ("data", "convert")):
        assert "--set" in leocod(*command, "--help").output
