"""Who may talk to the server: pages of this machine that the server itself has sent, and nobody else."""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

COOKIE = "leocod_token"

HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[0-9a-z._-]+)(?::(?P<port>[0-9]{1,5}))?", re.IGNORECASE | re.ASCII)
"""A name or an address, and a port. A parser of addresses takes much more, such as `[::1]evil.example`."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
        "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
"""Sent with every answer: a page that holds foreign text can run nothing and reach nobody."""


@dataclass(frozen=True)
class Access:
    """The rules for one server."""

    address: str
    """The address that it listens at."""
    port: int
    token: str | None
    """What a visitor must know; None at a loopback address, where only this machine's users come."""

    @staticmethod
    def at(address: str, port: int) -> Access:
        """The rules for an address: any that is not of this machine alone needs a token."""
        return Access(address, port, None if is_loopback(address) else secrets.token_urlsafe(24))

    @property
    def link(self) -> str:
        """What to open in a browser."""
        shown = f"[{self.address}]" if ":" in self.address else self.address
        return f"http://{shown}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    def refuse(self, headers: Mapping[str, str], *, has_origin: bool) -> str | None:
        """Why a request is refused; None: it is welcome.

        The host must be this server's: a foreign site whose name was made to point here (DNS rebinding) has its own. A
        page says where it comes from when it opens a socket, and that must be here, too.
        """
        host = headers.get("host", "")
        if not self._is_own_host(host):
            return "This host name is not this server's."
        origin = headers.get("origin")
        if origin is None:
            return "A socket needs an origin." if has_origin else None
        return None if origin == f"http://{host}" else "This origin is not this server's."

    def knows(self, headers: Mapping[str, str], given: str | None = None) -> bool:
        """Whether a visitor has the token: in the address, once, or in the cookie from then on."""
        if self.token is None:
            return True
        return any(
            hmac.compare_digest(one.encode(), self.token.encode()) for one in (given, _read_cookie(headers)) if one
        )

    def _is_own_host(self, host: str) -> bool:
        parts = HOST.fullmatch(host)
        if parts is None or int(parts["port"] or 80) != self.port:
            return False
        name = parts["name"].strip("[]").lower()
        if self.token is None:
            return name == "localhost" or is_loopback(name)
        # Bound to every address of the machine, or to a name: any address in digits is no name that can be rebound.
        return name in (self.address, "localhost") or _is_address(name)


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach an address."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _read_cookie(headers: Mapping[str, str]) -> str | None:
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return cookie.value if cookie else None


class Rate:
    """Lets so many through a second, with a short burst: whoever sends more is told so."""

    def __init__(self, per_second: float, burst: float) -> None:
        self.per_second = per_second
        self.burst = burst
        self._left = burst
        self._last = 0.0

    def allows(self, now: float) -> bool:
        """Whether one more may pass now."""
        self._left = min(self.burst, self._left + (now - self._last) * self.per_second)
        self._last = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
