"""`leocod live` as a person has it: killed, and started again. soak/live_kills.py is the long form."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parents[2] / "soak"


@pytest.mark.slow
def test_what_was_acknowledged_is_there_after_every_kill(tmp_path: Path) -> None:
    # A process of its own: it forks, and a test runner has threads.
    done = subprocess.run(
        [sys.executable, str(SOAK / "live_kills.py"), "--kills", "3", "--home", "runs", "--out", "kills.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "kills.json").read_text())
    assert (found["kills"], found["wrong"], found["learnt_again"]) == (3, [], 1)
