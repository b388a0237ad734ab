"""Why FFmpeg cannot read a camera or an address, in one line with the cure, and without the address itself."""

from __future__ import annotations

import errno
import socket
from urllib.parse import urlsplit

import av

from leocod.files.addresses import is_address
from leocod.text import one_line

NO_ANSWER = "it does not answer. Is it switched on, and are host and port right?"
NO_VIDEO = "what it sends is not video that can be read here. Does a player show it?"

REASONS: tuple[tuple[type[Exception], str], ...] = (
    (av.HTTPUnauthorizedError, "it wants a user and a password, or others. Write scheme://USER:PASSWORD@host"),
    (av.HTTPForbiddenError, "it refuses to show the stream (403). Is that user allowed to see it?"),
    (av.HTTPNotFoundError, "the host has no such stream (404). Check the end of the address"),
    (av.HTTPServerError, "the host reports an error of its own (5xx)"),
    (ConnectionRefusedError, "nothing answers there. Is it switched on, and are host and port right?"),
    (av.ExitError, NO_ANSWER),
    (TimeoutError, NO_ANSWER),
    (av.DecoderNotFoundError, "its video is of a kind that cannot be decoded here. Set the camera to H.264 or MJPEG"),
    (av.ProtocolNotFoundError, "it leads to an address of a kind that is not read"),
    (av.InvalidDataError, NO_VIDEO),
    (av.ArgumentError, NO_VIDEO),
)

CAMERA_REASONS = {
    errno.EACCES: "you may not use it. On Linux, add yourself to the group `video` and log in again",
    errno.EBUSY: "another program uses it. Close that",
    errno.ENODEV: "it is unplugged",
    errno.ENOENT: "there is no such camera. Is it plugged in?",
    errno.ENOTTY: "it is not a camera",
    errno.ENXIO: "it is unplugged",
}


class Unusable(Exception):
    """A stream that is there, but has no video that can be used. It says why."""


def explain(error: Exception, name: str) -> str:
    """Say why the camera or address of this name cannot be read.

    Only FFmpeg's codes are used: its words may hold the address.
    """
    if isinstance(error, Unusable):
        return str(error)
    host = urlsplit(name).hostname if is_address(name) else None
    # FFmpeg does not say that there is no such host, but only that something went wrong.
    if isinstance(error, OSError) and host is not None and not _is_known(host):
        return "there is no host of that name. Check the address"
    if isinstance(error, OSError) and host is None and error.errno in CAMERA_REASONS:
        return CAMERA_REASONS[error.errno]
    for kind, reason in REASONS:
        if isinstance(error, kind):
            return reason
    return one_line(getattr(error, "strerror", None) or type(error).__name__, 200).rstrip(".").lower()


def _is_known(host: str) -> bool:
    try:
        socket.getaddrinfo(host, None)
    except (OSError, UnicodeError):
        return False
    return True
