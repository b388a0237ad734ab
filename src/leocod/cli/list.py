"""`leocod list`: every strategy, detector and benchmark, and all options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from leocod.settings import Settings

console = Console(highlight=False)


def list_parts() -> None:
    """Show every strategy, detector and benchmark, and all options with their defaults."""
    from leocod.plugins.efficient_cls import EfficientCLS, EfficientCLSOptions
    from leocod.run.config import PARTS, CheckpointOptions, EvaluateOptions, LabelsOptions, RecordOptions

    for part in PARTS.values():
        kind = part.kind
        folder = kind.package.rpartition(".")[2]
        console.print(
            f"\n[bold]{folder}[/bold]  --{kind.name} NAME, options by --set {kind.name}.OPTION=VALUE", soft_wrap=True
        )
        for name in kind.names():
            found = kind.find(name)
            _print_part(name, found.__doc__, found.Options)
    console.print(
        "\n[bold]plug-in[/bold]  --efficient-cls, options by --set efficient_cls.OPTION=VALUE", soft_wrap=True
    )
    _print_part("efficient_cls", EfficientCLS.__doc__, EfficientCLSOptions)
    console.print("\n[bold]the run[/bold]  options by --set labels.OPTION=VALUE and so on", soft_wrap=True)
    _print_part("labels", LabelsOptions.__doc__, LabelsOptions)
    _print_part("evaluate", EvaluateOptions.__doc__, EvaluateOptions)
    _print_part("checkpoint", CheckpointOptions.__doc__, CheckpointOptions)
    _print_part("record", RecordOptions.__doc__, RecordOptions)


def _print_part(name: str, text: str | None, options: type[Settings]) -> None:
    from rich.markup import escape
    from rich.table import Table

    summary = text.strip().splitlines()[0] if text else ""
    console.print(f"  [cyan]{name}[/cyan]  {escape(summary)}", soft_wrap=True)
    table = Table.grid("", "", "", padding=(0, 2))
    for key, default, meaning in _options(options, prefix=""):
        table.add_row(f"      {key}", escape(default), f"[dim]{escape(meaning)}[/dim]")
    console.print(table)


def _options(options: type[Settings], prefix: str) -> Iterator[tuple[str, str, str]]:
    """Key, default and meaning of every option, inner ones too."""
    from leocod.settings import Settings

    for key, field in options.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if isinstance(default, Settings):
            yield from _options(type(default), f"{prefix}{key}.")
        else:
            yield (
                f"{prefix}{key}",
                "(needed)" if field.is_required() else "null" if default is None else str(default),
                " ".join((field.description or "").split()),
            )
