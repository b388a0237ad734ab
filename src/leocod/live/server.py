"""The web server of a live run: the page, its pictures, and a socket on which both sides talk."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response, WebSocket, WebSocketDisconnect
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, RedirectResponse
from pydantic import ValidationError

from leocod.errors import LeocodError
from leocod.live.access import COOKIE, HEADERS, Access, Rate
from leocod.live.commands import run_command
from leocod.live.describe import describe
from leocod.live.messages import PAGE_MESSAGE, Shown
from leocod.live.service import LiveService

logger = logging.getLogger(__name__)

LONGEST_MESSAGE = 64 * 1024
"""Characters of a message from the page."""
MOST_SOCKETS = 16
STATE_EVERY = 0.5
"""Seconds between two states."""
COMMANDS_A_SECOND, COMMANDS_AT_ONCE = 20, 60
WRONG_TOKEN, TOO_MANY, REFUSED, OUR_MISTAKE = 4401, 4429, 4403, 1011
"""Codes with which a socket is closed."""
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
UNBUILT = "The page is not built. From the source tree: cd page && npm ci && npm run build."


def make_app(service: LiveService, access: Access) -> FastAPI:
    """The application for one live run."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    @app.middleware("http")
    async def guard(request: Request, go_on: Callable[[Request], Awaitable[Response]]) -> Response:
        response = await _answer(request, access, go_on)
        response.headers.update(HEADERS)
        return response

    _add_page(app, Path(str(files("leocod.live").joinpath("page"))))
    _add_files(app, service)
    _add_socket(app, service, access)
    return app


def _add_page(app: FastAPI, page: Path) -> None:
    @app.get("/")
    def index() -> Response:
        return _send_file(page, "index.html") if (page / "index.html").is_file() else PlainTextResponse(UNBUILT, 503)

    @app.get("/assets/{name}")
    def asset(name: str) -> Response:
        return _send_file(page / "assets", name)


def _add_files(app: FastAPI, service: LiveService) -> None:
    store = service.session.store

    @app.get("/api/state")
    def state() -> Response:
        return JSONResponse(describe(service))

    @app.get("/api/frames/{name}")
    def frame(name: str) -> Response:
        number = name.removesuffix(".jpg")
        if not (number.isascii() and number.isdecimal() and len(number) < 16 and store.has(int(number))):
            return PlainTextResponse("There is no such frame.", 404)
        return FileResponse(store.path(int(number)), media_type="image/jpeg")

    @app.get("/api/exports/{name}")
    def export(name: str) -> Response:
        found = [file for file in service.exports if file.name == name]
        return FileResponse(found[0], filename=name) if found else PlainTextResponse("There is no such file.", 404)


def _add_socket(app: FastAPI, service: LiveService, access: Access) -> None:
    sockets: set[WebSocket] = set()

    def refuse(headers: Mapping[str, str]) -> int | None:
        """The code with which a socket is closed at once; None: it is welcome."""
        if access.refuse(headers, has_origin=True):
            return REFUSED
        if not access.knows(headers):
            return WRONG_TOKEN
        return TOO_MANY if len(sockets) >= MOST_SOCKETS else None

    @app.websocket("/api/socket")
    async def socket(socket: WebSocket) -> None:
        # Accepted in any case, so that the page can read the code.
        await socket.accept()
        if (code := refuse(socket.headers)) is not None:
            await socket.close(code)
            return
        sockets.add(socket)
        try:
            await Visit(service, socket).run()
        # Else the web server would tell it, with everything around it.
        except Exception:
            logger.exception("A visit failed.")
            with suppress(RuntimeError, OSError, WebSocketDisconnect):
                await socket.close(OUR_MISTAKE)
        finally:
            sockets.discard(socket)


async def _answer(request: Request, access: Access, go_on: Callable[[Request], Awaitable[Response]]) -> Response:
    """The answer to whoever may ask; a word of refusal to others."""
    if reason := access.refuse(request.headers, has_origin=False):
        return PlainTextResponse(reason, 403)
    given = request.query_params.get("token")
    if not access.knows(request.headers, given):
        return PlainTextResponse("This page needs its token: open the address that leocod live printed.", 401)
    if given is not None and access.token is not None:
        # Out of the address bar, where it would be copied along.
        response: Response = RedirectResponse("/", 303)
        response.set_cookie(COOKIE, access.token, httponly=True, samesite="strict")
        return response
    try:
        return await go_on(request)
    # What went wrong is for the log, not for the visitor.
    except Exception:
        logger.exception("A request failed.")
        return PlainTextResponse("leocod made a mistake; its log says more.", 500)


def _send_file(folder: Path, name: str) -> Response:
    """A file of the page. Looked for in the list of its files: a name from outside never becomes a path."""
    found = [file for file in folder.iterdir() if file.name == name] if folder.is_dir() else []
    if not found or found[0].suffix not in TYPES:
        return PlainTextResponse("There is no such file.", 404)
    return FileResponse(found[0], media_type=TYPES[found[0].suffix])


class Visit:
    """One open page."""

    def __init__(self, service: LiveService, socket: WebSocket) -> None:
        self.service = service
        self.socket = socket
        self._rate = Rate(COMMANDS_A_SECOND, COMMANDS_AT_ONCE)
        self._sending = asyncio.Lock()
        self._shown = asyncio.Event()
        self._shown.set()
        self._new_picture = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._start: Callable[[Coroutine[Any, Any, None]], None]
        """Does something beside all else, until the page is closed."""

    async def run(self) -> None:
        """Talk until the page is closed."""
        loop = asyncio.get_running_loop()

        def listen() -> None:
            loop.call_soon_threadsafe(self._new_picture.set)

        pictures = self.service.pictures
        pictures.viewers += 1
        pictures.listeners.add(listen)
        try:
            async with asyncio.TaskGroup() as group:
                self._start = lambda work: self._keep(group.create_task(_until_gone(work)))
                self._start(self._send_states())
                self._start(self._send_pictures())
                await _until_gone(self._listen())
                for task in list(self._tasks):
                    task.cancel()
        finally:
            pictures.listeners.discard(listen)
            pictures.viewers -= 1

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, message: dict[str, Any] | bytes) -> None:
        async with self._sending:
            try:
                if isinstance(message, bytes):
                    await self.socket.send_bytes(message)
                else:
                    await self.socket.send_text(json.dumps(message, separators=(",", ":")))
            # Whoever sends to a page that is closed is told by one or the other.
            except (RuntimeError, OSError) as error:
                raise WebSocketDisconnect from error

    async def _send_states(self) -> None:
        last: dict[str, Any] | None = None
        while True:
            state: dict[str, Any] | None
            try:
                state = await asyncio.to_thread(describe, self.service)
            # The page would wait for ever.
            except Exception:
                logger.exception("The state could not be told.")
                state = last
            if state is not None and state != last:
                await self._send({"type": "state", "state": state})
                last = state
            await asyncio.sleep(STATE_EVERY)

    async def _send_pictures(self) -> None:
        while True:
            await self._new_picture.wait()
            await self._shown.wait()
            self._new_picture.clear()
            self._shown.clear()
            picture = self.service.pictures.current
            if picture is not None:
                await self._send(picture.message)

    async def _listen(self) -> None:
        while True:
            received = await self.socket.receive()
            if received["type"] == "websocket.disconnect":
                return
            text = received.get("text")
            if text is None or len(text) > LONGEST_MESSAGE:
                await self._refuse(None, "Messages are texts of at most 64 kB.")
                continue
            await self._take(text)

    async def _take(self, text: str) -> None:
        try:
            message = PAGE_MESSAGE.validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            await self._refuse(_find_id(text), f"This message is not understood: {where}: {first['msg']}."[:300])
            return
        if isinstance(message, Shown):
            self._shown.set()
            return
        if not self._rate.allows(time.monotonic()):
            await self._refuse(message.id, "That was too fast. Try it again in a moment.")
            return
        # A slow command, such as an export, does not hold up the next one.
        self._start(self._do(message))

    async def _do(self, command: Any) -> None:
        try:
            answer = await run_command(self.service, command)
        except LeocodError as error:
            await self._refuse(command.id, str(error))
        except OSError as error:
            logger.exception("A command failed.")
            await self._refuse(command.id, f"The disk refuses it: {error.strerror or 'an error'}. Nothing was taken.")
        # What went wrong is for the log, not for the visitor.
        except Exception:
            logger.exception("A command failed.")
            await self._refuse(command.id, "leocod made a mistake; its log says more.")
        else:
            await self._send({"type": "ack", "id": command.id, "ok": True, **answer})

    async def _refuse(self, number: int | None, reason: str) -> None:
        await self._send({"type": "ack", "id": number, "ok": False, "error": reason})


async def _until_gone(work: Coroutine[Any, Any, None]) -> None:
    """Do something for a page. That it was closed meanwhile is no news."""
    with suppress(WebSocketDisconnect):
        await work


def _find_id(text: str) -> int | None:
    """The number of a command that is not understood, so that the page knows which one."""
    try:
        number = json.loads(text).get("id")
    except (ValueError, AttributeError, RecursionError):
        return None
    return number if isinstance(number, int) and not isinstance(number, bool) and abs(number) < 2**53 else None
