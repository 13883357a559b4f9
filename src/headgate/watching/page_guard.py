"""Who may read the page, and what a browser may do with it.

On loopback everybody on the machine may read; anywhere else a token is asked for. The host header
is checked, so that a page elsewhere cannot read this one through a name that it points here (DNS
rebinding). There is nothing to write to.
"""

import hmac
import ipaddress
import secrets
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from headgate.spec import SpecError

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
"""Sent with every answer."""
SHORTEST_TOKEN = 16
SESSION_S = 30 * 86_400
"""How long a browser that was let in may read."""
COOKIE = "headgate"
OPEN = ("/healthz",)
"""What is answered without a token: it says nothing of the query."""
LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")

Scope = Mapping[str, Any]


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host.

    Examples
    --------
    >>> [is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass
class PageGuard:
    """Checks every request.

    Parameters
    ----------
    token
        What a reader must show; None to ask for none.
    hosts
        Names under which the page is reached, lower case, without a port.
    on_link_used
        Called when a one-time link was followed, and there is a new one.
    """

    token: str | None = field(repr=False)
    hosts: frozenset[str]
    on_link_used: Callable[[], None] | None = None
    _code: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @classmethod
    def of(cls, host: str, token: str | None, hosts: Iterable[str] = ()) -> "PageGuard":
        """For a page bound to a host; elsewhere than on loopback, with a token in any case."""
        if token is not None and len(token) < SHORTEST_TOKEN:
            raise SpecError(
                f"token= has {len(token)} characters: give {SHORTEST_TOKEN} or more that nobody "
                f"guesses, or leave it out and one is made"
            )
        names = {*LOCAL_NAMES, *(name.lower() for name in hosts)}
        if not is_loopback(host):
            token = token or secrets.token_urlsafe(24)
            names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
            names |= {f"[{host}]" if ":" in host else host.lower()}
        return cls(token, frozenset(names))

    @property
    def entrance(self) -> str:
        """The path of a link that lets its first user in."""
        return "/" if self.token is None else f"/enter?code={self._code}"

    def enter(self, code: str) -> str | None:
        """A session for who has the code of the link, which is then used up; None for others.

        It is signed with the token, so that a page started again with the same one knows it.
        """
        if self.token is None or not _same(code, self._code):
            return None
        self._code = secrets.token_urlsafe(24)
        if self.on_link_used is not None:
            self.on_link_used()
        begins = f"{time.time() + SESSION_S:.0f}-{secrets.token_hex(8)}"
        return f"{begins}-{self._signed(begins)}"

    def _signed(self, text: str) -> str:
        key = (self.token or "").encode()
        return hmac.new(key, f"headgate session {text}".encode(), "sha256").hexdigest()

    def _is_session(self, shown: str) -> bool:
        begins, _, signed = shown.rpartition("-")
        if not _same(signed, self._signed(begins)):
            return False
        return float(begins.partition("-")[0]) > time.time()

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Status and words for a request that is refused; None for one that is let in."""
        headers = {_text(name): _text(value) for name, value in scope["headers"]}
        name = _without_port(headers.get("host", "")).lower()
        if name not in self.hosts:
            return 400, "unknown host: give its name in hosts=, or with --hosts, to allow it\n"
        if scope["method"] not in ("GET", "HEAD"):
            return 405, "this page can only be read\n"
        if self.token is None or scope["path"] in OPEN or self._may_read(headers):
            return None
        if scope["path"] == "/enter" and parse_qs(_text(scope["query_string"])):
            return None
        return 401, "a token is needed: Authorization: Bearer TOKEN, or a one-time link\n"

    def _may_read(self, headers: Mapping[str, str]) -> bool:
        kind, _, shown = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and _same(shown.strip(), self.token or ""):
            return True
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return cookie is not None and self._is_session(cookie.value)


def _text(raw: bytes) -> str:
    return raw.decode("latin-1")


def _same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode(), known.encode())


def _without_port(host: str) -> str:
    """
    Examples
    --------
    >>> [_without_port(host) for host in ("localhost:4140", "[::1]:80", "[::1]", "example.org")]
    ['localhost', '[::1]', '[::1]', 'example.org']
    """
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


class Guarded:
    """An ASGI application behind a guard, with the headers of every answer."""

    def __init__(self, app: Any, guard: PageGuard) -> None:
        self._app, self._guard = app, guard

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] += [pair for pair in more if pair[0] not in given]
            await send(message)

        refused = self._guard.refusal(scope)
        if refused is None:
            await self._app(scope, receive, with_headers)
            return
        status, words = refused
        kind = [(b"content-type", b"text/plain; charset=utf-8")]
        await with_headers({"type": "http.response.start", "status": status, "headers": kind})
        await with_headers({"type": "http.response.body", "body": words.encode()})
