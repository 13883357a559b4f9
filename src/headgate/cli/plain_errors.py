"""Errors that the user can fix, as one line; bugs show a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console


@contextmanager
def plain_errors() -> Iterator[None]:
    """Print errors that the user can fix as one line; let bugs show a traceback."""
    from headgate.spec import SpecError
    from headgate.spec.extras import to_install

    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    try:
        yield
    except SpecError as error:
        errors.print(str(error), style="red", markup=False)
        raise typer.Exit(2) from None
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("headgate"):
            raise
        missing = f"{error.name.partition('.')[0]} is missing: {to_install(error.name)}"
        errors.print(missing, style="red", markup=False)
        raise typer.Exit(1) from None
    except RuntimeError as error:
        if type(error).__name__ != "NotReady":
            raise
        errors.print(str(error), style="red", markup=False)
        raise typer.Exit(1) from None
