"""A real RTSP stream for ten minutes, cut and restored five times, with a learner that is too slow for it.

The server is GStreamer's, in a process of its own, where it is installed (Debian: gir1.2-gst-rtsp-server-1.0 and
gstreamer1.0-plugins-bad); it is killed or frozen, and started or woken again. Else the one of `rtsp_server` serves.
"""

from __future__ import annotations

import argparse
import json
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Full, Queue
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

import av
from long_life import vitals
from rtsp_server import RtspServer

from leocod.live.grabber import Grabber
from leocod.live.sources.base import Captured
from leocod.live.sources.opening import open_source

RATE = 15
GSTREAMER = """
import sys, gi
gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer
Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service(sys.argv[1])
film = GstRtspServer.RTSPMediaFactory()
film.set_launch("( filesrc location=%s ! qtdemux ! h264parse ! rtph264pay name=pay0 pt=96 )" % sys.argv[2])
server.get_mount_points().add_factory("/live", film)
server.attach(None)
print("ready", flush=True)
GLib.MainLoop().run()
"""


class GstreamerServer:
    """Serves a film by GStreamer."""

    def __init__(self, python: str, film: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self._command = [python, "-c", GSTREAMER, str(self._port), str(film)]
        self.address = f"rtsp://127.0.0.1:{self._port}/live"
        self.restore()

    def restore(self) -> None:
        """Start it."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def cut(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.communicate()

    def freeze(self) -> None:
        """Let it hold its connections and say nothing."""
        self._process.send_signal(signal.SIGSTOP)

    def wake(self) -> None:
        """Let it go on."""
        self._process.send_signal(signal.SIGCONT)


class OwnServer(RtspServer):
    """The small one, where there is no GStreamer."""

    def freeze(self) -> None:
        """Hold connections and say nothing."""
        self.silent.set()

    def wake(self) -> None:
        """Go on."""
        self.silent.clear()


def find_gstreamer() -> str | None:
    """Return a Python that can serve RTSP."""
    check = GSTREAMER.partition("Gst.init")[0]
    for python in (sys.executable, "/usr/bin/python3"):
        if Path(python).exists() and subprocess.run([python, "-c", check], capture_output=True).returncode == 0:
            return python
    return None


def make_film(path: Path, seconds: int) -> Path:
    """Write a moving test picture as H.264."""
    drawing = f"testsrc2=size=320x240:rate={RATE}:duration={seconds}"
    with av.open(drawing, format="lavfi") as pictures, av.open(str(path), "w") as film:
        stream: Any = film.add_stream("libx264", rate=RATE, options={"preset": "ultrafast", "g": str(RATE)})
        stream.width, stream.height, stream.pix_fmt = 320, 240, "yuv420p"
        for frame in pictures.decode(video=0):
            film.mux(stream.encode(frame.reformat(format="yuv420p")))
        film.mux(stream.encode())
    return path


class FrameQueue:
    """Frames that wait to be used: a bounded number. When it is full, new frames are refused."""

    def __init__(self, room: int) -> None:
        self._queue: Queue[Captured] = Queue(room)

    def offer(self, captured: Captured) -> bool:
        """Take a frame if there is room; never wait."""
        try:
            self._queue.put_nowait(captured)
        except Full:
            return False
        return True

    def take(self, timeout: float) -> Captured | None:
        """Wait so many seconds for the oldest frame; None when there is none."""
        try:
            return self._queue.get(timeout=timeout)
        except Empty:
            return None


@contextmanager
def a_slow_learner(queue: FrameQueue, pause: float):
    """Take frames at a third of the stream's pace."""
    over = Event()

    def learn() -> None:
        while not over.wait(pause):
            queue.take(0.1)

    thread = Thread(target=learn)
    thread.start()
    yield
    over.set()
    thread.join()


def count_children() -> int:
    """Count the processes of this one, but for those that are over."""
    tasks = Path("/proc/self/task").glob("*/children")
    states = (Path(f"/proc/{child}/stat").read_text() for task in tasks for child in task.read_text().split())
    return sum(state.rpartition(")")[2].split()[0] != "Z" for state in states)


def wait_until(condition: Any, seconds: float) -> float:
    """Return how long it took."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > seconds:
            raise SystemExit(f"Nothing has happened for {seconds} s.")
        time.sleep(0.01)
    return round(time.monotonic() - began, 2)


def cut_once(server: Any, grabber: Grabber, number: int, away: float) -> dict[str, Any]:
    """Cut the stream, every third time by silence only; restore it, and say how long each took."""
    frozen = number % 3 == 2
    seen = grabber.state.seen
    (server.freeze if frozen else server.cut)()
    noticed = wait_until(lambda: grabber.state.status == "reconnecting", 60)
    message = grabber.state.message
    time.sleep(away)
    (server.wake if frozen else server.restore)()
    before = grabber.state.reconnects
    restored = wait_until(lambda: grabber.state.reconnects > before, 120)
    first = grabber.state.seen
    restored += wait_until(lambda: grabber.state.seen > first, 60)
    return {"how": "frozen" if frozen else "killed", "frames before": seen, "seconds until noticed": noticed,
            "seconds away": away, "seconds until the next frame": round(restored, 2), "message": message}  # fmt: skip


def live(server: Any, minutes: float, cuts: int) -> dict[str, Any]:
    """Grab for so long, with so many cuts spread over it."""
    queue, others = FrameQueue(32), count_children()
    grabber = Grabber(lambda stopped: open_source(server.address, stopped=stopped), queue.offer)
    grabber.start()
    found, ages = [], []
    end = time.monotonic() + 60 * minutes
    with a_slow_learner(queue, 3 / RATE):
        wait_until(lambda: grabber.state.seen > 5 * RATE, 60)
        first = vitals()
        for number in range(cuts + 1):
            following = end - 60 * minutes * (cuts - number) / (cuts + 1)
            while time.monotonic() < following:
                time.sleep(0.5)
                ages.append(time.time() - grabber.newest.captured if grabber.newest else 0.0)
            if number < cuts:
                found.append(cut_once(server, grabber, number, away=(2, 10, 5, 30, 15)[number % 5]))
                print(json.dumps(found[-1]), flush=True)
        state, last = grabber.state, vitals()
        began = time.monotonic()
        grabber.stop()
    return {
        "minutes": minutes,
        "frames seen": state.seen,
        "frames dropped": state.dropped,
        "frames a second at the end": round(state.fps, 2),
        "reconnects": state.reconnects,
        "oldest newest frame, seconds": round(max(ages), 2),
        "memory, MB": [first["memory"], last["memory"]],
        "open files": [first["files"], last["files"]],
        "threads": [first["threads"], last["threads"]],
        "seconds to stop": round(time.monotonic() - began, 2),
        "processes left": count_children() - others,
        "cuts": found,
    }


def main() -> None:
    """Serve, grab, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--cuts", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("results/soak/live_rtsp.json"))
    options = parser.parse_args()
    python = find_gstreamer()
    if python is None:
        print("GStreamer's RTSP server is not here: the small one of this folder takes its place.")
    with TemporaryDirectory() as folder:
        film = make_film(Path(folder) / "film.mp4", round(60 * options.minutes) + 120) if python else None
        server = GstreamerServer(python, film) if python and film else OwnServer(size=(240, 320), rate=RATE)
        try:
            content = {"server": type(server).__name__, **live(server, options.minutes, options.cuts)}
        finally:
            server.cut()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(content, indent=1) + "\n")
    print(json.dumps(content, indent=1))
    if content["reconnects"] < options.cuts or content["processes left"]:
        raise SystemExit("It did not come back each time, or left something behind.")


if __name__ == "__main__":
    main()
