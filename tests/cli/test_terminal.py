import io
import sys
from collections.abc import Callable

import pytest
from rich.console import Console
from typer.testing import Result

from leocod.cli.terminal import announce_start, say


def test_a_line_is_printed_as_it_stands_whatever_it_looks_like() -> None:
    text = io.StringIO()

    say("[bold]a\x1b[31m" + "b" * 200, Console(file=text, width=40))

    assert text.getvalue() == "[bold]a\\x1b[31m" + "b" * 200 + "\n"


@pytest.mark.parametrize(("command", "mistake"), [(("run", "--new-labels"), "--from"), (("live",), "install it")])
def test_commands_that_load_torch_say_at_once_that_they_have_begun(
    command: tuple[str, ...], mistake: str, leocod: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    # Each command ends before it would import torch again.
    monkeypatch.setitem(sys.modules, "leocod.live.run", None)

    result = leocod(*command)

    assert result.stdout == "Starting. PyTorch takes a moment to load.\n"
    assert mistake in result.stderr


def test_nothing_is_announced_where_nobody_waits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", object())
    announce_start()
    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.setenv("RANK", "1")
    announce_start()

    assert capsys.readouterr().out == ""
