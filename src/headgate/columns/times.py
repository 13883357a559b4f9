"""Event times as microseconds."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

NO_TIME = np.iinfo(np.int64).min
"""Stands for a null time in arrays of microseconds."""


def microseconds(column: pa.ChunkedArray) -> np.ndarray:
    """Microseconds since the epoch of a timestamp column; `NO_TIME` where null.

    Examples
    --------
    >>> microseconds(pa.chunked_array([pa.array([1, None], pa.timestamp("ms"))])).tolist()
    [1000, -9223372036854775808]
    """
    zone = column.type.tz if pa.types.is_timestamp(column.type) else None
    # Finer times lose what is below a microsecond, as they do on the way into Spark.
    micros = column.cast(pa.timestamp("us", zone), safe=False).cast(pa.int64())
    filled: np.ndarray = pc.fill_null(micros, int(NO_TIME)).to_numpy()
    return filled
