"""A process that decodes can always be left: when it is silent, stuck, dead, or still opening."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from threading import Event, Thread

import pytest
from rtsp_server import RtspServer

from leocod.errors import InvalidData, SourceAway
from leocod.live.sources.decoder import Feed
from leocod.live.sources.remote import RemoteSource

GENEROUS = 60
"""Seconds that no machine should need."""

CAMERA = Feed("testsrc=size=64x48:rate=50,realtime", "lavfi")


def opened(feed, stopped=None):
    return RemoteSource(feed, "the camera", stopped=stopped or Event())


def test_a_stream_that_falls_silent_can_be_stopped_at_once():
    stopped = Event()
    with RtspServer() as server:
        source = opened(Feed(server.address, silence=GENEROUS), stopped)
        frames = iter(source)
        next(frames)
        server.silent.set()
        rest = []
        reader = Thread(target=lambda: rest.extend(frames), daemon=True)
        reader.start()

        began = time.monotonic()
        stopped.set()
        reader.join(GENEROUS)
        source.close()

    assert not reader.is_alive()
    assert time.monotonic() - began < GENEROUS / 4
    assert source._process.returncode is not None


def test_a_stream_that_falls_silent_for_long_is_lost():
    with RtspServer() as server:
        source = opened(Feed(server.address, silence=1))
        frames = iter(source)
        next(frames)
        server.silent.set()

        with pytest.raises(SourceAway, match="the camera: nothing comes any more"):
            list(frames)
        source.close()


def test_opening_can_be_stopped():
    stopped = Event()
    errors = []

    def attempt(address):
        try:
            opened(Feed(address, answer=GENEROUS), stopped)
        except SourceAway as error:
            errors.append(error)

    with socket.create_server(("127.0.0.1", 0)) as mute:
        opener = Thread(target=attempt, args=(f"rtsp://127.0.0.1:{mute.getsockname()[1]}/live",), daemon=True)
        opener.start()
        # Somebody has connected, and is waiting for an answer.
        connection, _ = mute.accept()
        began = time.monotonic()
        stopped.set()
        opener.join(GENEROUS)
        connection.close()

    assert len(errors) == 1
    assert time.monotonic() - began < GENEROUS / 4


def test_what_ffmpeg_cannot_break_off_is_broken_off():
    source = opened(CAMERA)
    frames = iter(source)
    next(frames)
    os.kill(source._process.pid, signal.SIGSTOP)
    source._deadline = 0

    with pytest.raises(SourceAway, match="no frame has come for a long time"):
        list(frames)
    source.close()

    assert source._process.returncode is not None


def test_a_decoder_that_dies_is_a_source_that_is_lost():
    source = opened(CAMERA)
    frames = iter(source)
    next(frames)

    source._process.kill()

    with pytest.raises(SourceAway, match="the camera: the process that decodes it has ended with code -9"):
        list(frames)
    source.close()


def test_ctrl_c_is_not_for_the_decoder():
    source = opened(CAMERA)

    # A terminal sends it to all processes of its session.
    assert os.getsid(source._process.pid) != os.getsid(0)
    assert len(list(islice(source, 20))) == 20
    source.close()


def test_what_cannot_be_used_is_no_source():
    with pytest.raises(InvalidData, match=r"^the camera: it has no video in it\.$"):
        opened(Feed("sine=duration=0.1", "lavfi"))


def test_a_machine_without_room_for_a_process_may_have_it_later(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")

    with pytest.raises(SourceAway, match="cannot be started"):
        opened(CAMERA)


def test_a_stream_without_a_frame_is_no_source():
    with pytest.raises(SourceAway, match="ended before the first frame"):
        opened(Feed("testsrc=size=64x48:rate=10:duration=0", "lavfi"))


ORPHAN = """
from threading import Event
from leocod.live.sources.decoder import Feed
from leocod.live.sources.remote import RemoteSource

if __name__ == "__main__":
    source = RemoteSource(Feed("testsrc=size=64x48:rate=50,realtime", "lavfi"), "", stopped=Event())
    print(source._process.pid, flush=True)
    Event().wait()
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="It looks into /proc.")
def test_the_decoder_goes_when_its_owner_is_killed(tmp_path):
    (tmp_path / "owner.py").write_text(ORPHAN)
    with subprocess.Popen([sys.executable, tmp_path / "owner.py"], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        decoder = int(owner.stdout.readline())
        owner.kill()

    deadline = time.monotonic() + GENEROUS
    while is_running(decoder):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_running(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
