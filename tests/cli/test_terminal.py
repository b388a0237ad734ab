import io

from rich.console import Console

from leocod.cli.terminal import say


def test_a_line_is_printed_as_it_stands_whatever_it_looks_like() -> None:
    text = io.StringIO()

    say("[bold]a\x1b[31m" + "b" * 200, Console(file=text, width=40))

    assert text.getvalue() == "[bold]a\\x1b[31m" + "b" * 200 + "\n"
