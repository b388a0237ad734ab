"""Two processes on one run directory, files that were damaged or lost, and clocks that jump."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from clock import JUMPS
from digests import digests
from whole import whole

from leocod.errors import InvalidRun, RunExists, SourceAway
from leocod.run.config import ExperimentConfig
from leocod.run.session import resume_experiment, run_experiment

HOLDS = (
    "from leocod.files.run_directory import *; lock = RunDirectory(Path('run')).lock(); "
    "lock.__enter__(); print(1, flush=True)"
)


@pytest.fixture
def broken_off(a_config: Callable[..., ExperimentConfig]) -> Path:
    """A run that has stopped before its last step, with checkpoints of the two steps before."""
    run, trouble = Path("run"), Path("trouble.json")
    trouble.write_text('{"kind": "away", "step": 4}')
    with pytest.raises(SourceAway):
        run_experiment(a_config("checkpoint.every=1"), run)
    trouble.unlink()
    assert [path.name for path in sorted((run / "checkpoints").iterdir())] == ["step_00002.pt", "step_00003.pt"]
    return run


def test_a_run_that_another_process_is_at_is_refused_until_that_is_killed(
    a_config: Callable[..., ExperimentConfig], broken_off: Path, undisturbed: dict[str, str]
) -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", f"{HOLDS}; input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with other:
        assert other.stdout is not None
        other.stdout.readline()

        with pytest.raises(RunExists, match="run is in use: another process runs there. Wait for it, or end it."):
            resume_experiment(a_config(), broken_off)

        other.kill()
    resume_experiment(a_config(), broken_off)
    assert digests(broken_off) == undisturbed


def test_of_two_that_begin_at_once_the_second_is_refused_and_does_no_harm(
    a_config: Callable[..., ExperimentConfig], at: Callable[..., object], undisturbed: dict[str, str]
) -> None:
    run, told = Path("run"), []

    def second() -> None:
        for start in (run_experiment, resume_experiment):
            with pytest.raises(RunExists) as refused:
                start(a_config(), run)
            told.append(str(refused.value))

    run_experiment(a_config(), run, [at(1, second)])

    assert "already holds a run" in told[0]
    assert "is in use" in told[1]
    assert digests(run) == undisturbed


@pytest.mark.parametrize("kind", ["cut", "flipped", "emptied", "text"])
def test_the_checkpoint_before_a_damaged_one_is_used_and_it_is_said(
    a_config: Callable[..., ExperimentConfig],
    broken_off: Path,
    undisturbed: dict[str, str],
    caplog: pytest.LogCaptureFixture,
    kind: str,
) -> None:
    newest = broken_off / "checkpoints" / "step_00003.pt"
    content = newest.read_bytes()
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    newest.write_bytes({"cut": content[:middle], "flipped": flipped, "emptied": b"", "text": b"text"}[kind])

    with caplog.at_level(logging.WARNING):
        resume_experiment(a_config(), broken_off)

    assert any("step_00003.pt" in one and "The one before is used" in one for one in caplog.messages)
    assert digests(broken_off) == undisturbed


def test_when_no_checkpoint_can_be_read_the_run_does_not_begin_again_by_itself(
    a_config: Callable[..., ExperimentConfig], broken_off: Path
) -> None:
    for checkpoint in (broken_off / "checkpoints").iterdir():
        checkpoint.write_bytes(b"text")

    with pytest.raises(InvalidRun, match="step_0000.*cannot be loaded"):
        resume_experiment(a_config(), broken_off)


@pytest.mark.parametrize("name", ["labels.json", "test.json", "environment.json", "tensorboard", "checkpoints"])
def test_a_lost_file_that_can_be_made_again_is(
    a_config: Callable[..., ExperimentConfig], broken_off: Path, undisturbed: dict[str, str], name: str
) -> None:
    lost = broken_off / name
    shutil.rmtree(lost) if lost.is_dir() else lost.unlink()

    resume_experiment(a_config(), broken_off)

    assert lost.exists()
    assert digests(broken_off) == undisturbed


def test_sample_pictures_that_are_lost_are_done_without(
    a_config: Callable[..., ExperimentConfig], broken_off: Path, undisturbed: dict[str, str]
) -> None:
    lost = {file.name for file in (broken_off / "samples").iterdir()}
    shutil.rmtree(broken_off / "samples")

    resume_experiment(a_config(), broken_off)

    named = {entry["file"] for entry in json.loads((broken_off / "samples" / "samples.json").read_text())}
    assert lost
    assert named.isdisjoint(lost)
    assert named == {file.name for file in (broken_off / "samples").glob("*.png")}
    assert digests(broken_off) | {"files": ""} == undisturbed | {"files": ""}


@pytest.mark.parametrize("name", ["config.yaml", "events.jsonl"])
def test_a_lost_file_that_cannot_be_made_again_is_asked_for(
    a_config: Callable[..., ExperimentConfig], broken_off: Path, undisturbed: dict[str, str], name: str
) -> None:
    lost, kept = broken_off / name, Path("kept")
    lost.rename(kept)

    with pytest.raises(InvalidRun, match=name):
        resume_experiment(a_config(), broken_off)

    kept.replace(lost)
    resume_experiment(a_config(), broken_off)
    assert digests(broken_off) == undisturbed


def test_half_a_line_at_the_end_of_the_log_is_cut_off(
    a_config: Callable[..., ExperimentConfig], broken_off: Path, undisturbed: dict[str, str]
) -> None:
    with (broken_off / "events.jsonl").open("a") as log:
        log.write('{"event": "StepLear')

    resume_experiment(a_config(), broken_off)

    assert whole(broken_off) == []
    assert digests(broken_off) == undisturbed


def test_damaged_results_of_a_run_that_has_ended_are_made_again(
    a_config: Callable[..., ExperimentConfig], undisturbed: dict[str, str]
) -> None:
    run = Path("run")
    run_experiment(a_config(), run)
    (run / "results.json").write_text('{"fap": 1')

    resume_experiment(a_config(), run)

    assert digests(run) == undisturbed


def test_the_wall_clock_may_jump_and_the_dates_of_files_may_be_odd(
    a_config: Callable[..., ExperimentConfig],
    at: Callable[..., object],
    undisturbed: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, right, looks = Path("run"), time.time, iter(range(10**9))
    monkeypatch.setattr(time, "time", lambda: right() + JUMPS[next(looks) % len(JUMPS)])

    def misdate() -> None:
        for number, file in enumerate(sorted((run / "checkpoints").iterdir())):
            os.utime(file, (2e9 - 1e8 * number, 2e9 - 1e8 * number))
        raise SourceAway("It was broken off.")

    with pytest.raises(SourceAway):
        run_experiment(a_config("checkpoint.every=1"), run, [at(3, misdate)])
    resume_experiment(a_config(), run)

    assert digests(run) == undisturbed
