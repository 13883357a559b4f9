"""`watch`: a live page of a session's queries."""

import os
from collections.abc import Iterable
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgate.spec import SpecError
from headgate.spec.extras import EXTRAS, to_install

if TYPE_CHECKING:
    from headgate.watching.page_server import PageServer
    from headgate.watching.recorder import Recorder

FOLDER = "out/watch"
TOKEN_VARIABLE = "HEADGATE_WATCH_TOKEN"
LOOPBACK = "127.0.0.1"


class Watch:
    """A page that shows queries as they run; end it with `stop`, or use it in a ``with`` block.

    Attributes
    ----------
    link
        A link to the page. If the page requires a token, the link works once; read it again for a
        new one.
    folder
        Where the history is.

    Examples
    --------
    >>> def watched(spark, query):
    ...     with hg.watch(spark) as watch:
    ...         print(watch.link)
    ...         query.awaitTermination()
    """

    def __init__(
        self, recorder: "Recorder", unlisten: Any, server: "PageServer", folder: Path
    ) -> None:
        self._recorder, self._unlisten, self._server = recorder, unlisten, server
        self.folder = folder

    @property
    def link(self) -> str:
        """A link to the page."""
        return self._server.link

    @property
    def address(self) -> str:
        """Where the page is."""
        return self._server.address

    def stop(self) -> None:
        """Stop the page and write what was reported so far; queries continue."""
        self._server.stop()
        try:
            self._unlisten()
        finally:
            self._recorder.stop()

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"Watch({self.address}, history in {self.folder})"

    def _repr_html_(self) -> str:
        link = escape(self.link, quote=True)
        return f'<a href="{link}" target="_blank">{escape(self.address)}</a>'


def watch(
    session: Any,
    *,
    folder: "str | os.PathLike[str]" = FOLDER,
    host: str = LOOPBACK,
    port: int | None = None,
    token: str | None = None,
    hosts: Iterable[str] = (),
    telemetry: bool = False,
) -> Watch:
    """Show a session's joins and lookups on a live page, from now on.

    The page is served by this process and shows recall, memory, rates, losses, shards and what more
    memory would bring, as every batch reports them. Nothing that happens to it disturbs a query.
    Its history is a file of bounded size: a page or query that starts again goes on with it, and
    ``headgate watch FOLDER`` shows it without a query.

    Parameters
    ----------
    session
        A Spark session, classic or Connect.
    folder
        Where the history is kept.
    host, port
        Where the page is: on this machine alone unless told otherwise, on the first free port
        from 4140 on.
    token
        What readers from elsewhere must show (``Authorization: Bearer``); by default what the
        environment variable HEADGATE_WATCH_TOKEN holds, or one that is made. On this machine alone
        none is asked for unless given.
    hosts
        Further names under which browsers reach the page.
    telemetry
        Offer the same figures to OpenTelemetry, too, through the program's own meter provider.

    Examples
    --------
    >>> def watched(spark, joined):
    ...     print(hg.watch(spark).link)
    ...     return joined.writeStream.format("noop").start()
    """
    needed = (*EXTRAS["watch"], *(EXTRAS["telemetry"] if telemetry else ()))
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise SpecError(f"the page needs {missing[0]}, which is missing: {to_install(missing[0])}")
    from headgate.spark.report_listener import listen
    from headgate.watching.history import History
    from headgate.watching.page_guard import PageGuard
    from headgate.watching.page_server import PageServer
    from headgate.watching.recorder import Recorder

    place = Path(folder)
    guard = PageGuard.of(host, token or os.environ.get(TOKEN_VARIABLE) or None, hosts)
    history = History(place)
    if telemetry:
        from headgate.watching.telemetry import Telemetry

        Telemetry(history)
    server = PageServer(history, guard, host, port)
    recorder = Recorder(history)
    unlisten = listen(session, recorder.hear)
    server.start()
    return Watch(recorder, unlisten, server, place)
