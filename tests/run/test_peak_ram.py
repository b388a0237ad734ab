"""The most RAM that this process has held, and nobody else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from leocod.run.peak_ram import STATUS, measure_peak_ram

BLOCK = 300_000_000

SCRIPT = f"""
from leocod.run.peak_ram import measure_peak_ram
before = measure_peak_ram()
block = bytearray({BLOCK})
block[::4096] = b"x" * len(block[::4096])
del block
print(before, measure_peak_ram())
"""

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="SKIPPED: Windows does not say it")


@on_posix
def test_what_has_been_given_back_counts():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, check=True, text=True)

    before, after = map(int, done.stdout.split())
    assert 0.9 * BLOCK < after - before < 1.5 * BLOCK


@pytest.mark.skipif(not STATUS.exists(), reason="SKIPPED: only Linux keeps processes apart")
def test_the_process_that_started_this_one_does_not_count():
    block = bytearray(BLOCK)
    block[::4096] = b"x" * len(block[::4096])

    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, check=True, text=True)

    assert int(done.stdout.split()[0]) < BLOCK < measure_peak_ram()


@on_posix
def test_without_linux_the_resource_module_says_it(tmp_path: Path):
    told = measure_peak_ram(tmp_path / "not there")

    # In bytes: Python alone takes more than a few megabytes, and no test takes a terabyte.
    assert 5e6 < told < 1e12


def test_where_nothing_says_it_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "resource", None)

    assert measure_peak_ram(tmp_path / "not there") is None
