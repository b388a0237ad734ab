"""`leocod list`: everything that can be chosen by name; what one thing is, and its options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leocod.cli.terminal import console
from leocod.errors import UnknownName

if TYPE_CHECKING:
    from leocod.find import Kind
    from leocod.settings import Settings

ALL = "all"


@dataclass(frozen=True)
class Group:
    """Things that are chosen in the same place."""

    title: str
    usage: str
    """How one is chosen."""
    options: str
    """How its options are set; empty where it has none."""
    names: tuple[str, ...]
    show: Callable[[str], None]
    """Prints what one of them is."""


def list_parts(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="What to explain: a name, a group of names, or `all`.")
    ] = None,
) -> None:
    """Show everything that can be chosen by name. With a name: what it is, and its options with their defaults."""
    from rich.markup import escape
    from rich.table import Table

    groups = _list_groups()
    if name is not None:
        _explain(name, groups)
        return
    table = Table.grid("", "", "", padding=(0, 2))
    for group in groups:
        table.add_row(f"[bold]{group.title}[/bold]", ", ".join(group.names), f"[dim]{escape(group.usage)}[/dim]")
    console.print(table)
    console.print(
        "\n`leocod list NAME` shows what one is and its options, `leocod list all` everything.", soft_wrap=True
    )


def _explain(name: str, groups: list[Group]) -> None:
    """Print whatever has this name; several things may have it."""
    found = False
    for group in groups:
        wanted = group.names if name in (ALL, group.title) else [one for one in group.names if one == name]
        if wanted:
            _print_title(group)
        for one in wanted:
            group.show(one)
        found = found or bool(wanted)
    if not found:
        raise UnknownName("name", name, {ALL, *(one for group in groups for one in (group.title, *group.names))})


def _list_groups() -> list[Group]:
    from leocod.evaluation.metrics.base import METRICS
    from leocod.memory.replacements.base import REPLACEMENTS
    from leocod.memory.stores.base import STORES
    from leocod.plugins.efficient_cls import EfficientCLS, EfficientCLSOptions
    from leocod.run.choices import CHOICES, Choice, SinkChoice
    from leocod.run.config import ExperimentConfig

    groups = []
    choices: dict[str, type[Choice]] = {**CHOICES, "sinks": SinkChoice}
    for key, choice in choices.items():
        flag = f"--{key} NAME" if key in ("benchmark", "detector", "strategy") else f"--set {key}.name=NAME"
        usage, options = ("--set sinks=[NAME,...]", "") if key == "sinks" else (flag, f"--set {key}.OPTION=VALUE")
        groups.append(_make_group(choice.kind.package.rpartition(".")[2], usage, choice.kind, options))
    return [
        *groups,
        _make_group("memory stores", "--set strategy.memory_store=NAME", STORES),
        _make_group("memory replacements", "--set strategy.memory_replacement=NAME", REPLACEMENTS),
        _make_group("metrics", "--set evaluate.metrics=[NAME,...], score --metric NAME", METRICS),
        Group(
            "plug-in",
            "--efficient-cls",
            "--set efficient_cls.OPTION=VALUE",
            ("efficient_cls",),
            lambda name: _print_part(name, EfficientCLS.__doc__, EfficientCLSOptions),
        ),
        Group(
            "the run",
            "",
            "--set OPTION=VALUE",
            ("run",),
            lambda _: _print_options(ExperimentConfig, leave_out={*CHOICES, "sinks", "efficient_cls"}),
        ),
    ]


def _make_group(title: str, usage: str, kind: Kind[Any], options: str = "") -> Group:
    def show(name: str) -> None:
        found = kind.find(name)
        _print_part(name, found.__doc__, found.Options if kind.has_options else None)

    return Group(title, usage, options, tuple(kind.names()), show)


def _print_title(group: Group) -> None:
    from rich.markup import escape

    options = f"options by {group.options}" if group.options else ""
    console.print(
        f"\n[bold]{group.title}[/bold]  {escape(', '.join(filter(None, (group.usage, options))))}", soft_wrap=True
    )


def _print_part(name: str, text: str | None, options: type[Settings] | None) -> None:
    from rich.markup import escape

    console.print(f"  [cyan]{name}[/cyan]  {escape(_first_sentence(text))}", soft_wrap=True)
    if options is not None:
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
