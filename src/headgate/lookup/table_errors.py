"""What can go wrong with a table while a lookup runs."""


class TableError(RuntimeError):
    """A table could not answer, or its answer is not one a lookup can use."""


class TableUnreachable(TableError):
    """A table could not be reached, however often it was tried."""


class ConnectionLost(Exception):
    """One attempt failed in a way that another may not; the message holds no secret."""
