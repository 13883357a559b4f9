"""Rows that stand for partners which have left, so that Spark's join knows who has met one.

In an outer join Spark keeps a flag with each buffered row, and sets it when the row meets a
partner; nothing else does. A stored row whose partner is stored, too, meets it again while the
buffers are written. For one whose partner is gone, a row of the other side is put beside it: with
its key, and at a time at which it meets that row, no row without a partner, and no row that is
still to come. The partner that is gone was such a row, so there is such a time. The next watermark
takes it away.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from headgate.kernel.layout import Fate
from headgate.spark.carried_columns import carried_type, number
from headgate.spark.checkpoint import stored_rows
from headgate.spark.checkpoint.described_join import SIDES
from headgate.spark.checkpoint.stored_state import StoredState
from headgate.spec import SpecError, TimeWindow

OUTER = {"left": (0,), "right": (1,), "full": (0, 1)}
"""The sides whose rows come out without a partner, by the kind of join."""
AT, PLACE = "at", "place"
"""The time of a stored row, and that of a row that meets it; in microseconds."""


@dataclass(frozen=True)
class GonePartners:
    """Finds rows for the partners that rows of a side have met, and that are not stored.

    Parameters
    ----------
    side
        The side whose rows have met them.
    keys
        Positions of the key columns of both sides.
    times
        Positions of the time columns of both sides.
    spans
        Windows of both sides, in microseconds.
    watermark
        Rows at or before it come no more; in microseconds.
    """

    side: int
    keys: tuple[tuple[int, ...], tuple[int, ...]]
    times: tuple[int, int]
    spans: tuple[int, int]
    watermark: int

    def rows(self, stored: Sequence[DataFrame], schema: StructType) -> DataFrame:
        """Rows of the other side, in its columns by number.

        ``stored`` has both sides' rows: columns by number, time and fate. ``schema`` is that of the
        other side's stream.
        """
        found = self._places(stored).select(*self._names, PLACE).distinct()
        other = 1 - self.side
        columns = []
        for place, field in enumerate(schema):
            if place == self.times[other]:
                value = F.timestamp_micros(PLACE)
            elif place in self.keys[other]:
                value = F.col(self._names[self.keys[other].index(place)])
            else:
                value = F.lit(None)
            columns.append(value.cast(carried_type(field.dataType)).alias(number(place)))
        return found.select(*columns)

    def _places(self, stored: Sequence[DataFrame]) -> DataFrame:
        """For each row that has met a partner which is gone: its key, and when one meets it."""
        before, after = self.spans[1 - self.side], self.spans[self.side]
        own, other = (
            stored[side].select(
                *(
                    F.col(number(place)).alias(name)
                    for place, name in zip(self.keys[side], self._names, strict=True)
                ),
                F.col(stored_rows.TIME).alias(AT),
                stored_rows.FATE,
            )
            for side in (self.side, 1 - self.side)
        )
        own, other = own.alias("own"), other.alias("other")
        alone = own.where(~_is(Fate.MATCHED)).alias("alone")
        meets = F.col("other.at").between(F.col("own.at") - before, F.col("own.at") + after)
        lonely = own.where(_is(Fate.MATCHED)).join(other, self._same("other") & meets, "left_anti")
        lonely = lonely.select(*self._names, AT).distinct().alias("own")
        # The earliest such time is the first at which the row is met, or just after a time at which
        # a row without a partner would be met, too.
        next_place = F.col("alone.at") + F.lit(after + 1)
        within = next_place.between(F.col("own.at") - before, F.col("own.at") + after)
        places = lonely.select(*self._names, AT, (F.col(AT) - before).alias(PLACE)).unionAll(
            lonely.join(alone, self._same("alone") & within).select(
                *(F.col(f"own.{name}") for name in self._names),
                F.col("own.at"),
                next_place.alias(PLACE),
            )
        )
        places = places.where(F.col(PLACE) + before <= F.lit(self.watermark)).alias("own")
        met = F.col("alone.at").between(F.col("own.place") - after, F.col("own.place") + before)
        free = places.join(alone, self._same("alone") & met, "left_anti")
        found = free.groupBy(*self._names, AT).agg(F.min(PLACE).alias(PLACE)).cache()
        missing = lonely.count() - found.count()
        if missing:
            raise SpecError(
                f"{missing:,} stored {SIDES[self.side]} rows of this outer join have found a "
                f"partner that was evicted, which Spark's buffers cannot express: let the query "
                f"run with a budget that evicts no rows until its windows have passed"
            )
        return found

    @property
    def _names(self) -> list[str]:
        return [f"key{place}" for place in range(len(self.keys[0]))]

    def _same(self, who: str) -> Column:
        """Whether keys are equal, as Spark's own join compares them."""
        same = F.lit(True)
        for name in self._names:
            same &= F.col(f"own.{name}") == F.col(f"{who}.{name}")
        return same


def partners_of(state: StoredState, side: int, schemas: Sequence[StructType]) -> GonePartners:
    """How partners are found that rows of a side have met."""
    join, names = state.join, [schema.names for schema in schemas]
    left, right = (
        tuple(names[each].index(key) for key in join.keys(each, names[each])) for each in (0, 1)
    )
    return GonePartners(
        side,
        (left, right),
        (names[0].index(join.time(0)), names[1].index(join.time(1))),
        _spans(state),
        state.watermark_us or 0,
    )


def check_settled(state: StoredState) -> None:
    """Raise where evicted rows leave it open which rows have a partner."""
    if state.join.how not in OUTER:
        return
    spans, watermark = _spans(state), state.watermark_us
    lost = [shard.head.lost_us for shard in state.shards]
    lost += stored_rows.given_up_marks(state)
    latest = max((each for each in lost if each is not None), default=None)
    open_until = None if latest is None else latest + sum(spans)
    if open_until is not None and (watermark is None or open_until > watermark):
        raise SpecError(
            "this outer join has evicted rows, and Spark's own would report their partners as rows "
            "without a partner: let the query run with a budget that "
            f"evicts no rows until its windows have passed ({sum(spans) / 1e6:,.0f} s)"
        )
    if any(shard.head.unsettled is not None for shard in state.shards):
        raise SpecError(
            "after a change at the last restart it is unknown which rows have a partner: let the "
            "query run until its windows have passed (shards_unsettled is 0)"
        )


def is_alone() -> Column:
    """Whether a stored row has met no partner."""
    return ~_is(Fate.MATCHED)


def _is(fate: Fate) -> Column:
    return F.col(stored_rows.FATE).bitwiseAND(int(fate)) != 0


def _spans(state: StoredState) -> tuple[int, int]:
    left, right = (state.join.window(side) for side in (0, 1))
    if not isinstance(left, TimeWindow) or not isinstance(right, TimeWindow):
        raise SpecError("Spark's own join has no windows of the last n rows")
    return left.us, right.us
