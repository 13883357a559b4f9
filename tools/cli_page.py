"""Generates docs/reference/cli.md from the help of the `headgate` command itself."""

import re
from collections.abc import Iterator
from typing import Any

import typer

from headgate.cli.main import app

INTRODUCTION = """\
# Command line

After this page you know every command of `headgate` and its options. Written by `make docs` from
the commands' own help; `headgate COMMAND --help` prints the same.
"""


def page() -> str:
    """The page as Markdown."""
    group: Any = typer.main.get_command(app)
    context = typer.Context(group, info_name="headgate")
    parts = [INTRODUCTION]
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        parts += described(name, command, typer.Context(command, context, info_name=name))
    return "\n".join(parts).rstrip() + "\n"


def described(name: str, command: Any, context: Any) -> Iterator[str]:
    """A command: what it does, its arguments and options, examples."""
    yield f"## headgate {name}\n"
    yield f"{plain(command.help or '')}\n"
    params = [param for param in command.get_params(context) if param.name != "help"]
    if params:
        yield "| | | default |\n|---|---|---|"
        yield from (row(param, context) for param in params)
        yield ""
    if command.epilog:
        lines = [line.strip() for line in command.epilog.splitlines() if line.strip()]
        examples = [line for line in lines if line.startswith("headgate ")]
        if examples:
            yield "```sh\n" + "\n".join(examples) + "\n```\n"


def row(param: Any, context: Any) -> str:
    """One argument or option."""
    names = ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))
    value = (param.metavar or "").strip() if param.param_type_name == "option" else ""
    shown = "" if param.default in (None, "", False, ()) else f"`{param.default}`"
    said = plain(getattr(param, "help", None) or "").replace("|", "\\|")
    return f"| {names}{' ' + escaped(value) if value else ''} | {said} | {shown} |"


def plain(text: str) -> str:
    """Help without the marks that end paragraphs."""
    return re.sub(r"\s+", " ", text.replace("\b", "")).strip()


def escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace(">", "&gt;")


if __name__ == "__main__":
    print(page(), end="")
