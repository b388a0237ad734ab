"""The command line, called in an empty directory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from leocod.cli.main import app
from leocod.files.atomic import write_text
from leocod.run.config import load_config


@pytest.fixture
def leocod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner(env={"COLUMNS": "200", "TERM": "dumb"}).invoke(app, arguments)


@pytest.fixture
def refused(leocod: Callable[..., Result], tmp_path: Path) -> Callable[..., str]:
    """The one line that a command prints that cannot be done, beside a config with a mistake and another run."""

    def call(*arguments: str) -> str:
        (tmp_path / "typo.yaml").write_text("labels: {per_stp: 3}\n")
        write_text(tmp_path / "other_run" / "config.yaml", load_config().to_yaml())
        before = sorted(tmp_path.rglob("*"))

        result = leocod(*arguments)

        assert result.exit_code == 2
        assert result.stderr.startswith("leocod: ")
        assert len(result.stderr.splitlines()) == 1
        assert result.stdout == ""
        assert sorted(tmp_path.rglob("*")) == before
        return result.stderr

    return call
