"""Films made with FFmpeg, and a web server on this machine."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

SIZE = (48, 64)


@pytest.fixture
def a_film(tmp_path: Path) -> Callable[..., Path]:
    """Writes a film; frame n has brightness 20 n. `milliseconds` are the times of its frames."""

    def write(name: str = "film.mp4", *, milliseconds: list[int] | None = None, **options: str) -> Path:
        base = Fraction(1, 1000)
        with av.open(str(tmp_path / name), "w", options=options) as container:
            stream: Any = container.add_stream("libx264", rate=10, options={"crf": "10", "bf": "0", "g": "5"})
            stream.height, stream.width, stream.pix_fmt = *SIZE, "yuv420p"
            stream.codec_context.time_base = base
            for number, time in enumerate(milliseconds or range(0, 1000, 100)):
                frame = av.VideoFrame.from_ndarray(np.full((*SIZE, 3), 20 * number, np.uint8), format="rgb24")
                frame.pts, frame.time_base = time, base
                container.mux(stream.encode(frame))
            container.mux(stream.encode())
        return tmp_path / name

    return write


class Web:
    """Serves a folder, and at /live MJPEG as a web camera does: a picture for each size in `sizes`, then nothing."""

    def __init__(self, folder: Path) -> None:
        self.sizes: list[tuple[int, int]] = [SIZE] * 5
        self.asked: list[str] = []
        """The paths that were asked for."""
        self.over = Event()
        self.waits = True
        """Whether the stream goes silent after the last picture, or ends."""
        server = self
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, web=server, directory=str(folder)))
        self._server.daemon_threads = True
        Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()


class _Handler(SimpleHTTPRequestHandler):
    def __init__(self, *arguments: Any, web: Web, **named: Any) -> None:
        self.web = web
        super().__init__(*arguments, **named)

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.web.asked.append(self.path)
        try:
            if self.path.startswith("/live"):
                self._send_pictures()
            else:
                super().do_GET()
        # The reader has gone.
        except OSError:
            pass

    def _send_pictures(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
        self.end_headers()
        for number, size in enumerate(self.web.sizes):
            file = io.BytesIO()
            Image.fromarray(np.full((*size, 3), 20 * number, np.uint8)).save(file, "JPEG", quality=95)
            picture = file.getvalue()
            head = f"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {len(picture)}\r\n\r\n"
            self.wfile.write(head.encode() + picture + b"\r\n")
        # So that the reader knows that the last picture is whole.
        self.wfile.write(b"--frame\r\n")
        if self.web.waits:
            self.web.over.wait()


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    server = Web(tmp_path)
    yield server
    server.close()
