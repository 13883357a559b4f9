"""One step of a lookup: takes cached rows and stream rows, returns result rows and the new cache.

Time is logical and counts arrivals: the n-th reference to a known key comes at time 2n, and its
supply, the table row, at 2n + 1. Rows with an unknown or null key take no time. One query fetches
all rows that are not cached before the step starts, so that a budget in bytes uses true sizes; the
kernel decides whether a row was still cached *when it was needed*.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from headgate.columns.key_codes import NULL, encode_together
from headgate.columns.plain_form import no_rows
from headgate.columns.row_sizes import row_bytes
from headgate.columns.row_source import PIECE_BYTES, RowSource, cuts, payload_bytes
from headgate.engine.shape import Shape
from headgate.engine.stats import Stats
from headgate.engine.table_rows import TableRows
from headgate.kernel.rows import Rows
from headgate.kernel.step import Step
from headgate.kernel.step_input import StepInput
from headgate.kernel.step_progress import StepProgress
from headgate.kernel.terms import Terms
from headgate.lookup.key_types import as_table_keys, comparable, compared_as
from headgate.lookup.lookup_request import How
from headgate.lookup.lookup_stats import LookupStats
from headgate.lookup.retry import retries_so_far
from headgate.lookup.table import Table
from headgate.lookup.table_errors import TableError
from headgate.policies import Policy

STORED, STREAM = 0, 1
"""The sides: table rows left, the stream right."""
UNKNOWN = -1


class LookupStep:
    """A completed step: read `results` and the other attributes.

    Parameters
    ----------
    terms
        Policy and limits.
    shape
        Columns of the table, the stream and the result.
    table, schema
        The table to fetch rows from that are not cached, and which columns.
    stored
        The cached rows.
    references
        The stream rows, in order of arrival.
    progress
        What the previous step left in `after`.
    how
        What to do with rows without a table row: drop ("inner"), or keep ("left").
    weigher
        Computes key weights, if the policy uses them and ``weight`` is not given.
    weight
        The policy's weight for the key of each stream row.
    """

    def __init__(
        self,
        terms: Terms,
        shape: Shape,
        table: Table,
        schema: pa.Schema,
        stored: TableRows,
        references: pa.Table,
        progress: StepProgress = StepProgress(),  # noqa: B008 - immutable
        how: How = "inner",
        weigher: Policy | None = None,
        weight: np.ndarray | None = None,
    ) -> None:
        self._shape, self._table, self._schema, self._how = shape, table, schema, how
        self._policy = terms.policy
        self._stored, self._references = stored, references
        cached = stored.only(stored.table)
        before = retries_so_far()
        codes, count = self._find_rows(cached)
        self._retries = retries_so_far() - before
        self._is_known = self._row_of_reference != UNKNOWN
        self._row_of_supply = self._row_of_reference[self._is_known]
        code = codes[STREAM][self._is_known]
        self._known = len(code)

        first = progress.seen[STREAM]
        number = first + np.arange(self._known)
        if weight is not None:
            weight = weight[self._is_known]
        elif self._policy.is_offline:
            weight = self._policy.reference_weights(code, terms.most_rows[0])
        elif weigher is not None and weigher.weighs_keys and self._known:
            keys = references.filter(pa.array(self._is_known))
            weight = weigher.weigh(shape.key_columns(keys, STREAM), STORED)
        self._weight = np.zeros(self._known) if weight is None else weight
        size = row_bytes(self._rows)[self._row_of_supply]
        nothing = np.zeros(self._known, np.int64)
        self._supplies = Rows.of_arrivals(2 * number + 1, code, size, self._weight)
        reads = Rows.of_arrivals(2 * number, code, nothing, self._weight)
        self._step = Step(
            StepInput(
                terms,
                (stored.coded(codes[STORED], np.empty(0)), Rows.empty()),
                (self._supplies, reads),
                count,
                progress,
            )
        )
        for _ in self._step.pairs():
            pass  # a pair is a hit; results are built from the rows, cached or fetched

    def _find_rows(self, cached: pa.Table) -> tuple[list[np.ndarray], int]:
        """Position of each reference's row among cached, then fetched rows; and the key codes."""
        keys = self._shape.keys
        types = [
            compared_as(self._references.schema.field(mine).type, self._schema.field(theirs).type)
            for theirs, mine in zip(keys.left, keys.right, strict=True)
        ]
        mine = comparable(cached, keys.left, types)
        theirs = comparable(self._references, keys.right, types)
        codes, count = encode_together([mine.columns, theirs.columns])
        row_of_code = np.full(count + 1, UNKNOWN, np.int64)  # the last is that of null
        row_of_code[codes[STORED]] = np.arange(cached.num_rows)
        seen, where = np.unique(codes[STREAM], return_index=True)
        is_needed = (seen != NULL) & (row_of_code[seen] == UNKNOWN)
        needed, where = seen[is_needed], where[is_needed]
        asked, which = as_table_keys(
            theirs.take(pa.array(where)),
            pa.schema([self._schema.field(name) for name in keys.left]),
        )
        needed = needed[which]
        fetched = no_rows(self._schema)
        if asked.num_rows:
            fetched = self._table.fetch(asked, self._schema)
            row_of_code[needed[self._check(asked, fetched)]] = cached.num_rows + np.arange(
                fetched.num_rows
            )
        self._asked, self._fetched = asked.num_rows, fetched.num_rows
        self._null_keys = int(np.count_nonzero(codes[STREAM] == NULL))
        self._rows = pa.concat_tables([cached, fetched])
        self._row_of_reference = row_of_code[codes[STREAM]]
        return codes, count

    def _check(self, asked: pa.Table, fetched: pa.Table) -> np.ndarray:
        """Match each fetched row to the key it answers; raise if a key has several rows."""
        answers = fetched.select(asked.column_names)
        codes, count = encode_together([asked.columns, answers.columns])
        place = np.full(count + 1, UNKNOWN, np.int64)
        place[codes[0]] = np.arange(asked.num_rows)
        place[NULL] = UNKNOWN
        found: np.ndarray = place[codes[1]]
        odd = np.flatnonzero(found == UNKNOWN)
        if len(odd):
            raise TableError(
                f"{self._table.name} answered with the key {_key(answers, odd[0])}, which was not "
                f"asked for: its idea of equal keys is not equality by value (a collation or type "
                f"that ignores case or padding?); make them alike on both sides"
            )
        order = np.argsort(found, kind="stable")
        again = np.flatnonzero(np.diff(found[order]) == 0)
        if len(again):
            raise TableError(
                f"{self._table.name} has more than one row with the key "
                f"{_key(answers, order[again[0]])}: a lookup takes one row a key; add columns to "
                f"the key, or look up in a view that has one"
            )
        return found

    def results(self, most_bytes: int = PIECE_BYTES) -> Iterator[pa.Table]:
        """The result rows, in stream order, in pieces of limited size in bytes."""
        shown = np.arange(self._references.num_rows)
        if self._how == "inner":
            shown = np.flatnonzero(self._is_known)
        found, place = RowSource(self._rows), self._row_of_reference[shown]
        sizes = payload_bytes(self._references)[shown]
        if found.sizes.size:
            sizes = sizes + np.where(place == UNKNOWN, 0, found.sizes[place])
        references = RowSource(self._references)
        schema = result_schema(self._shape, self._schema, self._references.schema)
        for part in cuts(sizes, most_bytes):
            taken = (found.take(place[part]), references.take(shown[part]))
            columns = [taken[side].column(name) for _, side, name in self._shape.output]
            yield pa.table(columns, schema=schema)

    @property
    def lookup_stats(self) -> LookupStats:
        """Counts of this step."""
        rows = self._references.num_rows
        return LookupStats.of_counts(
            self._step.counts,
            self._known,
            (self._step.stored_rows, self._step.stored_bytes),
            rows=rows,
            unknown=rows - self._known - self._null_keys,
            null_keys=self._null_keys,
            asked=self._asked,
            fetched=self._fetched,
            queries=int(self._asked > 0),
            retries=self._retries,
        )

    @property
    def stats(self) -> Stats:
        """The same counts in the form of a join's stats."""
        return Stats.of_step(self._step, self._known, self._known)

    @property
    def after(self) -> StepProgress:
        """The progress to pass to the next step."""
        return self._step.after

    @property
    def keeps_history(self) -> bool:
        """Whether the policy scores rows by their history."""
        return self._policy.keeps_history

    def alive(self, side: int) -> np.ndarray:
        """For each stored row of a side, then each arrival: whether it is stored now."""
        return self._step.alive(side)

    def kept_arrivals(self, side: int) -> TableRows:
        """The arrivals of a side that are stored now."""
        if side == STREAM:
            return TableRows.nothing(self._references.schema)
        before = len(self._stored.place)
        kept = self.alive(STORED)[before:]
        time = self._supplies.time[kept]
        rows = RowSource(self._rows).take_all(self._row_of_supply[kept])
        supplied = TableRows.arriving(rows, time, self._weight[kept])
        sequence = self._step.sequences(STORED)[before:][kept]
        return replace(supplied, rows=supplied.rows._replace(sequence=sequence))

    def kept_fates(self, side: int) -> np.ndarray:
        """Nothing is known of partners: a lookup has none."""
        return self.survivors(side).rows.fates

    def survivors(self, side: int) -> TableRows:
        """The rows of a side that are stored now, with their history up to now."""
        arrivals = self.kept_arrivals(side)
        if side == STREAM:
            return arrivals
        alive = self.alive(STORED)
        rows = self._stored.where(alive[: len(self._stored.place)]).followed_by(arrivals)
        if self.keeps_history:
            matches, touched = self._step.histories(STORED)
            history = rows.rows._replace(matches=matches[alive], touched=touched[alive])
            rows = replace(rows, rows=history)
        return rows


def result_schema(shape: Shape, table: pa.Schema, stream: pa.Schema) -> pa.Schema:
    """The result's schema."""
    return shape.schema(table, stream)


def _key(keys: pa.Table, place: int) -> str:
    values = [repr(column[int(place)].as_py()) for column in keys.columns]
    return values[0] if len(values) == 1 else f"({', '.join(values)})"
