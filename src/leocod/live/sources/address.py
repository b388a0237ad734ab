"""A camera or a film behind an address: RTSP, MJPEG over HTTP, HLS."""

from __future__ import annotations

from threading import Event
from urllib.parse import urlsplit

from leocod.errors import InvalidConfig
from leocod.files.addresses import hide_secrets
from leocod.files.videos import CONTAINERS
from leocod.live.sources.decoder import Feed
from leocod.live.sources.remote import RemoteSource

RTSP = {
    # Fewer damaged frames than with UDP, and no hole in a firewall is needed. UDP is used where the camera has no TCP.
    "rtsp_flags": "prefer_tcp",
    "protocol_whitelist": "rtp,srtp,rtsp,rtsps,tcp,tls,udp",
    "format_whitelist": "rtsp,sdp,rtp,mpegts",
}
HTTP = {
    # A list of films must not lead to files of this machine, nor to other devices.
    "protocol_whitelist": "crypto,http,httpproxy,https,tcp,tls",
    "format_whitelist": ",".join((*CONTAINERS, "hls", "aac", "mp3", "webvtt")),
}
SCHEMES = {"rtsp": RTSP, "rtsps": RTSP, "http": HTTP, "https": HTTP}


def open_address(text: str, *, fps: float | None, loop: bool, stopped: Event) -> RemoteSource:
    """Open a stream. `fps`: frames a second at most. `loop`: a film that ends begins again."""
    title = hide_secrets(text)
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise InvalidConfig(f"{title} is not an address. Write it as rtsp://host:port/stream.") from error
    scheme = parts.scheme.lower()
    if scheme not in SCHEMES:
        cure = "Name the file without file://." if scheme == "file" else f"Known: {', '.join(SCHEMES)}."
        raise InvalidConfig(f"{title}: {scheme}:// is not an address that can be read. {cure}")
    if not host:
        raise InvalidConfig(f"{title} names no host. Write it as {scheme}://host:port/stream.")
    feed = Feed(text, options=SCHEMES[scheme], fps=fps, buffered=scheme.startswith("http"))
    return RemoteSource(feed, title, loop=loop, stopped=stopped)
