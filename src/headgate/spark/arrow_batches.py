"""How large the Arrow batches may get in which Spark hands rows to Python.

The JVM fills a batch in memory outside its heap, of which it has as much as heap. It doubles a
column that is full, so that a batch may take twice its size, and half as much again meanwhile; and
every task of a join fills two at a time, one for the join and one of results.
"""

import re

from pyspark.sql import SparkSession

ARROW_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
ARROW_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
NO_ARROW_BYTES = str(2**31 - 1)
"""With a limit, Spark weighs the Arrow batch it is filling at every row, which takes a third of the
join's speed; this value is the one that stands for no limit."""
MOST_BYTES = 1 << 26
"""A batch at most: Spark's own limit, where nobody has changed it."""
BATCHES_A_TASK = 8
"""How many batches a task's share of memory should hold: five, and some room."""
UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}


def bytes_a_row(session: SparkSession) -> int | None:
    """How much a row of blobs may stand for, so that batches cut by rows stay within bounds.

    None where the limit by bytes is low enough, or rows are not limited.
    """
    most_bytes = min(_memory_a_task(session) // BATCHES_A_TASK, MOST_BYTES)
    most_rows = int(session.conf.get(ARROW_ROWS) or 0)
    if most_rows <= 0 or as_bytes(session.conf.get(ARROW_BYTES) or "") <= most_bytes:
        return None
    return max(most_bytes // most_rows, 1)


def _memory_a_task(session: SparkSession) -> int:
    context = session.sparkContext
    conf = context.getConf()
    if (context.master or "").startswith("local"):
        heap, cores = conf.get("spark.driver.memory", "1g"), context.defaultParallelism
    else:
        heap = conf.get("spark.executor.memory", "1g")
        cores = int(conf.get("spark.executor.cores", "1") or 1)
    return as_bytes(heap or "1g") // max(cores, 1)


def as_bytes(text: str) -> int:
    """A number of bytes as Spark's settings have it.

    Examples
    --------
    >>> as_bytes("67108864b"), as_bytes("64m"), as_bytes("64 MB")
    (67108864, 67108864, 67108864)
    """
    found = re.fullmatch(r"\s*(-?\d+)\s*([kmgtp]?)b?\s*", text.lower())
    return int(found.group(1)) << UNITS[found.group(2)] if found else 0
