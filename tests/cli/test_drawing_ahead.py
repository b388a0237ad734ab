from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from leocod.benchmarks.wander import Wander, WanderOptions, drawn_ahead
from leocod.cli import drawing_ahead
from leocod.cli.drawing_ahead import draw_ahead

SIGNALLED = """
import os, signal, sys
from leocod.benchmarks.wander import Wander, WanderOptions, drawn_ahead
from leocod.cli.drawing_ahead import draw_ahead
from multiprocessing import active_children
if __name__ == "__main__":
    draw_ahead(3, 5)
    [child] = active_children()
    os.kill(child.pid, signal.Signals[sys.argv[1]])
    assert drawn_ahead
    frames = list(Wander(WanderOptions(steps=3), seed=5).test)
    assert not drawn_ahead
    print(len(frames), child.exitcode)
"""


@pytest.fixture(autouse=True)
def before_torch(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As when a command begins, on a machine with two processors."""
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(drawing_ahead, "count_cpus", lambda: 2)
    yield
    drawn_ahead.clear()


def test_the_frames_are_those_that_the_run_would_draw() -> None:
    draw_ahead(3, 5)
    options = WanderOptions(steps=3)

    assert list(drawn_ahead) == [(options, 5)]
    ahead = Wander(options, seed=5)
    drawn, again = list(ahead.test), list(Wander(options, seed=5).test)

    assert ahead._drawn
    assert not drawn_ahead
    assert [frame.id for frame, _ in drawn] == [frame.id for frame, _ in again]
    for (frame, labels), (same, alike) in zip(drawn, again, strict=True):
        assert np.array_equal(frame.image(), same.image())
        assert np.array_equal(labels.boxes, alike.boxes)
        assert np.array_equal(labels.classes, alike.classes)


def test_a_run_of_another_world_draws_its_own_frames() -> None:
    drawn_ahead[WanderOptions(steps=3), 5] = lambda: pytest.fail("these are other frames")

    assert len(list(Wander(WanderOptions(steps=3), seed=6).test)) == 3
    assert len(list(Wander(WanderOptions(steps=2), seed=5).test)) == 2


OTHERS = {"no such world": (0, None), "a negative seed": (3, -1), "more than is held at once": (10**6, None)}


@pytest.mark.parametrize("obstacle", ["torch is there", "one processor", *OTHERS])
def test_nothing_is_begun_where_nothing_is_gained(obstacle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if obstacle == "torch is there":
        monkeypatch.setitem(sys.modules, "torch", object())
    if obstacle == "one processor":
        monkeypatch.setattr(drawing_ahead, "count_cpus", lambda: 1)

    draw_ahead(*OTHERS.get(obstacle, (3, None)))

    assert not drawn_ahead


def signal_the_process(name: str, folder: Path) -> tuple[int, str, str]:
    """How it ends and what is printed when the process gets a signal as soon as it has begun."""
    (folder / "signalled.py").write_text(SIGNALLED)
    command = [sys.executable, str(folder / "signalled.py"), name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.strip(), done.stderr


@pytest.mark.skipif(os.name == "nt", reason="processes are killed by other means there")
def test_a_process_that_was_killed_is_done_without(tmp_path: Path) -> None:
    assert signal_the_process("SIGTERM", tmp_path) == (0, f"3 {-signal.SIGTERM}", "")


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent by other means there")
def test_ctrl_c_does_not_disturb_the_process_before_it_runs(tmp_path: Path) -> None:
    assert signal_the_process("SIGINT", tmp_path) == (0, "3 0", "")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent by other means there")
def test_ctrl_c_while_torch_is_imported_says_nothing_of_the_other_process(tmp_path: Path) -> None:
    began = subprocess.Popen(
        [sys.executable, "-m", "leocod", "run", "--out", str(tmp_path / "run")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell that starts the tests in the background lets them ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert began.stdout is not None
    assert began.stdout.readline().startswith("Starting.")
    time.sleep(1.5)

    os.killpg(began.pid, signal.SIGINT)
    _, errors = began.communicate(timeout=60)

    assert "Process" not in errors
    assert "spawn" not in errors
