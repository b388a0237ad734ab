"""Cameras and addresses of streams: what is one, and how to show it without its password."""

from __future__ import annotations

import re

from leocod.text import one_line

ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
CAMERA = re.compile(r"[0-9]{1,3}|/dev/video[0-9]{1,3}")


def is_address(text: str) -> bool:
    """Whether a text is an address, and not a path.

    >>> is_address("rtsp://camera/1"), is_address("films/1.mp4")
    (True, False)
    """
    return ADDRESS.match(text) is not None


def is_camera(text: str) -> bool:
    """Whether a text is the number or the device of a camera.

    >>> is_camera("0"), is_camera("/dev/video0"), is_camera("0.mp4")
    (True, True, False)
    """
    return CAMERA.fullmatch(text) is not None


def hide_secrets(text: str) -> str:
    """Take user, password and all values out of an address, so that it can be shown. Other texts stay as they are.

    >>> hide_secrets("rtsp://me:secret@camera:554/live?channel=1")
    'rtsp://***@camera:554/live?***'
    """
    start = ADDRESS.match(text)
    if start is None:
        return one_line(text)
    scheme, rest = text[: start.end()], text[start.end() :]
    host = re.split(r"[/?#]", rest, maxsplit=1)[0]
    port = host.rpartition(":")[2]
    # A password may have any letters in it, also / and @. Rather hide too much.
    has_user = "@" in host or ("@" in rest and ":" in host and not port.isdecimal())
    shown = f"***{rest[rest.rindex('@') :]}" if has_user else rest
    place, mark, _ = re.sub("#.*", "", shown, flags=re.DOTALL).partition("?")
    # Some cameras want the password as a part of the path.
    return one_line(f"{scheme}{re.sub('=[^&/;]*', '=***', place)}{mark}{'***' if mark else ''}")


def explain_no_end(source: str) -> str | None:
    """Say why a source cannot be run through from beginning to end; None when it is neither camera nor address."""
    if is_address(source):
        shown = hide_secrets(source)
    elif is_camera(source):
        shown = source
    else:
        return None
    what = "stream" if is_address(source) else "camera"
    return f"the {what} {shown} has no end, so no run can go through it. Use `leocod live {shown}`"
