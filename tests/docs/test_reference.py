"""The generated pages name all that exists."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import reference
import typer.main

import leocod
from leocod.cli.main import app
from leocod.evaluation.metrics.base import METRICS
from leocod.evaluation.results import Evaluation, Results
from leocod.files.run_directory import RunDirectory
from leocod.plugins.efficient_cls import EfficientCLSOptions
from leocod.run.choices import CHOICES, Choice, SinkChoice
from leocod.run.config import ExperimentConfig
from leocod.settings import Settings

STUB = Path(leocod.__file__).with_suffix(".pyi")
PAGES = {title: text for _, title, text in reference.write_options()}
KINDS = [choice.kind for choice in (*CHOICES.values(), SinkChoice)]


def _keys(options: type[Settings]) -> Iterator[str]:
    """The keys of the options themselves and of those within them."""
    for key, field in options.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, Settings) and not issubclass(inner, Choice):
            yield from _keys(inner)
        else:
            yield key


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_option_of_every_part_is_on_its_page(kind: Any) -> None:
    page = PAGES[kind.package.rpartition(".")[2].capitalize()]
    sections = {section.splitlines()[0]: section for section in page.split("\n## ")[1:]}

    assert list(sections) == kind.names()
    missing = [
        (name, key)
        for name, section in sections.items()
        for key in _keys(kind.find(name).Options)
        if f"{key}` |" not in section
    ]
    assert missing == []


def test_every_option_of_the_run_and_of_the_plug_in_is_on_its_page() -> None:
    elsewhere = {*CHOICES, "sinks", "efficient_cls"}

    run = [key for key in _keys(ExperimentConfig) if key not in elsewhere]
    assert [key for key in run if f"{key}` |" not in PAGES["Run"]] == []
    assert [key for key in _keys(EfficientCLSOptions) if f"`{key}` |" not in PAGES["Plug-in"]] == []
    assert [name for name in METRICS.names() if f"## {name}\n" not in PAGES["Metrics"]] == []


def test_a_vertical_bar_in_a_meaning_does_not_break_the_table() -> None:
    lines = [line for page in PAGES.values() for line in page.splitlines() if line.startswith("| `")]

    assert lines
    assert {line.replace("\\|", "").count("|") for line in lines} == {4}


def _commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    yield name, command
    for inner, child in getattr(command, "commands", {}).items():
        yield from _commands(child, f"{name} {inner}")


def test_every_command_and_every_option_of_it_is_on_the_page() -> None:
    sections = {section.split("`")[1]: section for section in reference.write_commands().split("\n\n#")}

    for name, command in _commands(typer.main.get_command(app), "leocod"):
        shown = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
        options = [option for parameter in shown for option in parameter.opts if option.startswith("--")]
        assert [option for option in options if option not in sections[name]] == []


def test_every_file_of_a_run_directory_is_on_the_page() -> None:
    page = reference.write_run_directory()

    names = {path.name for path in vars(RunDirectory(Path("run"))).values()} - {"run"}
    assert [name for name in names if name not in page] == []
    assert {line.count("|") for line in page.splitlines()} == {3}


def test_the_schema_of_results_has_every_key_and_the_page_explains_it() -> None:
    schema = json.loads(reference.write_schema())
    page = reference.write_results()

    assert schema["properties"].keys() == Results.model_fields.keys()
    assert [key for key in Results.model_fields if f"| `{key}` |" not in page] == []
    assert {line.count("|") for line in page.splitlines() if line.startswith("|")} == {4}
    assert [line for line in page.splitlines() if line.endswith("|  |")] == []


def test_every_public_name_is_on_a_page_of_the_api() -> None:
    listed = [path for _, _, text in reference.write_api(STUB) for path in text.split("::: ")[1:]]

    assert {path.strip().rpartition(".")[2] for path in listed} == {*leocod.__all__} - {"__version__"}
    assert [name for name in leocod.__all__ if f"[`{name}`]" not in reference.list_api_pages(STUB)] == ["__version__"]


def test_results_that_a_run_writes_follow_the_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    written = Results(
        benchmark="wander",
        detector="tiny",
        strategy="icarl",
        efficient_cls=True,
        ema=True,
        pseudo_labels=True,
        labels_per_step=4,
        seed=0,
        steps=2,
        labelled_frames=8,
        scores={"fap": 50.0, "bwt": None},
        evaluations=[Evaluation(step=1, ap=50.0, ap_by_class={"mug": 50.0, "dog": None})],
        seconds=1.5,
    ).model_dump(mode="json")

    check = jsonschema.Draft202012Validator(json.loads(reference.write_schema()))
    assert list(check.iter_errors(written)) == []
    assert [error.message for error in check.iter_errors(written | {"steps": -1})] == [
        "-1 is less than the minimum of 0"
    ]
