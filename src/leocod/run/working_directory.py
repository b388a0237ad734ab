"""From where the relative paths in a run's config lead: the directory that the run was started in."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

from leocod.errors import InvalidConfig, InvalidData, InvalidRun
from leocod.files.documents import parse_json
from leocod.files.run_directory import RunDirectory
from leocod.settings import list_leaves

KEY = "working_directory"
"""Where environment.json has it."""


def describe_working_directory(run: Path) -> dict[str, str]:
    """The current directory as seen from a run's, for environment.json: such a path moves with a project."""
    try:
        return {KEY: os.path.relpath(Path.cwd(), run.resolve())}
    # Windows: the two are on different drives.
    except ValueError:
        return {}


@contextmanager
def change_to_start(directory: RunDirectory, config: Mapping[str, Any]) -> Iterator[RunDirectory]:
    """Go to where a run was started, if a path of its config leads nowhere from here and somewhere from there.

    Yields the run's directory as it is called from there.
    """
    start = _read_start(directory)
    if start is None or not any((start / path).exists() for _, path in find_lost_paths(config)):
        yield directory
        return
    absolute = RunDirectory(directory.path.absolute())
    with chdir(start):
        yield absolute


@contextmanager
def explain_lost_paths(directory: RunDirectory, config: Mapping[str, Any], command: str) -> Iterator[None]:
    """Add to an error about a relative path where the path is looked for, and how to resume the run elsewhere."""
    try:
        yield
    except (InvalidConfig, InvalidData, InvalidRun) as error:
        lost = [f"{key}: {path}" for key, path in find_lost_paths(config) if path in str(error)]
        if not lost:
            raise
        raise InvalidConfig(
            f"{error} {directory.config} has a relative path ({', '.join(lost)}), which leads nowhere from here. Go to "
            f"the directory from which it leads to the data, and call: "
            f"leocod {command} {shlex.quote(str(directory.path.absolute()))}"
        ) from error


def find_lost_paths(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Options that could be relative paths, and lead nowhere from here."""
    for part in ("benchmark", "labels", "detector", "evaluate", "earlier_run", "new_labels_since"):
        for key, leaf in list_leaves(config.get(part) or {}, part):
            for value in leaf if isinstance(leaf, list | tuple) and key != "evaluate.metrics" else [leaf]:
                could_be = isinstance(value, str) and value and "\0" not in value and key != f"{part}.name"
                if could_be and not Path(value).is_absolute() and not Path(value).exists():
                    yield key, value


def _read_start(directory: RunDirectory) -> Path | None:
    """Where the run was started, if that is known and still there."""
    try:
        relative = parse_json(directory.environment.read_text(encoding="utf-8"))[KEY]
        start = (directory.path.resolve() / relative).resolve()
    # Earlier versions did not write it.
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return start if start.is_dir() else None
