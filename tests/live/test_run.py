"""A live run in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from leocod.errors import InvalidConfig
from leocod.live.run import bind, hide_password, is_begun, load_live_config

SMALL = ("--set", "detector.short_side=48", "--set", "benchmark.frames_per_step=3", "--set", "checkpoint.every=3")


def test_a_new_run_asks_for_one_frame_of_a_step() -> None:
    config = load_live_config(None, [{"benchmark": {"source": "rtsp://cam"}}, {"labels": {"per_step": 2}}])

    assert (config.labels.per_step, config.detector.name, config.benchmark.options.source) == (2, "tiny", "rtsp://cam")
    assert load_live_config(None, []).labels.per_step == 1


def test_a_password_is_not_kept_and_must_be_given_again(tmp_path: Path) -> None:
    config = load_live_config(None, [{"benchmark": {"source": "rtsp://me:secret@cam/1"}}])
    kept = hide_password(config)
    (tmp_path / "config.yaml").write_text(kept.to_yaml())
    (tmp_path / "journal.jsonl").touch()

    assert "secret" not in kept.to_yaml()
    with pytest.raises(InvalidConfig, match="without its password"):
        load_live_config(tmp_path, [])
    again = load_live_config(tmp_path, [{"benchmark": {"source": "rtsp://me:secret@cam/1"}}])
    assert again.benchmark.options.source == "rtsp://me:secret@cam/1"


def test_a_run_that_was_killed_at_once_goes_on_with_what_it_was_given(tmp_path: Path) -> None:
    first = load_live_config(tmp_path, [{"benchmark": {"source": "rtsp://cam"}, "detector": {"short_side": 48}}])
    assert not is_begun(tmp_path)
    (tmp_path / "config.yaml").write_text(first.to_yaml())

    assert is_begun(tmp_path)
    again = load_live_config(tmp_path, [{"detector": {"short_side": 64}}])

    assert again.benchmark.options.source == "rtsp://cam"
    assert again.detector.options.short_side == 64


def test_another_run_is_not_taken_for_a_live_one(tmp_path: Path) -> None:
    for text in ("benchmark: {name: wander}", "benchmark: live", "[", ""):
        (tmp_path / "config.yaml").write_text(text)
        assert not is_begun(tmp_path)


@contextmanager
def running(run: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A live run in a process of its own, and the address of its page."""
    command = [sys.executable, "-m", "leocod", "live", "--run", str(run), "--port", "0", *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    assert process.stdout is not None
    try:
        told = ""
        while "browser" not in told:
            line = process.stdout.readline()
            assert line, told
            told += line
        match = re.search(r"http://\S+/", told)
        assert match, told
        yield process, match[0]
    finally:
        process.kill()
        process.communicate()


def read_state(address: str) -> Any:
    with urlopen(f"{address}api/state", timeout=30) as answer:
        return json.load(answer)


@pytest.mark.slow
@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_its_state_saves_when_asked_to_stop_and_goes_on(tmp_path: Path, asked: signal.Signals) -> None:
    run = tmp_path / "run"
    with running(run, *SMALL, "--classes", "thimble") as (process, address):
        ends = time.monotonic() + 120
        while not read_state(address)["requests"]:
            assert time.monotonic() < ends
            time.sleep(0.2)
        process.send_signal(asked)
        rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert f"Go on with: leocod live --run {run}" in rest

    with running(run) as (_, address):
        state = read_state(address)
        assert state["requests"]
        assert "thimble" in [known["name"] for known in state["classes"]]

    with pytest.raises(InvalidConfig, match="begun with another detector"):
        load_live_config(run, [{"detector": {"name": "retinanet"}}])
    assert load_live_config(run, [{"benchmark": {"source": "0"}}]).benchmark.options.source == "0"


@pytest.mark.parametrize("windows", [True, False])
def test_a_port_is_never_shared_with_another_server(windows, monkeypatch):
    # On Windows SO_REUSEADDR shares it, and an option of Windows alone refuses to. Here another option stands for that.
    if windows:
        monkeypatch.setattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_KEEPALIVE, raising=False)

    with bind("127.0.0.1", 0) as bound:
        assert bool(bound.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)) == (not windows)
        assert bool(bound.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)) == windows
        with pytest.raises(InvalidConfig, match="Choose another --port"):
            bind("127.0.0.1", bound.getsockname()[1])
