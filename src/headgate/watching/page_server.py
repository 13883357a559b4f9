"""Serves the page: its files, its data, and what alerting reads."""

import json
import threading
import time
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from headgate.spec import SpecError
from headgate.watching.exposition import CONTENT_TYPE, exposition
from headgate.watching.history import History, WatchedQuery
from headgate.watching.live_feed import LiveFeed
from headgate.watching.page_guard import COOKIE, SESSION_S, Guarded, PageGuard
from headgate.watching.page_view import described, view

PAGE = Path(__file__).parent / "page"
PORT = 4140
PORTS = 20
"""Ports that are tried from there on, where none is asked for."""
SHORTEST_S, LONGEST_S = 60.0, 8 * 86_400.0
KEPT_S = 2.0
"""For how long what one reader is shown is shown to others as well, while there is no news."""
STARTS_S = 10.0

_Asked = tuple[int, float, tuple[tuple[int, int, str], ...]]
"""A join, how far to look back, and how far the joins were."""


class Answers:
    """What the page asks for."""

    def __init__(self, history: History, guard: PageGuard) -> None:
        self._history, self._guard = history, guard
        self.feed = LiveFeed(history)
        self._kept: dict[_Asked, tuple[float, bytes]] = {}
        self._building = threading.Lock()

    async def index(self, request: Request) -> Response:
        """The page itself."""
        return FileResponse(PAGE / "index.html")

    async def joins(self, request: Request) -> Response:
        """All joins and lookups there are."""
        watched = await run_in_threadpool(self._history.watched)
        return JSONResponse([described(each) for each in watched])

    async def data(self, request: Request) -> Response:
        """What is shown of one: ``join`` is its number, ``seconds`` how far to look back.

        Without a number it is the first, and null where there is none yet.
        """
        asked = request.query_params
        try:
            seconds = float(asked.get("seconds", "3600"))
            number = int(asked.get("join", "0"))
        except ValueError:
            return PlainTextResponse("join and seconds are numbers\n", 400)
        if not isfinite(seconds):
            return PlainTextResponse("seconds is a number\n", 400)
        seconds = min(max(seconds, SHORTEST_S), LONGEST_S)
        watched = await run_in_threadpool(self._history.watched)
        mine = next((each for each in watched if number in (0, each.number)), None)
        if mine is None and number == 0:
            return JSONResponse(None)  # nothing to show yet
        if mine is None:
            return PlainTextResponse("there is no such join\n", 404)
        body = await run_in_threadpool(self._view, mine, watched, seconds)
        return Response(body, media_type="application/json")

    def _view(self, mine: WatchedQuery, watched: list[WatchedQuery], seconds: float) -> bytes:
        """The answer as JSON; one at a time, and the same for all who ask at once."""
        with self._building:
            # A reader who was told of a batch loads it: what was made before does not do.
            news = tuple((each.number, each.written, each.state) for each in watched)
            key, clock = (mine.number, seconds, news), time.monotonic()
            made, body = self._kept.get(key, (-KEPT_S, b""))
            if clock - made < KEPT_S:
                return body
            told = view(self._history, mine, seconds)
            told["joins"] = [described(each) for each in watched]
            told["others"] = self._limits_of_others(mine, watched, seconds, told)
            body = json.dumps(told, separators=(",", ":")).encode()
            self._kept = {
                each: kept for each, kept in self._kept.items() if clock - kept[0] < KEPT_S
            }
            self._kept[key] = (clock, body)
            return body

    def _limits_of_others(
        self, mine: WatchedQuery, watched: list[WatchedQuery], seconds: float, told: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """Limits of joins that may share a budget with this one."""
        if not any(told["series"].get("limit", ())):
            return []
        found = []
        for each in watched:
            if each.number != mine.number and each.about.get("kind") == "join":
                series = view(self._history, each, seconds)["series"]
                if any(series.get("limit", ())):
                    kept = {name: series[name] for name in ("t", "limit", "total_recall")}
                    found.append({**described(each), "series": kept})
        return found

    async def live(self, request: Request) -> Response:
        """New batches as they are done."""
        if self.feed.is_full:
            return PlainTextResponse("too many readers\n", 503)
        return StreamingResponse(self.feed.messages(), media_type="text/event-stream")

    async def metrics(self, request: Request) -> Response:
        """Figures in the text form of Prometheus."""
        body = await run_in_threadpool(exposition, self._history)
        return Response(body, headers={"content-type": CONTENT_TYPE})

    async def health(self, request: Request) -> Response:
        """Whether the page answers and its history can be read; nothing of what is in it."""
        try:
            await run_in_threadpool(self._history.versions)
        except Exception:
            return PlainTextResponse("the history cannot be read\n", 503)
        return PlainTextResponse("ok\n")

    async def enter(self, request: Request) -> Response:
        """Let in who follows a one-time link."""
        session = self._guard.enter(request.query_params.get("code", ""))
        if session is None:
            return PlainTextResponse("this link was used before: ask for another\n", 401)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(COOKIE, session, httponly=True, samesite="lax", max_age=SESSION_S)
        return answer


def make_app(answers: Answers, guard: PageGuard) -> Any:
    """The page as an ASGI application."""
    routes = [
        Route("/", answers.index),
        Route("/joins", answers.joins),
        Route("/data", answers.data),
        Route("/live", answers.live),
        Route("/metrics", answers.metrics),
        Route("/healthz", answers.health),
        Route("/enter", answers.enter),
        Mount("/static", StaticFiles(directory=PAGE)),
    ]
    app = Starlette(routes=routes)
    app.add_middleware(GZipMiddleware, minimum_size=2000)
    return Guarded(app, guard)


class _Server(uvicorn.Server):
    """Ends what readers are sent before it waits for them: they would stay for ever."""

    def __init__(self, config: uvicorn.Config, feed: LiveFeed) -> None:
        super().__init__(config)
        self._feed = feed

    async def shutdown(self, sockets: Any = None) -> None:
        """Stopped, or interrupted."""
        self._feed.close()
        await super().shutdown(sockets)


class PageServer:
    """The page on a thread of its own, or on this one.

    Parameters
    ----------
    history, guard
        What is shown, and to whom.
    host, port
        Where; without a port, the first free one from 4140 on.
    """

    def __init__(
        self, history: History, guard: PageGuard, host: str = "127.0.0.1", port: int | None = None
    ) -> None:
        self.guard, self._host = guard, host
        ports = range(PORT, PORT + PORTS) if port is None else (port,)
        self._socket = _bound(host, ports)
        self.port = int(self._socket.getsockname()[1])
        answers = Answers(history, guard)
        config = uvicorn.Config(
            make_app(answers, guard),
            access_log=False,  # links have codes in them
            log_config=None,
            log_level="error",
            lifespan="off",
            timeout_graceful_shutdown=1,
            server_header=False,
        )
        self._server = _Server(config, answers.feed)
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        """Where the page is."""
        host = "localhost" if self._host in ("0.0.0.0", "::", "127.0.0.1") else self._host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def link(self) -> str:
        """A link to the page; with a token, one that works once."""
        return self.address + self.guard.entrance

    def start(self) -> None:
        """Serve on a thread; returns once it does."""
        self._thread = threading.Thread(target=self.run, name="headgate-page", daemon=True)
        self._thread.start()
        until = time.monotonic() + STARTS_S
        while not self._server.started and self._thread.is_alive() and time.monotonic() < until:
            time.sleep(0.01)

    def run(self) -> None:
        """Serve on this thread, until it is interrupted or stopped."""
        with suppress(KeyboardInterrupt):
            self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """End the page."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(timeout=5.0)
        self._socket.close()


def _bound(host: str, ports: Any) -> Any:
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in ports:
        try:
            return socket.create_server((host, port), family=family)
        except OSError as error:
            last = error
    tried = f"{ports[0]}" if len(ports) == 1 else f"{ports[0]} to {ports[-1]}"
    raise SpecError(
        f"the page cannot listen on {host}, port {tried}: {last.strerror or last}: give another "
        f"port= or host="
    )
