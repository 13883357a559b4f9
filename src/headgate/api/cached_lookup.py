"""CachedLookup: the public class that joins a stream to a table through a bounded cache."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from headgate.columns.plain_form import no_rows
from headgate.columns.row_source import CHUNK_BYTES
from headgate.engine.inputs import as_arrow
from headgate.engine.table_rows import TableRows
from headgate.kernel.step_progress import StepProgress
from headgate.lookup.lookup_request import How, LookupRequest, chosen_policy, wanted_columns
from headgate.lookup.lookup_stats import LookupStats
from headgate.lookup.lookup_step import LookupStep
from headgate.lookup.table import Table
from headgate.models import Frequencies
from headgate.policies import Policy
from headgate.spec import Budget, Keys, SpecError

if TYPE_CHECKING:
    import pandas as pd

    from headgate.spark import DataFrame

Columns = str | Sequence[str]
ROWS_AT_ONCE = 100_000


class LookupOutcome:
    """The result of an in-process lookup.

    Attributes
    ----------
    rows
        The result rows in the order of the stream, an Arrow table.
    stats
        A `LookupStats`: hits, misses, queries and other counts.

    Examples
    --------
    >>> import headgate as hg
    >>> import pyarrow as pa
    >>> prices = hg.ArrowTable(pa.table({"item": ["tea", "rice"], "price": [3, 2]}))
    >>> lookup = hg.CachedLookup(on="item", table=prices, budget=hg.Budget(rows=2))
    >>> outcome = lookup.run(pa.table({"item": ["rice", "tea", "rice"]}))
    >>> outcome.rows.column("price").to_pylist(), outcome.stats.hits
    ([2, 3, 2], 1)
    """

    def __init__(self, rows: pa.Table, stats: LookupStats) -> None:
        self.rows = rows
        self.stats = stats

    def __repr__(self) -> str:
        return (
            f"LookupOutcome({self.rows.num_rows:,} rows, {self.stats.hits:,} hits and "
            f"{self.stats.misses:,} misses, {self.stats.queries:,} queries, "
            f"peak {self.stats.peak_rows:,} rows)"
        )


@dataclass(frozen=True, init=False)
class CachedLookup(LookupRequest):
    """A join of a stream to a table in a database, through a cache of bounded rows or bytes.

    The result is exact, whatever the budget: table rows that are not cached are fetched, with one
    query for all the misses of a batch. The budget and the policy decide how many rows miss. A
    cached row is not fetched again until it is evicted, so the table should not change, or stale
    rows must be acceptable.

    Parameters
    ----------
    table
        A `DuckDbTable`, a `PostgresTable`, a `SparkTable`, or an `ArrowTable`; one row a key.
    budget
        How much may be cached, over all shards. The rows that a batch fetches take memory on top
        of it while the batch is processed.
    on, stream_on, table_on
        Key columns: ``on`` where both use the same names, otherwise the other two.
    policy
        Which rows to keep when the cache is full: "lru", "lfu", "fifo", "random", "prob" (with
        ``frequencies``), "lfd" (only in `run`: it must know the whole stream), or a policy object.
    columns
        The table columns to fetch and cache; all by default.
    how
        What to do with stream rows whose key is null or not in the table: drop them ("inner"), or
        keep them with nulls ("left").
    frequencies
        How often each key comes in the stream (the right side of the model), for "prob".
    suffix
        Appended to a table column whose name also occurs in the stream, ignoring case; key columns
        of the same name appear once.
    seed
        Random seed of the policy "random".

    Examples
    --------
    >>> import headgate as hg
    >>> import pyarrow as pa
    >>> levels = pa.table({"temperature": [10, 11, 12], "energy": [7.5, 7.25, 6.0]})
    >>> lookup = hg.CachedLookup(
    ...     on="temperature",
    ...     table=hg.ArrowTable(levels),
    ...     budget=hg.Budget(rows=2),
    ...     policy="lru",
    ... )
    >>> days = pa.table({"day": [1, 2, 3, 4], "temperature": [10, 11, 10, 99]})
    >>> outcome = lookup.run(days)
    >>> outcome
    LookupOutcome(3 rows, 1 hits and 2 misses, 1 queries, peak 2 rows)
    >>> outcome.rows.column("energy").to_pylist(), outcome.stats.unknown
    ([7.5, 7.25, 7.5], 1)

    References
    ----------
    The caching problem of Xie, Yang, Chen, "On Joining and Caching Stochastic Streams", SIGMOD
    2005, section 3.
    """

    def __init__(
        self,
        *,
        table: Table,
        budget: Budget,
        on: Columns | None = None,
        stream_on: Columns | None = None,
        table_on: Columns | None = None,
        policy: str | Policy = "lru",
        columns: Sequence[str] | None = None,
        how: How = "inner",
        frequencies: Frequencies | None = None,
        suffix: str = "_table",
        seed: int = 0,
    ) -> None:
        if not isinstance(table, Table):
            raise SpecError(
                f"table={table!r} is not accepted: give hg.DuckDbTable(...), "
                f"hg.PostgresTable(...), hg.SparkTable(...) or hg.ArrowTable(...)"
            )
        _check_budget(budget)
        if how not in ("inner", "left"):
            raise SpecError(f'how={how!r} is not accepted: give "inner" or "left"')
        if not isinstance(seed, int) or isinstance(seed, bool):
            raise SpecError(f"seed={seed!r} is not accepted: give a whole number")
        chosen = chosen_policy(policy, frequencies, seed)
        if chosen.is_offline and (budget.rows is None or budget.memory is not None):
            raise SpecError(
                f"policy {chosen.label} plans with rows of equal size: give Budget(rows=...) alone"
            )
        keys = _keys(on, stream_on, table_on)
        super().__init__(
            keys=keys,
            table=table,
            schema=wanted_columns(table.schema(), keys, columns, table.name),
            budget=budget,
            policy=chosen,
            how=how,
            suffix=suffix,
        )
        table.check_keys(keys.left)
        self.terms()  # raises where the budget is too small

    def run(
        self, stream: "pa.Table | pd.DataFrame", *, batch_rows: int = ROWS_AT_ONCE
    ) -> LookupOutcome:
        """Look up the rows of a bounded table in process, in the order given.

        Parameters
        ----------
        stream
            An Arrow table or a pandas frame.
        batch_rows
            Rows per query. Hits and misses do not depend on it.
        """
        if not isinstance(batch_rows, int) or isinstance(batch_rows, bool) or batch_rows < 1:
            raise SpecError(f"batch_rows={batch_rows!r}: give a whole number of rows, one or more")
        given = as_arrow(stream, "stream", "run", " (a streaming Spark DataFrame goes to stream)")
        shape, terms = self.shape(given.schema), self.terms()
        # An offline policy must know the whole stream, and which of its keys are in the table.
        size = max(given.num_rows, 1) if self.policy.is_offline else batch_rows
        stored, progress, stats = TableRows.nothing(self.schema), StepProgress(), LookupStats()
        results = [no_rows(shape.schema(self.schema, given.schema))]
        try:
            for first in range(0, given.num_rows, size):
                step = LookupStep(
                    terms=terms,
                    shape=shape,
                    table=self.table,
                    schema=self.schema,
                    stored=stored,
                    references=given.slice(first, size),
                    progress=progress,
                    how=self.how,
                    weigher=self.policy,
                )
                results.extend(step.results(CHUNK_BYTES))
                stored, progress = step.survivors(0).compact(), step.after
                stats = stats.then(step.lookup_stats)
        finally:
            self.table.close()
        return LookupOutcome(pa.concat_tables(results), stats)

    def stream(
        self, stream: "DataFrame", *, shards: int | None = None, name: str = "headgate"
    ) -> "DataFrame":
        """Look up the rows of a streaming DataFrame: another streaming DataFrame.

        `progress` shows the metrics of every batch.

        Parameters
        ----------
        stream
            A streaming DataFrame. It needs no watermark; if it has one, the result has it too.
        shards
            The number of independent caches that keys are hashed to, each with its part of the
            budget; one per core by default. Each makes its own query.
        name
            The name of the metrics; each join and lookup in a query needs its own.
        """
        from headgate.spark.lookup.lookup_stream import stream as on_spark

        return on_spark(self, stream, shards, name)


def _keys(on: Any, stream_on: Any, table_on: Any) -> Keys:
    if on is None and (stream_on is None or table_on is None):
        raise SpecError("a lookup needs keys: give on=, or both stream_on= and table_on=")
    if on is not None and (stream_on is not None or table_on is not None):
        raise SpecError("give either on= or stream_on= and table_on=, not both")
    return Keys.parse(on, table_on, stream_on)


def _check_budget(budget: Any) -> None:
    if not isinstance(budget, Budget):
        raise SpecError(f"budget={budget!r} is not accepted: give a Budget")
    if budget.cpu is not None:
        raise SpecError(
            f"cpu={budget.cpu!r} is not accepted for a lookup, which leaves no row out: give rows= "
            f"or memory="
        )
    if budget.shares is not None or budget.monitor:
        raise SpecError(
            "a lookup stores table rows alone, and monitors nothing: leave split= and monitor= "
            "out of its budget"
        )
