"""Errors of a table while a lookup runs."""


class TableError(RuntimeError):
    """A table could not answer, or a lookup cannot use its answer."""


class TableUnreachable(TableError):
    """A table could not be reached after all retries."""


class ConnectionLost(Exception):
    """One attempt failed, but a retry may succeed; the message holds no secret."""
