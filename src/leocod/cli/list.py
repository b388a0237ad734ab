"""`leocod list`: everything that can be chosen by name, and every option."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from leocod.cli.terminal import console

if TYPE_CHECKING:
    from leocod.find import Kind
    from leocod.settings import Settings


def list_parts() -> None:
    """Show everything that can be chosen by name, and all options with their defaults."""
    from leocod.evaluation.metrics.base import METRICS
    from leocod.memory.replacements.base import REPLACEMENTS
    from leocod.memory.stores.base import STORES
    from leocod.plugins.efficient_cls import EfficientCLS, EfficientCLSOptions
    from leocod.run.choices import CHOICES, Choice, SinkChoice
    from leocod.run.config import ExperimentConfig

    choices: dict[str, type[Choice]] = {**CHOICES, "sinks": SinkChoice}
    for key, choice in choices.items():
        flag = f"--{key} NAME" if key in ("benchmark", "detector", "strategy") else f"--set {key}.name=NAME"
        usage = "--set sinks=[NAME,...]" if key == "sinks" else f"{flag}, options by --set {key}.OPTION=VALUE"
        _print_title(choice.kind.package.rpartition(".")[2], usage)
        for name in choice.kind.names():
            found = choice.kind.find(name)
            _print_part(name, found.__doc__, found.Options)
    _print_title("memory stores", "--set strategy.memory_store=NAME")
    _print_names(STORES)
    _print_title("memory replacements", "--set strategy.memory_replacement=NAME")
    _print_names(REPLACEMENTS)
    _print_title("metrics", "--set evaluate.metrics=[NAME,...], leocod score RUN --metric NAME")
    _print_names(METRICS)
    _print_title("plug-in", "--efficient-cls, options by --set efficient_cls.OPTION=VALUE")
    _print_part("efficient_cls", EfficientCLS.__doc__, EfficientCLSOptions)
    _print_title("the run", "options by --set OPTION=VALUE")
    _print_options(ExperimentConfig, leave_out={*CHOICES, "sinks", "efficient_cls"})


def _print_title(title: str, usage: str) -> None:
    from rich.markup import escape

    console.print(f"\n[bold]{title}[/bold]  {escape(usage)}", soft_wrap=True)


def _print_names(kind: Kind[Any]) -> None:
    from rich.markup import escape

    for name in kind.names():
        console.print(f"  [cyan]{name}[/cyan]  {escape(_first_sentence(kind.find(name).__doc__))}", soft_wrap=True)


def _print_part(name: str, text: str | None, options: type[Settings]) -> None:
    from rich.markup import escape

    console.print(f"  [cyan]{name}[/cyan]  {escape(_first_sentence(text))}", soft_wrap=True)
    _print_options(options)


def _print_options(options: type[Settings], leave_out: set[str] | frozenset[str] = frozenset()) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table.grid("", "", "", padding=(0, 2))
    for key, default, meaning in _list_options(options, prefix=""):
        if key.split(".")[0] not in leave_out:
            table.add_row(f"      {key}", escape(default), f"[dim]{escape(meaning)}[/dim]")
    console.print(table)


def _first_sentence(text: str | None) -> str:
    """The first paragraph of a docstring: whole sentences, however the lines are wrapped."""
    return " ".join((text or "").strip().split("\n\n")[0].split())


def _list_options(options: type[Settings], prefix: str) -> Iterator[tuple[str, str, str]]:
    """Key, default and meaning of every option, inner ones too."""
    from leocod.run.choices import Choice
    from leocod.settings import Settings

    for key, field in options.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if isinstance(default, Settings) and not isinstance(default, Choice):
            yield from _list_options(type(default), f"{prefix}{key}.")
        else:
            yield (
                f"{prefix}{key}",
                "(needed)" if field.is_required() else "null" if default is None else str(default),
                " ".join((field.description or "").split()),
            )
