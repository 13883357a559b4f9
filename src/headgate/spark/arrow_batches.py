"""How large the Arrow batches get in which Spark hands rows to Python."""

import re
import warnings

from pyspark.sql import SparkSession

ARROW_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
ARROW_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
NO_ARROW_BYTES = str(2**31 - 1)
"""With a limit, Spark weighs the Arrow batch it is filling at every row, which takes a third of the
join's speed; this value is the one that stands for no limit."""
BATCH_BYTES = 1 << 26
"""What a batch may take: Spark's own limit, where nobody has changed it."""
UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}


def bytes_a_row(session: SparkSession) -> int | None:
    """How much a row may stand for, so that batches cut by rows alone stay within bounds.

    None where Spark cuts batches by bytes too.
    """
    if _bytes(session.conf.get(ARROW_BYTES) or "") <= BATCH_BYTES:
        return None
    rows = int(session.conf.get(ARROW_ROWS) or 0)
    if rows <= 0:
        warnings.warn(
            f"{ARROW_BYTES} and {ARROW_ROWS} are both lifted, so that Spark hands on a whole "
            f"partition at once, however large it is: set one of them",
            stacklevel=4,
        )
        return None
    return max(BATCH_BYTES // rows, 1)


def _bytes(text: str) -> int:
    """A number of bytes as Spark's settings have it: 67108864b, 64m, 64MB."""
    found = re.fullmatch(r"\s*(-?\d+)\s*([kmgtp]?)b?\s*", text.lower())
    return int(found.group(1)) << UNITS[found.group(2)] if found else 0
