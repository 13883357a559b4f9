"""Errors of a table while a lookup runs."""


class TableError(RuntimeError):
    """A table could not answer, or a lookup cannot use its answer.

    Examples
    --------
    >>> import headgate as hg
    >>> import pyarrow as pa
    >>> twice = hg.ArrowTable(pa.table({"city": ["Rome", "Rome"], "people": [1, 2]}))
    >>> lookup = hg.CachedLookup(on="city", table=twice, budget=hg.Budget(rows=2))
    >>> try:
    ...     lookup.run(pa.table({"city": ["Rome"]}))
    ... except hg.TableError as error:
    ...     print(error)
    an Arrow table of 2 rows has more than one row with the key 'Rome': a lookup takes one row a \
key; add columns to the key, or look up in a view that has one
    """


class TableUnreachable(TableError):
    """A table could not be reached after all retries.

    Examples
    --------
    It is a `TableError`, so one handler can serve both:

    >>> issubclass(TableUnreachable, TableError)
    True
    """


class ConnectionLost(Exception):
    """One attempt failed, but a retry may succeed; the message holds no secret."""
