"""Trace: the rows of two streams as arrays, complete or a miniature, to run joins on."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from headgate.columns.key_codes import NULL
from headgate.columns.times import microseconds
from headgate.engine.inputs import as_arrow
from headgate.engine.key_columns import hashes_by_code, key_bytes
from headgate.engine.replay import Replay
from headgate.engine.request import Request
from headgate.engine.shape import Shape
from headgate.engine.stats import Stats
from headgate.engine.table_coding import coded
from headgate.engine.table_rows import screen
from headgate.kernel.relation import Relation
from headgate.kernel.rows import Rows
from headgate.kernel.terms import Terms
from headgate.spec import RowWindow, Sample, SpecError, TimeWindow, Window
from headgate.trials.draw import Draw, count_by_hash, draw_rows
from headgate.trials.local_share import LocalShare, Scale
from headgate.trials.sampled_trace import (
    SampledTrace,
    WholeTrace,
    bound_to,
    drawn_rows,
    hashed,
    stored_times,
    stores,
    stretches_of,
)
from headgate.trials.stretch_tally import StretchTally
from headgate.trials.stretches import Stretches

EVERY_PAIR = np.empty(0, np.uint8)


@dataclass(frozen=True, eq=False)
class Trace:
    """Rows of both sides in the kernel's form, built for one join.

    Attributes
    ----------
    rows
        Rows of each side; importance is that of the join's goal.
    codes
        How many different key codes there are.
    tables
        The same rows with all their columns.
    whole
        Totals before sampling.
    within
        Totals within the time stretches that were examined.
    draw
        Which rows were taken.
    hashes
        Hash of the key behind each code.
    counts
        For each row of a side, whether the pairs that it finds count; empty where all do.
    stretches
        The time stretches examined; None for all of it.

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
    rows: tuple[Rows, Rows]
    codes: int
    tables: tuple[pa.Table, pa.Table]
    shape: Shape
    relation: Relation | None
    whole: WholeTrace
    within: WholeTrace
    draw: Draw
    hashes: np.ndarray
    counts: tuple[np.ndarray, np.ndarray] = (EVERY_PAIR, EVERY_PAIR)
    stretches: Stretches | None = None
    local: LocalShare | None = None
    """The share of the windows in the trace over time; None where it is not known."""

    @classmethod
    def of_tables(
        cls,
        request: Request,
        left: Any,
        right: Any,
        share: float = 1.0,
        most_rows: int | None = None,
        seed: int = 0,
        by_time: bool = False,
        evenly: bool = False,
        stretches: Stretches | None = None,
    ) -> "Trace":
        """A trace of two tables.

        Parameters
        ----------
        request
            The join to run; its budget and policy do not matter.
        left, right
            Arrow tables or pandas frames, in any row order.
        share
            The share of the rows to sample; all of them unless given.
        most_rows
            Instead of a share: about so many rows.
        seed
            Another seed draws other keys.
        by_time
            Whether to sample time stretches with all keys, as far as possible, rather than a few
            keys over all the time; see `stretches.py`.
        evenly
            Whether every row of a heavy key is stored, so that none only probes.
        stretches
            The time stretches to use, where already chosen.
        """
        tables = request.needed_columns(
            (as_arrow(left, "left", "a trace"), as_arrow(right, "right", "a trace"))
        )
        shape = bound_to(request, tables).shape
        whole = WholeTrace.of(tables)
        if most_rows is not None:
            if most_rows < 1:
                raise SpecError(f"most_rows={most_rows!r}: give a whole number, one or more")
            share = min(1.0, most_rows / max(sum(whole.rows), 1))
        if not 0 < share <= 1:
            raise SpecError(f"share={share!r}: give the share of the rows, above 0 and at most 1")
        within = whole
        if by_time and share < 1.0 and stretches is None:
            stretches = stretches_of(request, tables, share, seed)
        if stretches is not None:
            tables = tuple(
                table.filter(pa.array(stretches.where(microseconds(table.column(time))) > 0))
                for table, time in zip(tables, shape.times, strict=True)
            )
            within = WholeTrace.of(tables)
            share = min(share / stretches.part, 1.0)
            # Where less than half of the keys would be left out, taking all is better at little
            # cost.
            share = 1.0 if by_time and share > 0.5 else share
        drawn = SampledTrace(tables)
        times = None
        if share < 1.0:
            if stretches is None:
                times = stored_times(request, tables, shape)
            told = [hashed(shape, table, side) for side, table in enumerate(tables)]
            counts = np.stack([count_by_hash(*side) for side in told])
            drawn = drawn_rows(
                tables, told, draw_rows(counts, share, stores(request), seed, evenly)
            )
        trace = cls.of_sample(request, drawn, whole, within, stretches)
        return trace if times is None else replace(trace, local=trace._local(times))

    @classmethod
    def of_sample(
        cls,
        request: Request,
        drawn: SampledTrace,
        whole: WholeTrace | None = None,
        within: WholeTrace | None = None,
        stretches: Stretches | None = None,
    ) -> "Trace":
        """A trace of rows that were sampled already.

        Parameters
        ----------
        request, drawn
            The join, and the rows.
        whole, within
            Totals before sampling, and within the time stretches.
        stretches
            The time stretches examined; None for all of it.
        """
        if isinstance(request.goal, Sample):
            raise SpecError(
                f"the goal is {request.goal!r}, and of a sample there is no recall to tell: give "
                f"hg.MaxSubset() or hg.MaxImportance(...)"
            )
        bound = bound_to(request, drawn.tables)
        shape = bound.shape
        held = [screen(table, shape.times[side]).rows for side, table in enumerate(drawn.tables)]
        batches, codes = coded(shape, held, bound.definitions)
        hashes = np.zeros(codes, np.uint64)
        for side, own in enumerate(held):
            if drawn.stored is not None:
                stored = drawn.stored[side][own.place] * 1.0
                batches[side] = batches[side]._replace(
                    effort=np.stack([np.ones(len(stored)), stored])
                )
            if drawn.hashes is not None:
                known = batches[side].code != NULL
                hashes[batches[side].code[known]] = drawn.hashes[side][own.place][known]
        counts = drawn.counts or (EVERY_PAIR, EVERY_PAIR)
        if stretches is not None:
            counts = (stretches.where(batches[0].time) // 2, stretches.where(batches[1].time) // 2)
            batches = [_moved(batch, stretches) for batch in batches]
            stretches = stretches.closed
        elif drawn.counts is not None:
            counts = (counts[0][held[0].place], counts[1][held[1].place])
        whole = whole or WholeTrace.of(drawn.tables)
        return cls(
            request=request,
            rows=(batches[0], batches[1]),
            codes=codes,
            tables=(held[0].only(held[0].table), held[1].only(held[1].table)),
            shape=shape,
            relation=shape.relation,
            whole=whole,
            within=within or whole,
            draw=drawn.draw,
            hashes=hashes,
            counts=counts,
            stretches=stretches,
        )

    @property
    def is_whole(self) -> bool:
        """Whether the trace has every row, so that results are exact."""
        return self.draw.is_whole and (self.stretches is None or self.stretches.part >= 1.0)

    @property
    def share(self) -> float:
        """The approximate share of all pairs that the trace contains."""
        return self.draw.share * (1.0 if self.stretches is None else self.stretches.part_counted)

    @property
    def count(self) -> int:
        """Rows of both sides in the trace."""
        return len(self.rows[0].time) + len(self.rows[1].time)

    @cached_property
    def scale(self) -> Scale:
        """The share of the storable rows and bytes in the trace; budgets are scaled by it.

        This is not the requested share: the number of rows of the drawn keys is random.
        """
        if self.draw.is_whole:
            return Scale(1.0, 1.0)
        sides = [side for side in (0, 1) if self.request.windows[side].span]
        rows = held = 0.0
        for side in sides:
            batch = self.rows[side]
            is_stored = np.ones(len(batch.time)) if batch.effort is None else batch.effort[1]
            rows += float(is_stored.sum())
            held += float((is_stored * batch.size).sum())
        return Scale(
            rows / max(sum(self.within.rows[side] for side in sides), 1),
            held / max(sum(self.within.bytes[side] for side in sides), 1),
        )

    def _local(self, times: tuple[np.ndarray, ...]) -> LocalShare | None:
        """The share of the windows in the trace over time, given the times of all stored rows."""
        sides = [side for side in (0, 1) if self.request.windows[side].span]
        drawn = [
            batch.time if batch.effort is None else batch.time[batch.effort[1] > 0]
            for batch in (self.rows[side] for side in sides)
        ]
        spans = [self.request.windows[side].span for side in sides]
        return LocalShare.of(times, drawn, spans, self.scale.rows, self.count)

    @cached_property
    def windows(self) -> tuple[Window, Window]:
        """The windows in the trace; row-count windows are scaled down."""
        return self._window(0), self._window(1)

    def _window(self, side: int) -> Window:
        window = self.request.windows[side]
        if self.draw.is_whole or isinstance(window, TimeWindow) or not window.span:
            return window
        part = len(self.rows[side].time) / max(self.within.rows[side], 1)
        return RowWindow(max(round(window.span * part), 1))

    @cached_property
    def is_thinned(self) -> np.ndarray:
        """By code: whether the key is thinned (only some of its rows are in the trace)."""
        return self.draw.is_heavy(self.hashes)

    @cached_property
    def stands_for(self) -> np.ndarray:
        """By side and code: how many probing rows each row of the trace represents.

        This is 1 for drawn keys, although they represent other keys as well.
        """
        return np.stack([1.0 / self.draw.looking_of(self.hashes, side) for side in (0, 1)])

    @cached_property
    def key_bytes(self) -> int:
        """The most bytes that a key takes."""
        return key_bytes(self.shape, self.tables)

    @cached_property
    def key_hashes(self) -> np.ndarray | None:
        """The hashes of the keys, by code; None where there are none."""
        codes = [side.code for side in self.rows]
        return hashes_by_code(self.shape, self.tables, codes, self.codes)

    @cached_property
    def _exact(self) -> tuple[StretchTally, Stats]:
        terms = Terms(
            self.windows,
            self.request.policy,
            where=self.relation,
            indexes=None,
            how=self.request.how,
        ).exact()
        replay = Replay(self.request.weighed(terms), *self.rows, self.codes)
        tally = StretchTally.of(self)
        for block in replay.pairs():
            tally.add(block)
        return tally, replay.stats

    @property
    def met(self) -> StretchTally:
        """The pairs of the exact join, and its rows that come out alone."""
        return self._exact[0]

    @property
    def needs(self) -> Stats:
        """What the exact join stores of the trace."""
        return self._exact[1]


def _moved(batch: Rows, stretches: Stretches) -> Rows:
    time = stretches.closed_up(batch.time)
    return batch._replace(time=time, touched=time)
