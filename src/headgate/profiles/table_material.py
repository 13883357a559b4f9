"""Builds a profile's input from Arrow tables, in process."""

from typing import Any

import numpy as np
import pyarrow as pa

from headgate.columns.hashing import hash_keys
from headgate.columns.key_codes import NULL, encode_together
from headgate.columns.row_sizes import row_bytes
from headgate.columns.times import NO_TIME, microseconds
from headgate.engine.inputs import SPARK_ON_BOTH, as_arrow
from headgate.engine.shape import NO_RESULT, Shape
from headgate.profiles.facts import Both, SideFacts
from headgate.profiles.key_choice import choose, rows_by_hash
from headgate.profiles.profile_material import ProfileMaterial, Question, sampled, whole_numbers
from headgate.profiles.skew import KeyCounts


def as_table(given: Any, which: str) -> pa.Table:
    """An Arrow table from what was given as a side."""
    return as_arrow(given, which, "profile", SPARK_ON_BOTH)


def material_of(question: Question, tables: Both[pa.Table]) -> ProfileMaterial:
    """Count all rows; sample keys where there are too many rows to join."""
    shape = _checked_shape(question, tables)
    key_columns = Both(*(shape.key_columns(tables[side], side) for side in (0, 1)))
    times = Both(*(microseconds(tables[side].column(shape.times[side])) for side in (0, 1)))
    codes, count = encode_together([key_columns.left, key_columns.right])
    counts = Both(*(np.bincount(code[code != NULL], minlength=count) for code in codes))
    keys = Both(
        *(
            _key_counts(key_columns[side], codes[side], counts[side], question.heavy_keys)
            for side in (0, 1)
        )
    )
    hashes = np.zeros(count, np.uint64)
    if int((counts.left + counts.right).sum()) > question.most_rows:
        hashes = _hashes(key_columns, codes, count)
    choice = choose(keys, question.most_rows, rows_by_hash(hashes, counts.left + counts.right))
    return ProfileMaterial(
        rows=Both(
            *(
                _side_rows(tables[side], question.compared(side), codes[side], times[side])
                for side in (0, 1)
            )
        ),
        keys=keys,
        sample=sampled(choice, Both(codes[0], codes[1]), times, hashes),
        choice=choice,
        values=whole_numbers((key_columns.left, key_columns.right), codes, count),
    )


def _checked_shape(question: Question, tables: Both[pa.Table]) -> Shape:
    names = (tables.left.column_names, tables.right.column_names)
    sides = (question.sides.left, question.sides.right)
    schemas = [table.schema for table in tables]
    return Shape.of(question.keys, sides, names, NO_RESULT).checked(None, schemas)


def _hashes(
    key_columns: Both[list[pa.ChunkedArray]], codes: list[np.ndarray], count: int
) -> np.ndarray:
    """The hash of the key behind each code."""
    hashes = np.zeros(count, np.uint64)
    for columns, code in zip(key_columns, codes, strict=True):
        known, first = _firsts(code, count)
        hashes[known], _ = hash_keys([column.take(pa.array(first)) for column in columns])
    return hashes


def _firsts(code: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The codes that occur, and one row of each."""
    row = np.full(count + 1, -1, np.int64)
    row[code] = np.arange(len(code))
    known = np.flatnonzero(row[:-1] >= 0)
    return known, row[known]


def _side_rows(
    table: pa.Table, compared: list[str], code: np.ndarray, time: np.ndarray
) -> SideFacts:
    timed = time[time != NO_TIME]
    return SideFacts(
        rows=len(time),
        null_keys=int(np.count_nonzero(code == NULL)),
        null_times=len(time) - len(timed),
        first_us=int(timed.min()) if len(timed) else None,
        last_us=int(timed.max()) if len(timed) else None,
        row_bytes=mean_bytes(table),
        compared_bytes=mean_bytes(table.select(compared)),
    )


def mean_bytes(table: pa.Table) -> float:
    """What a row of the table takes when stored, on average."""
    return float(row_bytes(table).mean()) if table.num_rows else 0.0


def _key_counts(
    columns: list[pa.ChunkedArray], code: np.ndarray, counts: np.ndarray, most: int
) -> KeyCounts:
    known, first = _firsts(code, len(counts))
    rows_of_key = counts[known]
    order = np.argsort(-rows_of_key, kind="stable")[:most]
    heavy = tuple(column.take(pa.array(first[order])) for column in columns)
    wide = rows_of_key.astype(np.float64)
    return KeyCounts(
        columns=heavy,
        counts=rows_of_key[order],
        rows=int(rows_of_key.sum()),
        keys=len(rows_of_key),
        same=float((wide * (wide - 1)).sum()),
        hashes=hash_keys(heavy)[0],
    )
