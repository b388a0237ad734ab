"""Everything that can be chosen by name, and every option: what `leocod list` and the documentation show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from leocod.errors import InvalidConfig
from leocod.evaluation.metrics.base import METRICS
from leocod.find import Kind
from leocod.memory.replacements.base import REPLACEMENTS
from leocod.memory.stores.base import STORES
from leocod.plugins.efficient_cls import EfficientCLS, EfficientCLSOptions
from leocod.plugins.pseudo_labellers.base import PSEUDO_LABELLERS
from leocod.run.choices import CHOICES, Choice, SinkChoice
from leocod.run.config import ExperimentConfig
from leocod.settings import Settings


@dataclass(frozen=True)
class Option:
    """One option, inner ones under their whole key."""

    key: str
    default: str
    meaning: str


@dataclass(frozen=True)
class ListedPart:
    """One choice, and its options."""

    name: str
    summary: str
    """The first paragraph of its docstring."""
    options: tuple[Option, ...] = ()


@dataclass(frozen=True)
class Section:
    """Choices of one kind, and how to choose among them."""

    title: str
    choice: str
    """How one is chosen; empty where there is nothing to choose."""
    parts: tuple[ListedPart, ...]
    options: str = ""
    """How the options of one are set; empty where it has none."""

    @property
    def usage(self) -> str:
        """Both."""
        return ", ".join(filter(None, (self.choice, f"options by {self.options}" if self.options else "")))


def list_sections() -> Iterator[Section]:
    """All kinds of parts, then the plug-in, then the run itself."""
    choices: dict[str, type[Choice]] = {**CHOICES, "sinks": SinkChoice}
    for key, choice in choices.items():
        flag = f"--{key} NAME" if key in ("benchmark", "detector", "strategy") else f"--set {key}.name=NAME"
        usage, options = ("--set sinks=[NAME,...]", "") if key == "sinks" else (flag, f"--set {key}.OPTION=VALUE")
        yield Section(choice.kind.package.rpartition(".")[2], usage, _list_parts(choice.kind), options)
    yield Section("memory stores", "--set strategy.memory_store=NAME", _list_parts(STORES))
    yield Section("memory replacements", "--set strategy.memory_replacement=NAME", _list_parts(REPLACEMENTS))
    yield Section("metrics", "--set evaluate.metrics=[NAME,...], score --metric NAME", _list_parts(METRICS))
    yield Section("pseudo-labellers", "--set efficient_cls.labeller=NAME", _list_parts(PSEUDO_LABELLERS))
    plugin = _describe("efficient_cls", EfficientCLS, EfficientCLSOptions)
    plus = ListedPart("efficient_cls_plus", "Efficient-CLS+: the same with other settings, found by measurement.", ())
    yield Section("plug-in", "--plugin NAME", (plugin, plus), "--set efficient_cls.OPTION=VALUE")
    elsewhere = {*CHOICES, "sinks", "efficient_cls"}
    own = tuple(option for option in list_options(ExperimentConfig) if option.key.split(".")[0] not in elsewhere)
    run = ListedPart("run", first_paragraph(ExperimentConfig.__doc__), own)
    yield Section("the run", "", (run,), "--set OPTION=VALUE")


def list_options(options: type[Settings], prefix: str = "") -> Iterator[Option]:
    """Every option of a Settings class, inner ones too."""
    for key, field in options.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if isinstance(default, Settings) and not isinstance(default, Choice):
            yield from list_options(type(default), f"{prefix}{key}.")
        else:
            shown = "(needed)" if field.is_required() else "null" if default is None else str(default)
            yield Option(f"{prefix}{key}", shown, " ".join((field.description or "").split()))


def first_paragraph(text: str | None) -> str:
    """The first paragraph of a docstring: whole sentences, however the lines are wrapped.

    >>> first_paragraph("One sentence, on\\n    two lines.\\n\\n    More.")
    'One sentence, on two lines.'
    """
    return " ".join((text or "").strip().split("\n\n")[0].split())


def find_elsewhere(name: str) -> Section:
    """A module:Class under the kind that it is of; an error where it is of none."""
    choices: list[type[Choice]] = [*CHOICES.values(), SinkChoice]
    kinds: list[Kind[Any]] = [*(choice.kind for choice in choices), STORES, REPLACEMENTS, METRICS, PSEUDO_LABELLERS]
    problems = []
    for kind in kinds:
        try:
            part = kind.find(name)
        except InvalidConfig as problem:
            problems.append(problem)
        else:
            return Section(kind.name, "", (_describe(name, part, part.Options if kind.has_options else None),))
    raise problems[0]


def _list_parts(kind: Kind[Any]) -> tuple[ListedPart, ...]:
    found = {name: kind.find(name) for name in kind.names()}
    return tuple(_describe(name, part, part.Options if kind.has_options else None) for name, part in found.items())


def _describe(name: str, part: type[Any], options: type[Settings] | None) -> ListedPart:
    return ListedPart(name, first_paragraph(part.__doc__), tuple(list_options(options)) if options else ())
