"""Config files: one's own, and those that come with leocod."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from leocod.errors import InvalidConfig
from leocod.files.documents import read_yaml
from leocod.files.paths import NO_FILE, explain_absence
from leocod.text import one_line

FOLDER = Path(__file__).parent / "configs"


def list_shipped_configs() -> list[str]:
    """The config files that come with leocod.

    >>> "standard.yaml" in list_shipped_configs()
    True
    """
    return sorted(file.name for file in FOLDER.glob("*.yaml"))


def read_config_file(file: Path) -> dict[str, Any]:
    """The keys and values of a config file. A name without a folder, such as oak.yaml, may be one of leocod's own.

    A file of the user wins. Commands of earlier versions say configs/oak.yaml, and mean the same file.
    """
    is_absent = explain_absence(file) == NO_FILE
    if is_absent and str(file.parent) in (".", "configs"):
        if file.name not in list_shipped_configs():
            shipped = ", ".join(list_shipped_configs())
            raise InvalidConfig(f"No config file '{one_line(file)}'. With leocod come: {shipped}.")
        file = FOLDER / file.name
    return read_yaml(file)
