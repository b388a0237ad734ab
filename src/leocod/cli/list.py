"""`leocod list`: everything that can be chosen by name, and every option."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from leocod.cli.terminal import console

if TYPE_CHECKING:
    from leocod.run.catalogue import Option


def list_parts() -> None:
    """Show everything that can be chosen by name, and all options with their defaults."""
    from rich.markup import escape

    from leocod.run.catalogue import list_sections

    for section in list_sections():
        console.print(f"\n[bold]{section.title}[/bold]  {escape(section.usage)}", soft_wrap=True)
        for part in section.parts:
            console.print(f"  [cyan]{part.name}[/cyan]  {escape(part.summary)}", soft_wrap=True)
            _print_options(part.options)
        _print_options(section.options)


def _print_options(options: Iterable[Option]) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table.grid("", "", "", padding=(0, 2))
    for option in options:
        table.add_row(f"      {option.key}", escape(option.default), f"[dim]{escape(option.meaning)}[/dim]")
    if table.row_count:
        console.print(table)
