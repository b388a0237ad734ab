"""`leocod live` as a person starts it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from leocod.cli.main import app


def leocod(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["live", *arguments])
    assert done.exit_code == 2, done.output
    return done.output


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("no-such-file.mp4",), "no such file or folder"),
        (("--detector", "tinny"), "Did you mean 'tiny'"),
        (("--plugin", "plus"), "No plug-in 'plus'"),
        (("--classes", "pen,pen"), "'pen' twice"),
        (("--labels-per-step", "17"), "labels.per_step is 17"),
        (("--host", "999.9.9.9"), "cannot be used"),
        (("--set", "benchmark.name=wander"), "leave out benchmark.name"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_begun(
    tmp_path: Path, arguments: tuple[str, ...], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    told = leocod("--port", "0", *arguments)

    assert problem in told
    assert len(told.splitlines()) == 1


def test_a_run_that_goes_on_says_where_its_source_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.yaml").write_text("benchmark: {name: live, source: walk.mp4}\n")

    goes_on, new = leocod("--run", "run", "--port", "0"), leocod("other.mp4", "--port", "0")

    assert f"call: leocod live --run {tmp_path / 'run'}" in goes_on
    assert "other.mp4: no such file or folder" in new
    assert "leads nowhere" not in new


def test_a_port_that_is_taken_is_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        told = leocod("--run", str(tmp_path / "run"), "--port", str(port))

    assert "Choose another --port" in told
