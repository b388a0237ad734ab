"""Somebody asks a run to stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from digests import digests
from typer.testing import CliRunner
from whole import whole

from leocod.cli.main import app
from leocod.errors import Interrupted
from leocod.run.config import ExperimentConfig
from leocod.run.session import resume_experiment, run_experiment


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("step", [0, 3])
def test_asked_to_stop_a_run_saves_the_step_it_is_at_and_goes_on_the_same(
    a_config: Callable[..., ExperimentConfig],
    at: Callable[..., object],
    undisturbed: dict[str, str],
    number: signal.Signals,
    step: int,
) -> None:
    run = Path("run")

    with pytest.raises(Interrupted, match=number.name):
        run_experiment(a_config(), run, [at(step, lambda: os.kill(os.getpid(), number))])

    assert (run / "checkpoints" / f"step_{step:05d}.pt").exists()
    assert whole(run) == []
    resume_experiment(a_config(), run)
    assert digests(run) == undisturbed


def test_asked_twice_a_run_ends_where_it_is_and_goes_on_the_same(
    a_config: Callable[..., ExperimentConfig], at: Callable[..., object], undisturbed: dict[str, str]
) -> None:
    run = Path("run")

    def ask_twice() -> None:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt) as ended:
        run_experiment(a_config(), run, [at(2, ask_twice)])

    # By which the exit code is chosen.
    assert ended.value.args == (signal.SIGTERM,)
    assert whole(run) == []
    resume_experiment(a_config(), run)
    assert digests(run) == undisturbed


def test_asked_to_stop_while_the_report_is_written_a_run_goes_on_with_the_report(
    a_config: Callable[..., ExperimentConfig], undisturbed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    run = Path("run")

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("leocod.run.session.write_report", interrupted)
        run_experiment(a_config(), run)

    assert not (run / "report.html").exists()
    resume_experiment(a_config(), run)
    assert (run / "report.html").exists()
    assert digests(run) == undisturbed


def test_the_command_says_how_to_go_on_and_ends_with_the_code_of_the_signal(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("trouble.json").write_text('{"kind": "ask", "step": 2}')

    done = CliRunner().invoke(app, ["run", *arguments, "--out", "a run"])

    assert done.exit_code == 143
    assert done.stderr.splitlines() == ["leocod: Asked to stop by SIGTERM. Resume it with: leocod run --resume 'a run'"]


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="cannot see here how far another process has come")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.slow
def test_asked_to_stop_before_there_is_anything_it_ends_without_a_traceback(
    arguments: list[str], tmp_path: Path, number: signal.Signals
) -> None:
    run = tmp_path / "run"
    child = subprocess.Popen(
        [sys.executable, "-m", "leocod", "run", *arguments, "--out", str(run)],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        # What a shell starts in the background is told to ignore Ctrl-C, and so is what that starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    maps = Path("/proc") / str(child.pid) / "maps"
    # In the midst of its imports; before, it is Python that answers.
    while "libtorch" not in maps.read_text():
        time.sleep(0.01)
    child.send_signal(number)
    _, told = child.communicate(timeout=600)

    # By the signal itself as long as there is nobody to answer it.
    assert child.returncode in (-number, 128 + number)
    assert told in ("", "leocod: interrupted. Nothing was written.\n")
    assert not run.exists()
