"""The rows of two streams as numbers, all of them or a miniature: what joins are tried on."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from headgate.columns.codes import NULL
from headgate.columns.hashing import hash_keys
from headgate.columns.sizes import row_bytes
from headgate.columns.times import is_event_time
from headgate.engine.batch import Batch, Terms
from headgate.engine.held import coded, key_bytes, screen
from headgate.engine.importance import Definitions
from headgate.engine.inputs import as_arrow
from headgate.engine.relation import Relation
from headgate.engine.replay import Replay
from headgate.engine.request import Request
from headgate.engine.shape import Shape, check_types
from headgate.engine.stats import Stats
from headgate.simulating.draw import EVERY_ROW, STORED, Draw, count_by_hash, draw_rows
from headgate.simulating.tally import Tally
from headgate.spec import MaxImportance, RowWindow, Sample, SpecError, TimeWindow, Window

TAKES = "a trace takes Arrow tables or pandas frames"
NO_RESULT = " of the right side"
"""A trace has no result columns, so names that both sides have must not get in the way."""


class Whole(NamedTuple):
    """What there was of each side before any row was left out."""

    rows: tuple[int, int]
    bytes: tuple[int, int]


class Scale(NamedTuple):
    """How much of what could be stored is in a trace."""

    rows: float
    bytes: float


@dataclass(frozen=True, eq=False)
class Trace:
    """Rows of both sides as the kernel wants them, made for one join.

    Attributes
    ----------
    rows
        Of each side; importance is that of the join's goal.
    codes
        How many different key codes there are.
    tables
        The same rows with all their columns.
    whole
        What there was before keys were drawn.
    draw
        Which rows were taken.
    hashes
        Of the key behind each code.

    Examples
    --------
    >>> import headgate as hg
    >>> times = pa.array([1_000_000, 2_000_000]).cast(pa.timestamp("us"))
    >>> left = right = pa.table({"key": [1, 2], "at": times})
    >>> side = hg.Side(time="at", window="5 seconds")
    >>> join = hg.WindowJoin(on="key", left=side, right=side, budget=hg.Budget(rows=10))
    >>> trace = Trace.of_tables(join, left, right)
    >>> trace.met.total, trace.needs.peak_rows
    (2.0, 4)
    """

    request: Request
    rows: tuple[Batch, Batch]
    codes: int
    tables: tuple[pa.Table, pa.Table]
    shape: Shape
    relation: Relation | None
    whole: Whole
    draw: Draw
    hashes: np.ndarray

    @classmethod
    def of_tables(
        cls,
        request: Request,
        left: Any,
        right: Any,
        share: float = 1.0,
        most_rows: int | None = None,
        seed: int = 0,
    ) -> "Trace":
        """A trace of two tables.

        Parameters
        ----------
        request
            The join that is to be tried; its budget and policy do not matter.
        left, right
            Arrow tables or pandas frames, in any row order.
        share
            The share of the keys that are drawn; all of them unless given.
        most_rows
            Instead of a share: as many keys as have about so many rows.
        seed
            Another seed draws other keys.
        """
        _check(request, share, most_rows)
        tables = (as_arrow(left, "left", TAKES), as_arrow(right, "right", TAKES))
        shape = shape_of(request, tables)
        whole = Whole(
            (tables[0].num_rows, tables[1].num_rows),
            (int(row_bytes(tables[0]).sum()), int(row_bytes(tables[1]).sum())),
        )
        if most_rows is not None:
            share = min(1.0, most_rows / max(sum(whole.rows), 1))
        if share >= 1.0:
            return cls._of_rows(request, tables, shape, whole, EVERY_ROW)
        told = [_hashed(shape, table, side) for side, table in enumerate(tables)]
        counts = np.stack([count_by_hash(*side) for side in told])
        draw = draw_rows(counts, share, stores(request), seed)
        done = [draw.taken(*side, which) for which, side in enumerate(told)]
        kept = [np.flatnonzero(side) for side in done]
        drawn = tuple(
            table.take(pa.array(numbers)) for table, numbers in zip(tables, kept, strict=True)
        )
        stored = [side[numbers] == STORED for side, numbers in zip(done, kept, strict=True)]
        return cls._of_rows(request, (drawn[0], drawn[1]), shape, whole, draw, stored)

    @classmethod
    def of_sample(
        cls,
        request: Request,
        tables: tuple[pa.Table, pa.Table],
        stored: tuple[np.ndarray, np.ndarray],
        whole: Whole,
        draw: Draw,
    ) -> "Trace":
        """A trace of rows that were drawn elsewhere, with those that are stored marked."""
        shape = shape_of(request, tables)
        return cls._of_rows(request, tables, shape, whole, draw, list(stored))

    @classmethod
    def _of_rows(
        cls,
        request: Request,
        tables: tuple[pa.Table, pa.Table],
        shape: Shape,
        whole: Whole,
        draw: Draw,
        stored: "list[np.ndarray] | None" = None,
    ) -> "Trace":
        definitions = None
        if isinstance(request.goal, MaxImportance):
            definitions = Definitions.of(request.goal)
            definitions.check((tables[0].schema, tables[1].schema))
        held = [screen(table, shape.times[side]).rows for side, table in enumerate(tables)]
        batches, codes = coded(shape, held, definitions)
        if stored is not None:
            batches = [
                batch._replace(effort=np.stack([np.ones(len(own.place)), flags[own.place] * 1.0]))
                for batch, own, flags in zip(batches, held, stored, strict=True)
            ]
        tables = (held[0].only(tables[0]), held[1].only(tables[1]))
        hashes = np.zeros(codes, np.uint64)
        if not draw.is_whole:
            for side, (batch, table) in enumerate(zip(batches, tables, strict=True)):
                known = batch.code != NULL
                hashes[batch.code[known]] = _hashed(shape, table, side)[0][known]
        return cls(
            request,
            (batches[0], batches[1]),
            codes,
            tables,
            shape,
            shape.relation,
            whole,
            draw,
            hashes,
        )

    @property
    def is_whole(self) -> bool:
        """Whether every row is there, so that what it tells is exact."""
        return self.draw.is_whole

    @property
    def count(self) -> int:
        """Rows of both sides in the trace."""
        return len(self.rows[0].time) + len(self.rows[1].time)

    @cached_property
    def scale(self) -> Scale:
        """How much of what could be stored is here: budgets are scaled by that.

        Not the share that was asked for: how many rows the drawn keys have is a matter of luck.
        """
        if self.is_whole:
            return Scale(1.0, 1.0)
        sides = [side for side in (0, 1) if self.request.windows[side].span]
        rows = held = 0.0
        for side in sides:
            batch = self.rows[side]
            is_stored = np.ones(len(batch.time)) if batch.effort is None else batch.effort[1]
            rows += float(is_stored.sum())
            held += float((is_stored * batch.size).sum())
        return Scale(
            rows / max(sum(self.whole.rows[side] for side in sides), 1),
            held / max(sum(self.whole.bytes[side] for side in sides), 1),
        )

    @cached_property
    def windows(self) -> tuple[Window, Window]:
        """The windows in the trace: of rows, there are fewer."""
        return self._window(0), self._window(1)

    def _window(self, side: int) -> Window:
        window = self.request.windows[side]
        if self.is_whole or isinstance(window, TimeWindow) or not window.span:
            return window
        part = len(self.rows[side].time) / max(self.whole.rows[side], 1)
        return RowWindow(max(round(window.span * part), 1))

    @cached_property
    def is_thinned(self) -> np.ndarray:
        """By code: whether only some of the key's rows are here."""
        return self.draw.is_heavy(self.hashes)

    @cached_property
    def stands_for(self) -> np.ndarray:
        """By side and code: how many rows that look for partners each row of the trace stands for.

        Of the drawn keys one each: that they stand for other keys is another matter.
        """
        return np.stack([1.0 / self.draw.looking_of(self.hashes, side) for side in (0, 1)])

    @cached_property
    def key_bytes(self) -> int:
        """The most that a key takes."""
        return key_bytes(self.shape, self.tables)

    @cached_property
    def _exact(self) -> tuple[Tally, Stats]:
        terms = Terms(
            self.windows,
            self.request.policy,
            where=self.relation,
            indexes=None,
        ).exact()
        replay = Replay(self.request.weighed(terms), *self.rows, self.codes)
        tally = Tally.of(self)
        for block in replay.pairs():
            tally.add(block)
        return tally, replay.stats

    @property
    def met(self) -> Tally:
        """The pairs of the exact join."""
        return self._exact[0]

    @property
    def needs(self) -> Stats:
        """What the exact join stores of the trace."""
        return self._exact[1]


def stores(request: Request) -> tuple[bool, bool]:
    """Whether rows of each side are stored at all: not where they wait for nobody."""
    left, right = request.windows
    return left.span > 0, right.span > 0 or not left.span


def shape_of(request: Request, tables: tuple[pa.Table, pa.Table]) -> Shape:
    """Which columns are what, checked."""
    names = (tables[0].column_names, tables[1].column_names)
    shape = Shape.of(request.keys, request.sides, names, NO_RESULT, request.where)
    types = [dict(zip(table.column_names, table.schema.types, strict=True)) for table in tables]
    check_types(request.keys, shape.times, (types[0], types[1]))
    for which, time, known in zip(("left", "right"), shape.times, types, strict=True):
        if not is_event_time(known[time]):
            raise SpecError(
                f'time column "{time}" of the {which} side is {known[time]}: '
                f"give a timestamp column (cast it first)"
            )
    return shape.under(request.where, (tables[0].schema, tables[1].schema))


def _hashed(shape: Shape, table: pa.Table, side: int) -> tuple[np.ndarray, np.ndarray]:
    """The hash of each row's key, and whether it has one; without keys all rows are alike."""
    if not shape.keys.left:
        return np.zeros(table.num_rows, np.uint64), np.ones(table.num_rows, np.bool_)
    return hash_keys(shape.key_columns(table, side))


def _check(request: Request, share: float, most_rows: int | None) -> None:
    if isinstance(request.goal, Sample):
        raise SpecError(
            f"the goal is {request.goal!r}, and of a sample there is no recall to tell: give "
            f"hg.MaxSubset() or hg.MaxImportance(...)"
        )
    if not 0 < share <= 1:
        raise SpecError(f"share={share!r}: give the share of the keys, above 0 and at most 1")
    if most_rows is not None and most_rows < 1:
        raise SpecError(f"most_rows={most_rows!r}: give a whole number, one or more")
