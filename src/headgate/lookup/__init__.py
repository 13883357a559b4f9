"""Joins a stream to a database table through a cache bounded in rows or bytes.

It runs on the window join's engine. Table rows are the left side, which is stored and never
expires; the stream is the right side, which is not stored. Each stream row is a *reference* to the
table row of its key, and is followed by that row's *supply*: the chance to cache it.

References
----------
The caching problem and its reduction to joining: Xie, Yang, Chen, "On Joining and Caching
Stochastic Streams", SIGMOD 2005, sections 3 and 3.1.
"""

from headgate.lookup.arrow_table import ArrowTable
from headgate.lookup.duckdb_table import DuckDbTable
from headgate.lookup.lookup_stats import LookupStats
from headgate.lookup.postgres_table import PostgresTable
from headgate.lookup.retry import Retry
from headgate.lookup.table import Table
from headgate.lookup.table_errors import TableError, TableUnreachable

__all__ = [
    "ArrowTable",
    "DuckDbTable",
    "LookupStats",
    "PostgresTable",
    "Retry",
    "Table",
    "TableError",
    "TableUnreachable",
]
