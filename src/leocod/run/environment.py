"""What a run was made with: versions, machine, source state, command line."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from leocod import __version__
from leocod.files.documents import parse_json
from leocod.training import distributed

PACKAGES = ("torch", "torchvision", "numpy", "pillow", "pydantic")


def describe_environment(*, threads: int, device: str, command: Sequence[str]) -> dict[str, Any]:
    """Plain values, for environment.json."""
    return {
        "leocod": __version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "threads": threads,
        "device": device,
        "processes": distributed.size(),
        "source": read_source_state(Path(__file__).parents[1]),
        "command": list(command),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def add_resumption(file: Path, step: int, now: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The content of an environment.json with one more entry under `resumed`, and which versions have changed."""
    try:
        content: dict[str, Any] = dict(parse_json(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        content = dict(now)
    before = (content.get("resumed") or [content])[-1]
    names = ("leocod", "python", *PACKAGES, "machine", "processes", "source")
    changed = [f"{name} was {before.get(name)} and is {now[name]}" for name in names if before.get(name) != now[name]]
    return {**content, "resumed": [*content.get("resumed", []), {"from_step": step, **now}]}, changed


def read_command_line() -> list[str]:
    """How this process was started, without the directories of the machine it runs on."""
    name = Path(sys.argv[0]).name
    return ["leocod" if name == "__main__.py" else name, *sys.argv[1:]]


def read_source_state(folder: Path) -> dict[str, Any] | None:
    """Commit of the checkout the code lies in, and whether it was changed since; None when it is installed for good."""
    # An environment inside another project's checkout is not that project's code.
    if _git(folder, "ls-files", "--error-unmatch", "__init__.py") is None:
        return None
    return {"commit": _git(folder, "rev-parse", "HEAD"), "changed": bool(_git(folder, "status", "--porcelain", "."))}


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
