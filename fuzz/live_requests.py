"""HTTP requests that are damaged, that reach for what is not theirs, or that come from somebody else's page."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from urllib.parse import quote

from byte_mutations import mutate_bytes
from live_wire import make_handshake, make_request

TARGETS = ("/", "/assets/page.js", "/assets/page.css", "/api/state", "/api/frames/0.jpg", "/api/exports/detector.onnx")

TRICKS = (
    "..", "../..", "....//", "..%2f", "%2e%2e/", "%2e%2e%2f", "..%5c", "..%252f", "%c0%ae%c0%ae/", "..;/", "./", "//",
    "/etc/passwd", "%2fetc%2fpasswd", "~root", "file:///etc/passwd", "C:%5c", "%00", "%0d%0aSet-Cookie:%20a=b", "%ff",
    "journal.jsonl", "config.yaml", "environment.json", ".lock", "checkpoints/", "step_00000.pt", "index.html%00.js",
    "0.jpg/", "0.jpg%00", "00.jpg", "-1.jpg", "1e3.jpg", "٣.jpg", "9" * 15 + ".jpg", "9" * 400 + ".jpg", "a" * 300,
    "a" * 5000 + ".js", "😀", "\x7f", "{name}", "${7*7}", "*", "?", "#", "[", "%", "%zz", ".js", ".html", "..js",
)  # fmt: skip
"""Pieces of paths that a careless server follows, or falls over."""

FOLDERS = ("/", "/assets/", "/api/", "/api/frames/", "/api/exports/", "/api/state/", "/docs", "/openapi.json", "/page/")

METHODS = ("POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT", "PRI", "get", "G" * 300, "", "GET ")

HEADERS = (
    "Content-Length: -1", "Content-Length: 99999999999999999999", "Content-Length: 5\r\nContent-Length: 6",
    "Transfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 5", "Transfer-Encoding: gzip, chunked",
    "Transfer-Encoding: \x0bchunked", "Expect: 100-continue", "Upgrade: h2c\r\nHTTP2-Settings: AAAA", "Range: bytes=0-",
    "Range: bytes=-1,0-0,0-0,9-1", "Range: bytes=" + "0-0," * 5000, "Range: items=a", "If-Range: x\r\nRange: bytes=0-1",
    "If-Modified-Since: never", "Accept-Encoding: " + "gzip, " * 3000, "Cookie: leocod_token", "Cookie: =;=;=",
    "Cookie: " + "a=b; " * 9000, "Cookie: leocod_token=\xe9\xff", "X-Forwarded-For: evil", "X-Forwarded-Proto: https",
    "X-Forwarded-Host: evil.example", "Forwarded: host=evil.example", "X-HTTP-Method-Override: POST", ": empty",
    "No colon", "Name : space", " Folded: line", "A\x00B: c", "X: \x00", "X: \r\n folded", "X: \x01\x02", "X" * 70_000,
    "X: " + "y" * 70_000, "\r\n".join(f"X-{number}: y" for number in range(3000)), "Connection: Upgrade, close",
    "Sec-WebSocket-Key: short", "Sec-WebSocket-Version: 99", "Sec-WebSocket-Protocol: a, b, ,",
    "Sec-WebSocket-Extensions: permessage-deflate; x=" + "9" * 99, "Upgrade: websocket",
    "Connection: Upgrade\r\nUpgrade: websocket",
)  # fmt: skip
"""Lines in a head that are wrong, or that ask for much."""


def damage_request(port: int, frame: int, random: Random) -> bytes:
    """A request to the right host that is damaged, or that reaches for what is not there to be had."""
    return random.choice(DAMAGES)(port, frame, random)


def _make_valid(port: int, frame: int, random: Random) -> bytes:
    host = {"Host": f"127.0.0.1:{port}"}
    if random.random() < 0.3:
        return make_handshake({**host, "Origin": f"http://127.0.0.1:{port}"})
    return make_request(random.choice((*TARGETS, f"/api/frames/{frame}.jpg")), host)


def _damage_bytes(port: int, frame: int, random: Random) -> bytes:
    raw = _make_valid(port, frame, random)
    for _ in range(random.choice((1, 1, 2, 4))):
        raw = mutate_bytes(raw, random)
    return raw


def _cut(port: int, frame: int, random: Random) -> bytes:
    raw = _make_valid(port, frame, random)
    return raw[: random.randrange(len(raw))]


def _follow_path(port: int, frame: int, random: Random) -> bytes:
    target = random.choice(FOLDERS) + "".join(random.choice(TRICKS) for _ in range(random.choice((1, 1, 2, 6))))
    if random.random() < 0.3:
        target = quote(target, safe="/")
    if random.random() < 0.1:
        target += random.choice(("?token=%E2%82%AC", "?token=a%0d%0ab", "?token=", "?" + "a=b&" * 4000, "?%ff=%ff"))
    return make_request(target, {"Host": f"127.0.0.1:{port}"})


def _add_header(port: int, frame: int, random: Random) -> bytes:
    raw = _make_valid(port, frame, random)
    line = random.choice(HEADERS).encode("latin-1")
    first, rest = raw.split(b"\r\n", 1)
    body = random.choice(
        (b"", b"", b"0\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n", b"zz\r\n", b"fffffffffffffffff\r\n", b"x" * 99)
    )
    return first + b"\r\n" + line + b"\r\n" + rest + body


def _change_line(port: int, frame: int, random: Random) -> bytes:
    """Another method, another form of the target, another version."""
    target = random.choice(("/", "/api/state", "http://evil.example/", "evil.example:80", "*", "", "//", " / ", "\t"))
    version = random.choice(("HTTP/1.1", "HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/9.9", "http/1.1", "", "HTTP/1.1 x"))
    head = f"{random.choice((*METHODS, 'GET'))} {target} {version}\r\nHost: 127.0.0.1:{port}\r\n"
    body = random.choice(("", "a" * 200_000, '{"type": "pause", "id": 1}', "\x00" * 99))
    return f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode()


def _break_lines(port: int, frame: int, random: Random) -> bytes:
    raw = _make_valid(port, frame, random)
    return raw.replace(b"\r\n", random.choice((b"\n", b"\r", b"\r\r\n", b"\n\n", b"\x85", b"\r\n\r\n")))


def _send_many(port: int, frame: int, random: Random) -> bytes:
    """One after the other, without waiting; the last one may be cut."""
    raw = b"".join(_make_valid(port, frame, random).replace(b"Connection: close\r\n", b"") for _ in range(8))
    return raw[: random.randrange(len(raw))] if random.random() < 0.5 else raw


def _send_noise(port: int, frame: int, random: Random) -> bytes:
    return random.choice(
        (random.randbytes(random.choice((1, 16, 999, 70_000))), b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 9,
         b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\r\n" * 5000, b"\x00" * 5000, b"GET " + b"/" * 80_000, b"SSH-2.0-x\r\n")
    )  # fmt: skip


DAMAGES: tuple[Callable[[int, int, Random], bytes], ...] = (
    _damage_bytes, _damage_bytes, _follow_path, _follow_path, _follow_path, _add_header, _add_header, _change_line,
    _cut, _break_lines, _send_many, _send_noise,
)  # fmt: skip


def make_foreign(port: int, random: Random) -> dict[str, str]:
    """The headers of a page that is not this server's, or that came by another name."""
    ours, origin = f"127.0.0.1:{port}", f"http://127.0.0.1:{port}"
    hosts = (
        "", "evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", f"localhost.evil:{port}",
        "127.0.0.1",
        f"127.0.0.1:{port + 1}", f"user@127.0.0.1:{port}", f"127.0.0.1:{port}@evil.example", f"evil.example#@{ours}",
        f"127.0.0.1:{port}:80", f"[::1]evil:{port}", f"[evil]:{port}", f"0x7f.1:{port}", f"2130706433:{port}",
        f"127.1:{port}", f"١٢٧.0.0.1:{port}", f"ⓛocalhost:{port}", f"localhost.:{port}", f"127.0.0.1:0{port}0",
        f"127.0.0.1:+{port}x", f"127.0.0.1%00:{port}", f"evil.example\\@{ours}", "a" * 5000, f"127.0.0.1:-{port}",
    )  # fmt: skip
    origins = (
        "", "null", "http://evil.example", f"https://127.0.0.1:{port}", "http://127.0.0.1", f"{origin}.evil.example",
        f"{origin}/", f"{origin} http://evil.example", f"http://localhost:{port}", f"http://127.0.0.2:{port}", "file://",
        f"http://evil@127.0.0.1:{port}", f"HTTP://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}", f"ws://{ours}",
        f"\t{origin}x", "http://[::1", "a" * 5000, f"http://127.0.0.1:{port}\u2028",
    )  # fmt: skip
    if random.random() < 0.5:
        host = random.choice(hosts)
        return {"Host": host, "Origin": random.choice((origin, f"http://{host}", "http://evil.example"))}
    return {"Host": ours, "Origin": random.choice(origins)}


def make_strange_token(token: str, random: Random) -> str:
    """Not the token, though it may look like it."""
    place = random.randrange(len(token))
    other = random.choice([one for one in "abcXYZ019-_" if one != token[place]])
    return random.choice(
        (
            "", "wrong", token[:-1], token + "x", token.swapcase() + "x", token[::-1] + "y", token + "," + token,
            token[:place] + other + token[place + 1 :], "%00" + token, token + "%00", "%20" + token + "%20", "a" * 9000,
            "%E2%82%AC", "%ff", "\xe9", f"{token}%0d%0a", "' or 1=1 --", "*", "None", "null", "true",
        )
    )  # fmt: skip
