"""`leocod list`: everything that can be chosen by name; what one thing is, and its options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from leocod.cli.terminal import console
from leocod.errors import UnknownName

if TYPE_CHECKING:
    from leocod.run.catalogue import Option, Section

ALL = "all"


def list_parts(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="What to explain: a name, a group of names, or `all`.")
    ] = None,
) -> None:
    """Show everything that can be chosen by name. With a name: what it is, and its options with their defaults."""
    from rich.markup import escape
    from rich.table import Table

    from leocod.run.catalogue import find_elsewhere, list_sections

    # A part of one's own is in no list.
    sections = [find_elsewhere(name)] if name and ":" in name else list(list_sections())
    if name is not None:
        _explain(name, sections)
        return
    table = Table.grid("", "", "", padding=(0, 2))
    for section in sections:
        names = ", ".join(part.name for part in section.parts)
        table.add_row(f"[bold]{section.title}[/bold]", names, f"[dim]{escape(section.choice)}[/dim]")
    console.print(table)
    console.print(
        "\n`leocod list NAME` shows what one is and its options, `leocod list all` everything.", soft_wrap=True
    )


def _explain(name: str, sections: Sequence[Section]) -> None:
    """Print whatever has this name; several things may have it."""
    from rich.markup import escape

    found = False
    for section in sections:
        wanted = [part for part in section.parts if name in (ALL, section.title, part.name)]
        if wanted:
            console.print(f"\n[bold]{section.title}[/bold]  {escape(section.usage)}", soft_wrap=True)
        for part in wanted:
            console.print(f"  [cyan]{part.name}[/cyan]  {escape(part.summary)}", soft_wrap=True)
            _print_options(part.options)
        found = found or bool(wanted)
    if not found:
        names = (one for section in sections for one in (section.title, *(part.name for part in section.parts)))
        raise UnknownName("name", name, {ALL, *names})


def _print_options(options: Iterable[Option]) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table.grid("", "", "", padding=(0, 2))
    for option in options:
        table.add_row(f"      {option.key}", escape(option.default), f"[dim]{escape(option.meaning)}[/dim]")
    if table.row_count:
        console.print(table)
