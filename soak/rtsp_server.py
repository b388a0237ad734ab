"""A small RTSP server on this machine: H.264 over TCP, made while it is sent. It can be cut, silenced and restored."""

from __future__ import annotations

import base64
import re
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Event, Thread
from typing import Any

import av
import numpy as np

SDP = """v=0
o=- 0 0 IN IP4 127.0.0.1
s=test
t=0 0
m=video 0 RTP/AVP 96
c=IN IP4 127.0.0.1
a=rtpmap:96 H264/90000
a=fmtp:96 packetization-mode=1
a=control:track1
"""


class RtspServer:
    """Serves one stream at `address`. Every client sees it from its first frame on, brighter from frame to frame."""

    def __init__(self, *, size: tuple[int, int] = (48, 64), rate: int = 20, password: str | None = None) -> None:
        self.size = size
        self.rate = rate
        self.password = password
        self.silent = Event()
        """While it is set, clients stay connected and get nothing."""
        self.wanted = Event()
        """Set when somebody has asked for the stream."""
        self._port = 0
        self._server: Any = None
        self.restore()

    @property
    def address(self) -> str:
        user = f"user:{self.password}@" if self.password else ""
        return f"rtsp://{user}127.0.0.1:{self._port}/live"

    def __enter__(self) -> RtspServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()

    def restore(self) -> None:
        """Listen, at the same port as before."""
        self._server = _Server(("127.0.0.1", self._port), self)
        self._port = self._server.server_address[1]
        Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def cut(self) -> None:
        """Throw everybody out, and listen no more."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.over.set()
            server.server_close()
            for client in tuple(server.clients):
                with suppress(OSError):
                    client.shutdown(socket.SHUT_RDWR)


class _Server(ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def __init__(self, place: tuple[str, int], owner: RtspServer) -> None:
        self.owner = owner
        self.over = Event()
        self.clients: set[socket.socket] = set()
        super().__init__(place, _Handler)


class _Handler(StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        self.server.clients.add(self.request)
        with suppress(OSError):
            while (request := self._read_request()) is not None:
                self._answer(*request)
        self.server.clients.discard(self.request)

    def _read_request(self) -> tuple[str, dict[str, str]] | None:
        lines = []
        while line := self.rfile.readline().decode("latin-1").strip():
            lines.append(line)
        if not lines:
            return None
        pairs = (line.partition(":") for line in lines[1:])
        return lines[0].split()[0], {name.lower(): value.strip() for name, _, value in pairs}

    def _answer(self, method: str, fields: dict[str, str]) -> None:
        owner = self.server.owner
        if owner.password and method != "OPTIONS":
            right = base64.b64encode(f"user:{owner.password}".encode()).decode()
            if fields.get("authorization") != f"Basic {right}":
                self._reply(fields, "WWW-Authenticate: Basic realm=test", status="401 Unauthorized")
                return
        if method == "DESCRIBE":
            body = SDP.replace("\n", "\r\n")
            self._reply(fields, "Content-Type: application/sdp", f"Content-Length: {len(body)}", body=body)
        elif method == "SETUP" and "TCP" not in fields["transport"]:
            self._reply(fields, status="461 Unsupported Transport")
        elif method == "SETUP":
            channels = re.search(r"interleaved=\d+-\d+", fields["transport"])
            self._reply(fields, f"Transport: RTP/AVP/TCP;unicast;{channels[0] if channels else ''}", "Session: 1")
        elif method == "PLAY":
            self._reply(fields, "Session: 1", "Range: npt=now-")
            owner.wanted.set()
            Thread(target=self._play, daemon=True).start()
        else:
            self._reply(fields, "Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN", "Session: 1")

    def _reply(self, fields: dict[str, str], *lines: str, status: str = "200 OK", body: str = "") -> None:
        head = "\r\n".join((f"RTSP/1.0 {status}", f"CSeq: {fields.get('cseq', '0')}", *lines))
        self.wfile.write(f"{head}\r\n\r\n{body}".encode())

    def _play(self) -> None:
        owner = self.server.owner
        with suppress(OSError):
            for packet in _make_packets(owner.size, owner.rate, self.server.over):
                if not owner.silent.is_set():
                    self.wfile.write(b"$\0" + struct.pack(">H", len(packet)) + packet)


def _make_packets(size: tuple[int, int], rate: int, over: Event) -> Iterator[bytes]:
    """Encode frames at their pace. FFmpeg cuts them into RTP packets, which it can only send; here they are caught."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as catcher:
        catcher.bind(("127.0.0.1", 0))
        catcher.setblocking(False)
        with av.open(f"rtp://127.0.0.1:{catcher.getsockname()[1]}", "w", format="rtp") as container:
            options = {"tune": "zerolatency", "preset": "ultrafast"}
            stream: Any = container.add_stream("libx264", rate=rate, options=options)
            stream.height, stream.width, stream.pix_fmt, stream.gop_size = *size, "yuv420p", rate
            number = 0
            while not over.wait(1 / rate):
                image = np.full((*size, 3), number % 200, np.uint8)
                frame = av.VideoFrame.from_ndarray(image, format="rgb24")
                frame.pts, frame.time_base = number, Fraction(1, rate)
                container.mux(stream.encode(frame))
                number += 1
                with suppress(BlockingIOError):
                    while True:
                        yield catcher.recv(65536)
