"""Freed memory stays with the process, where the C library can do that."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

from leocod.run.allocation import keep_memory

SCRIPT = """
import resource, sys
import numpy as np
from leocod.run.allocation import keep_memory

if sys.argv[1] == "keep":
    assert keep_memory()

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        np.ones(8_000_000, np.float64)  # 64 MB: more than glibc ever keeps by itself
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults()
print(faults())
"""


@pytest.mark.skipif(
    sys.platform == "win32" or not hasattr(ctypes.CDLL(None), "mallopt"), reason="SKIPPED: no mallopt in this C library"
)
def test_the_same_memory_is_used_again_and_not_asked_for_again():
    pages = {}
    for how in ("keep", "leave"):
        done = subprocess.run([sys.executable, "-c", SCRIPT, how], capture_output=True, check=True, text=True)
        pages[how] = int(done.stdout)

    assert pages["keep"] < pages["leave"] / 10


def test_where_the_c_library_cannot_it_says_so(monkeypatch):
    def without(_: object) -> object:
        return object()

    monkeypatch.setattr(ctypes, "CDLL", without)

    assert not keep_memory()
