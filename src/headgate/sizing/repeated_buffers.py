"""Turns the buffers of a running join into a longer stream by repeating their rows.

Buffers hold the rows of about one window. Used alone they would bias results: memory starts empty,
and few matches at high ages have both rows in the buffers. So each side's rows are repeated with
the period of its own span, long enough to fill memory and to measure afterwards.
"""

import numpy as np
import pyarrow as pa

from headgate.columns.times import NO_TIME, microseconds
from headgate.engine.request import Request
from headgate.sizing.needs import Needs
from headgate.sizing.trial_material import OPTIMUM_ROWS, TrialMaterial, covered
from headgate.spec import RowWindow, SpecError
from headgate.trials.stretches import Stretches
from headgate.trials.trace import Trace

WINDOWS = 4
"""Windows that the repeated rows cover; pairs of the last but one count."""


def material_of_buffers(
    request: Request,
    tables: tuple[pa.Table, pa.Table],
    most_rows: int,
    seed: int,
    optimum: bool,
) -> TrialMaterial:
    """Build a trace from the buffered rows of a join."""
    window = max(side.span for side in request.windows)
    if any(isinstance(side, RowWindow) and side.span for side in request.windows) or not window:
        raise SpecError("a checkpoint is read by time: give windows in time, one of them not zero")
    for which, table in zip(("left", "right"), tables, strict=True):
        if not table.num_rows:
            raise SpecError(
                f"the checkpoint has no {which} rows in its buffer, so nothing is known of what "
                f"they match: let the query run for a while, or give the rows themselves"
            )
    names = [side.time for side in request.sides]
    times = [microseconds(table.column(at)) for table, at in zip(tables, names, strict=True)]
    _, now = covered(times)
    left, right = (
        _repeated(table, name, time, now, WINDOWS * window)
        for table, name, time in zip(tables, names, times, strict=True)
    )
    begin = np.array([now - WINDOWS * window])
    stretches = Stretches(begin, begin + window, np.array([now + 1]), 1.0)
    trace = Trace.of_tables(
        request, left, right, most_rows=most_rows, seed=seed, stretches=stretches
    )
    small = None
    if optimum and trace.count <= 2 * most_rows:
        small = Trace.of_tables(
            request,
            left,
            right,
            most_rows=OPTIMUM_ROWS,
            seed=seed,
            stretches=stretches,
            evenly=True,
        )
    scale = trace.scale
    needs = Needs(trace.needs.peak_rows / scale.rows, trace.needs.peak_bytes / scale.bytes)
    return TrialMaterial(trace, None, small, needs, _notes(tables, times, now), _rows(tables))


def _repeated(table: pa.Table, name: str, time: np.ndarray, now: int, length: int) -> pa.Table:
    """The rows repeated back to ``length`` before now; the last copy keeps its own times."""
    known = time != NO_TIME
    first = int(time[known].min())
    rows = int(np.count_nonzero(known))
    period = max((now - first) * (rows + 1) // max(rows, 1), 1)
    times = -(-length // period)
    place = table.column_names.index(name)
    kind = table.schema.field(name).type
    parts = []
    for back in range(times - 1, -1, -1):
        moved = time - back * period
        keep = np.flatnonzero(known & (moved >= now - length))
        column = pa.array(moved[keep]).cast(pa.timestamp("us", kind.tz)).cast(kind)
        parts.append(table.take(pa.array(keep)).set_column(place, name, column))
    return pa.concat_tables(parts)


def _rows(tables: tuple[pa.Table, pa.Table]) -> tuple[int, int]:
    return tables[0].num_rows, tables[1].num_rows


def _notes(
    tables: tuple[pa.Table, pa.Table], times: "list[np.ndarray]", now: int
) -> tuple[str, ...]:
    spans = [(now - int(time[time != NO_TIME].min())) / 1e6 for time in times]
    return (
        f"From buffers: the left one holds {tables[0].num_rows:,} rows of {spans[0]:,.0f} seconds, "
        f"the right one {tables[1].num_rows:,} rows of {spans[1]:,.0f} seconds; they are taken to "
        f"go on as they are.",
        "What cannot be known from them: rows that have expired, how the streams changed, columns "
        "that the query does not need, and at what age rows match where a side is buffered only "
        "for a while (any age is then taken to be as likely).",
    )
