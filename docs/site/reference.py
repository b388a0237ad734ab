"""The generated parts of the reference: each is made from the code that it describes, at build time."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import typer.main
from typer.cli import get_docs_for_click

from leocod.cli.main import app
from leocod.evaluation.results import Results
from leocod.files import run_directory
from leocod.run.catalogue import Option, Section, first_paragraph, list_sections

PUBLIC_NAME = re.compile(r"^from \.(?P<module>[\w.]+) import (?P<name>\w+) as \w+$", flags=re.MULTILINE)


def write_commands() -> str:
    """Every command with its arguments and options, as `--help` shows them."""
    command = typer.main.get_command(app)
    context = command.make_context("leocod", [], resilient_parsing=True)
    text = get_docs_for_click(obj=command, ctx=context, name="leocod", indent=1)
    # The list of commands cuts their descriptions short; each has a section of its own, with the whole.
    text = re.sub(r"\*\*Commands\*\*:\n\n(?:\* .*\n)+", "", text)
    return "\n".join(line if line.startswith("$") else _escape(line) for line in text.splitlines())


def write_options() -> Iterator[tuple[str, str, str]]:
    """File name, title and text of a page for each kind of part, and for the run."""
    for section in list_sections():
        title = section.title.removeprefix("the ").capitalize()
        yield (
            f"{title.lower().replace(' ', '-')}.md",
            title,
            f"# {title}\n\n`{section.usage}`\n\n{_write_section(section)}",
        )


def list_option_pages() -> str:
    """The kinds of parts, and how to choose among them."""
    rows = ([f"[{title}]({file})", text.splitlines()[2]] for file, title, text in write_options())
    return _write_table(["", "chosen by"], rows)


def write_run_directory() -> str:
    """The files of a run directory, one row each."""
    lines = (inspect.getdoc(run_directory) or "").split("\n\n")[1].splitlines()
    pairs = (line.split(maxsplit=1) for line in lines)
    return _write_table(["file", "what it holds"], ([f"`{name}`", text] for name, text in pairs))


def write_schema() -> str:
    """results.json as a JSON schema."""
    return json.dumps(Results.model_json_schema(mode="serialization"), indent=2)


def write_results() -> str:
    """The keys of results.json, one row each, and where the schema is."""
    properties = Results.model_json_schema(mode="serialization")["properties"]
    rows = ([f"`{key}`", _name_type(value), _help(key)] for key, value in properties.items())
    schema = "The whole form, with every inner object, is a JSON schema: [results.schema.json](results.schema.json)."
    return f"{_write_table(['key', 'type', 'meaning'], rows)}\n\n{schema}"


def list_public_names(stub: Path) -> dict[str, list[tuple[str, str]]]:
    """The public names by room: (name, full path), in the order of the stub."""
    names = [(match["module"].split(".")[0], match) for match in PUBLIC_NAME.finditer(stub.read_text(encoding="utf-8"))]
    return {
        room: [(match["name"], f"leocod.{match['module']}.{match['name']}") for _, match in matches]
        for room, matches in groupby(names, key=lambda pair: pair[0])
    }


def write_api(stub: Path) -> Iterator[tuple[str, str, str]]:
    """File name, title and text of a page for each room with public names."""
    for room, names in list_public_names(stub).items():
        yield f"{room}.md", room, f"# {room}\n\n" + "\n".join(f"::: {path}\n" for _, path in names)


def list_api_pages(stub: Path) -> str:
    """The rooms, and their public names."""
    rows = (
        [f"[{room}]({room}.md)", ", ".join(f"[`{name}`][{path}]" for name, path in names)]
        for room, names in list_public_names(stub).items()
    )
    return _write_table(["", "public names"], rows)


def _write_section(section: Section) -> str:
    parts = [f"## {part.name}\n\n{_escape(part.summary)}\n\n{_list_options(part.options)}" for part in section.parts]
    return "\n\n".join(parts)


def _list_options(options: Sequence[Option]) -> str:
    rows = ([f"`{option.key}`", f"`{option.default}`", _escape(option.meaning)] for option in options)
    return _write_table(["option", "default", "meaning"], rows) if options else ""


def _write_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table. A vertical bar within a cell does not end it."""
    cells = ([cell.replace("|", "\\|") for cell in row] for row in (head, ["---"] * len(head), *rows))
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _name_type(schema: dict[str, Any]) -> str:
    if choices := schema.get("anyOf"):
        return " or ".join(_name_type(choice) for choice in choices)
    return f"`{str(schema.get('$ref', schema.get('type', 'any'))).rpartition('/')[2]}`"


def _help(key: str) -> str:
    return _escape(first_paragraph(Results.model_fields[key].description))


def _escape(text: str) -> str:
    """Text in which < begins no HTML, but for what stands in backticks."""
    parts = enumerate(re.split(r"(`[^`]*`)", text))
    return "".join(part if number % 2 else part.replace("<", "&lt;") for number, part in parts)
