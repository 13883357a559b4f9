"""Limits the size of the Arrow batches in which Spark passes rows to Python.

The JVM fills a batch in off-heap memory, which is limited to the size of the heap. It doubles the
buffer of a full column, so a batch may take twice its size, and half as much again while it grows;
and every task of a join fills two at a time, one with input and one with results.
"""

import re

from pyspark.sql import SparkSession

from headgate.spark.session_access import access_to

ARROW_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
ARROW_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
NO_ARROW_BYTES = str(2**31 - 1)
"""With a limit, Spark weighs the Arrow batch it is filling at every row, which takes a third of the
join's speed; this value is the one that stands for no limit."""
MOST_BYTES = 1 << 26
"""The largest batch to allow, in bytes: Spark's default limit."""
BATCHES_A_TASK = 8
"""How many batches a task's share of memory should hold: five, and some room."""
UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}


def bytes_a_row(session: SparkSession) -> int | None:
    """Bytes allowed per row of blobs, so that batches limited by row count stay small enough.

    None if Spark's limit in bytes is low enough, or rows are not limited.
    """
    most_bytes = min(_memory_a_task(session) // BATCHES_A_TASK, MOST_BYTES)
    most_rows = int(session.conf.get(ARROW_ROWS) or 0)
    if most_rows <= 0 or as_bytes(session.conf.get(ARROW_BYTES) or "") <= most_bytes:
        return None
    return max(most_bytes // most_rows, 1)


def _memory_a_task(session: SparkSession) -> int:
    access = access_to(session)
    if access.is_local:
        heap, cores = access.setting("spark.driver.memory", "1g"), access.cores
    else:
        heap = access.setting("spark.executor.memory", "1g")
        cores = int(access.setting("spark.executor.cores", "1") or 1)
    return as_bytes(heap or "1g") // max(cores, 1)


def as_bytes(text: str) -> int:
    """Parse a size in bytes as written in Spark's settings.

    Examples
    --------
    >>> as_bytes("67108864b"), as_bytes("64m"), as_bytes("64 MB")
    (67108864, 67108864, 67108864)
    """
    found = re.fullmatch(r"\s*(-?\d+)\s*([kmgtp]?)b?\s*", text.lower())
    return int(found.group(1)) << UNITS[found.group(2)] if found else 0
