"""``headgate watch``: the page of a history, without a query."""

import os
from pathlib import Path

from rich.console import Console

from headgate.api.watch import TOKEN_VARIABLE
from headgate.watching.history import History
from headgate.watching.page_guard import PageGuard
from headgate.watching.page_server import PageServer


def run(folder: Path, host: str, port: int | None, hosts: list[str], console: Console) -> None:
    """Serve until interrupted; the token, if any, comes from the environment."""
    history = History(folder, read_only=True)
    guard = PageGuard.of(host, os.environ.get(TOKEN_VARIABLE) or None, hosts)
    server = PageServer(history, guard, host, port)

    def say() -> None:
        once = " (works once)" if guard.token is not None else ""
        console.print(f"{server.link}{once}", highlight=False, soft_wrap=True, markup=False)

    say()
    guard.on_link_used = say
    console.print("Ctrl-C ends the page; queries run on.", highlight=False)
    server.run()
