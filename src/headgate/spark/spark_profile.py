"""Profiles Spark DataFrames: whatever needs all rows is computed on Spark.

Spark counts rows, times and keys, finds the heavy keys, and samples keys; the driver receives only
the counts, the heavy keys, and the rows of sampled keys (key and time only).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.columns.key_codes import encode_together
from headgate.engine.shape import NO_RESULT
from headgate.profiles.facts import Both, SideFacts
from headgate.profiles.key_choice import KeyChoice, choose
from headgate.profiles.measurement import measure
from headgate.profiles.profile import Profile
from headgate.profiles.profile_material import ProfileMaterial, Question, sampled, whole_numbers
from headgate.profiles.skew import KeyCounts
from headgate.profiles.table_material import mean_bytes
from headgate.spark.carried_columns import numbered
from headgate.spark.column_types import compared_keys, time_in_micros
from headgate.spark.requirements import check_columns, check_session
from headgate.spec import SpecError

ROWS_FOR_SIZE = 10_000
"""Whole rows that are looked at, of each side, to tell how many bytes a row takes."""
TIME, HASH, COUNT = "time", "hash", "count"
SIGN = 1 << 63


def profile_frames(question: Question, left: Any, right: Any) -> Profile:
    """Profile two bounded DataFrames; see `headgate.profile`."""
    for which, frame in (("left", left), ("right", right)):
        if not isinstance(frame, DataFrame):
            raise SpecError(
                f"the {which} side is a {type(frame).__name__} and the other a Spark DataFrame: "
                f"give two of one kind"
            )
        check_session(frame.sparkSession)
        if frame.isStreaming:
            raise SpecError(
                f"the {which} side is a stream, which has no end to profile up to: give a bounded "
                f"DataFrame, such as spark.read of what the stream reads or wrote"
            )
    if left.sparkSession is not right.sparkSession:
        raise SpecError("the two sides come from different Spark sessions: read both in one")
    shape = check_columns(
        question.keys, (question.sides.left, question.sides.right), (left, right), NO_RESULT
    )
    keys = (question.keys.left, question.keys.right)
    sides = Both(
        *(
            _Side.of(
                frame,
                compared_keys(frame, keys[side], shape.key_types),
                shape.times[side],
                question.compared(side),
            )
            for side, frame in enumerate((left, right))
        )
    )
    try:
        return measure(question, _material(question, sides))
    finally:
        for side in sides:
            side.counted.unpersist()


@dataclass(frozen=True)
class _Side:
    """A side's rows, reduced to the columns that are counted, and the row count of each key."""

    whole: DataFrame
    rows: DataFrame
    """Key columns under numbered names, time in microseconds, hash of the key."""
    counted: DataFrame
    """Each key with its hash and its number of rows; kept while the profile is made."""
    names: tuple[str, ...]
    compared: tuple[int, ...]
    """Where the key columns and the time stand among all columns."""

    @classmethod
    def of(
        cls, frame: DataFrame, keys: Sequence[Column], time: str, compared: Sequence[str]
    ) -> "_Side":
        names = tuple(f"key{place}" for place in range(len(keys)))
        whole = numbered(frame)
        rows = whole.select(
            *(key.alias(name) for key, name in zip(keys, names, strict=True)),
            time_in_micros(frame, time).alias(TIME),
        ).withColumn(HASH, F.xxhash64(*names))
        counted = rows.where(_has_key(names)).groupBy(*names, HASH).count().persist()
        return cls(whole, rows, counted, names, tuple(map(frame.columns.index, compared)))

    def facts(self) -> SideFacts:
        """Count rows and times in one pass over all rows."""
        found = self.rows.agg(
            F.count(F.lit(1)).alias("rows"),
            F.count_if(~_has_key(self.names)).alias("null_keys"),
            F.count_if(F.col(TIME).isNull()).alias("null_times"),
            F.min(TIME).alias("first_us"),
            F.max(TIME).alias("last_us"),
        ).first()
        counts = found.asDict() if found else {}
        table = self._some_rows(counts["rows"])
        return SideFacts(
            **counts,
            row_bytes=mean_bytes(table),
            compared_bytes=mean_bytes(table.select(self.compared)),
        )

    def _some_rows(self, rows: int) -> pa.Table:
        some = self.whole
        if rows > ROWS_FOR_SIZE:
            some = some.sample(fraction=min(1.0, 2 * ROWS_FOR_SIZE / rows), seed=0).limit(
                ROWS_FOR_SIZE
            )
        return some.toArrow()

    def key_counts(self, most: int) -> KeyCounts:
        """Row counts of the heavy keys, and of all others together."""
        rows_of_key = F.col(COUNT).cast("double")
        found = self.counted.agg(
            F.count(F.lit(1)).alias("keys"),
            F.sum(COUNT).alias("rows"),
            F.sum(rows_of_key * (rows_of_key - 1)).alias("same"),
        ).first()
        total = found.asDict() if found else {}
        heavy = self.counted.orderBy(F.desc(COUNT), HASH).limit(most).toArrow()
        return KeyCounts(
            tuple(heavy.column(name) for name in self.names),
            heavy.column(COUNT).to_numpy().astype(np.int64),
            int(total["rows"] or 0),
            int(total["keys"] or 0),
            float(total["same"] or 0.0),
            _unsigned(heavy.column(HASH).to_numpy()),
        )

    def rows_at(self, shares: list[float], certain: np.ndarray) -> np.ndarray:
        """Number of rows that a key sample would have at each share."""
        found = self.counted.agg(
            *(F.sum(F.when(_taken(share, certain), F.col(COUNT)).otherwise(0)) for share in shares)
        ).first()
        return np.array([rows or 0 for rows in found or ()], np.int64)

    def sampled(self, choice: KeyChoice) -> Any:
        """Collect the rows of sampled keys on the driver."""
        wanted = self.rows.where(_has_key(self.names) & F.col(TIME).isNotNull())
        if choice.share < 1.0:
            wanted = wanted.where(_taken(choice.share, choice.certain))
        return wanted.select(*self.names, TIME, HASH).toArrow()


def _material(question: Question, sides: Both[_Side]) -> ProfileMaterial:
    keys = Both(*(side.key_counts(question.heavy_keys) for side in sides))
    choice = choose(
        keys,
        question.most_rows,
        lambda shares, certain: (
            sides.left.rows_at(shares, certain) + sides.right.rows_at(shares, certain)
        ),
    )
    tables = [side.sampled(choice) for side in sides]
    columns = [
        [table.column(name) for name in side.names]
        for side, table in zip(sides, tables, strict=True)
    ]
    codes, count = encode_together(columns)
    hashes = np.zeros(count, np.uint64)
    for code, table in zip(codes, tables, strict=True):
        hashes[code] = _unsigned(table.column(HASH).to_numpy())
    times = Both(*(table.column(TIME).to_numpy() for table in tables))
    return ProfileMaterial(
        rows=Both(*(side.facts() for side in sides)),
        keys=keys,
        sample=sampled(choice, Both(codes[0], codes[1]), times, hashes),
        choice=choice,
        values=whole_numbers(columns, codes, count),
    )


def _has_key(names: tuple[str, ...]) -> Column:
    return reduce(lambda one, other: one & other, (F.col(name).isNotNull() for name in names))


def _taken(share: float, certain: np.ndarray) -> Column:
    """Whether a key is in the sample; the same on Spark's signed hashes as `KeyChoice.taken`."""
    drawn = F.col(HASH) < F.lit(int(share * 2.0**64) - SIGN)
    signed = (certain ^ np.uint64(SIGN)).view(np.int64)
    return drawn | F.col(HASH).isin(signed.tolist())


def _unsigned(hashes: np.ndarray) -> np.ndarray:
    """Map Spark's signed hashes to unsigned ones, in the same order."""
    unsigned: np.ndarray = hashes.astype(np.int64).view(np.uint64) ^ np.uint64(SIGN)
    return unsigned
