"""Commands whose help shows flags as flags, and values in plain words."""

from typing import Any

from typer.core import TyperCommand, TyperGroup, TyperOption


def _in_plain_words(params: list[Any], ctx: Any) -> list[Any]:
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
        elif isinstance(param, TyperOption) and param.metavar is None:
            kind = str(getattr(param, "display_type", lambda _: "")(ctx))
            known = (("int", "<number>"), ("float", "<number>"), ("path", "<path>"))
            param.metavar = next((word for name, word in known if name in kind), "<text>")
    return params


class PlainCommand(TyperCommand):
    """A command with plain help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options, each with a plain word for its value, and none for a flag."""
        return _in_plain_words(super().get_params(ctx), ctx)


class PlainGroup(TyperGroup):
    """The same for all commands together."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options, each with a plain word for its value, and none for a flag."""
        return _in_plain_words(super().get_params(ctx), ctx)
