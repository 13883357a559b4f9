"""A stream against a table in a database, through a cache of bounded rows or bytes.

The engine of the window join serves it. Table rows are the left side, which is stored and never
expires; the stream is the right side, which waits for nobody. Each stream row is a *reference* to
the table row of its key, and right after it comes that row's *supply*: the chance to store it.

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
