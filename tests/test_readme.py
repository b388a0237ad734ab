"""What the README says is true, and every page leads somewhere."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from leocod.cli.main import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("results/**/*.md")]


def read_commands(page: Path) -> list[str]:
    """Every command of a page, without its comment; a command may go on after a backslash."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = re.findall(r"^\$ (.*)$", text, flags=re.MULTILINE)
    return [" ".join(re.sub(r"\s#.*|\.venv/bin/", "", line).split()) for line in lines]


OWN_VIDEO = read_commands(ROOT / "docs" / "own-video.md")
"""Run by tests/end_to_end/test_own_video.py."""

COMMANDS = [
    pytest.param(page, command, id=f"{page.relative_to(ROOT)}: {command[:60]}")
    for page in PAGES
    for command in read_commands(page)
    if re.match(r"(PYTHONPATH=\S+ )?leocod (?!.*\.\.\.)", command)
]


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_every_command_of_a_page_has_options_that_are_there(page, command):
    group = typer.main.get_command(app)
    words = shlex.split(re.sub(r"^(PYTHONPATH=\S+ )?leocod ", "", command))

    while isinstance(group, TyperGroup):
        name = words.pop(0)
        assert name in group.commands
        group = group.commands[name]
    # Refuses an option that the command does not have. Files that a page names need not be there.
    group.make_parser(group.context_class(group)).parse_args(words)


@pytest.mark.slow
def test_the_commands_of_the_readme_work(tmp_path):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "examples")])}
    commands = [re.sub(r"^PYTHONPATH=\S+ ", "", command) for command in read_commands(ROOT / "README.md")]
    # Live waits for a person (tests/end_to_end/test_live.py), and make for a network.
    run_here = [one for one in commands if re.match(r"leocod (?!live)", one) and one not in OWN_VIDEO]
    assert len(run_here) == 4

    for command in run_here:
        small = ["--steps", "2"] if command.startswith("leocod run") else []
        call = [sys.executable, "-m", *shlex.split(command), *small]
        done = subprocess.run(call, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stderr}"


def test_the_way_to_a_detector_of_ones_own_is_the_one_that_is_tested():
    own = [command for command in read_commands(ROOT / "README.md") if "kitchen" in command]

    assert len(own) == 5
    assert [command for command in own if command not in OWN_VIDEO] == []


def test_what_every_change_must_pass_begins_with_the_test_command_of_the_readme():
    [command] = [one for one in read_commands(ROOT / "README.md") if one.startswith("make test")]

    assert f"\n{command} " in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_readme_is_a_screen_and_a_half():
    assert len(README.splitlines()) <= 95


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_of_code_that_a_page_names_is_there(page):
    named = re.findall(r"(?<![\w/])(?:tests|src|soak|bench|fuzz|examples)/[\w/]+\.py", page.read_text(encoding="utf-8"))

    assert [file for file in named if not (ROOT / file).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_links_to_is_there(page):
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))

    assert [link for link in links if not (page.parent / link).exists()] == []
