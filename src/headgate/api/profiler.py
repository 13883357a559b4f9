"""`profile`: measure the rates, keys and matches of two streams, in process or on Spark."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from headgate.engine.inputs import is_spark
from headgate.profiles.facts import Both
from headgate.profiles.profile import Profile
from headgate.profiles.profile_material import HEAVY_KEYS, MOST_ROWS, Question
from headgate.report.long_work import LongWork
from headgate.spec import Keys, Side

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from headgate.spark import DataFrame

Columns = str | Sequence[str]


def profile(
    left_rows: "pa.Table | pd.DataFrame | DataFrame | str | os.PathLike[str]",
    right_rows: "pa.Table | pd.DataFrame | DataFrame | str | os.PathLike[str]",
    /,
    *,
    left: Side,
    right: Side,
    on: Columns | None = None,
    left_on: Columns | None = None,
    right_on: Columns | None = None,
    most_rows: int = MOST_ROWS,
    heavy_keys: int = HEAVY_KEYS,
    progress: bool | None = None,
) -> Profile:
    """Measure two streams, and what joining them needs.

    Rates, keys and their skew are counted on all rows. Matches, ages and models come from joining
    the rows; if there are more than ``most_rows``, only the rows of a sample of the keys are
    joined, and the profile says so. For Spark DataFrames, Spark does all counting and sampling.

    Parameters
    ----------
    left_rows, right_rows
        Bounded inputs: Arrow tables, pandas frames, paths of Parquet or CSV files, what hands out
        Arrow data (Polars frames, DuckDB relations), or two Spark DataFrames.
    left, right
        Each side's time column and window; windows in time. Give the longest you would consider.
    on, left_on, right_on
        Key columns: ``on`` where both sides use the same names, otherwise the other two.
    most_rows
        The most rows to join, both sides together.
    heavy_keys
        The most keys per side that `Profile.frequencies` names.
    progress
        Show the progress of long work in a terminal or notebook.

    Examples
    --------
    >>> import headgate as hg
    >>> import pandas as pd
    >>> start = pd.Timestamp("2026-01-01")
    >>> seconds = lambda *given: [start + pd.Timedelta(second, "s") for second in given]
    >>> clicks = pd.DataFrame({"user": [1, 2, 3], "clicked": seconds(0, 5, 10)})
    >>> buys = pd.DataFrame({"user": [1, 2, 2], "bought": seconds(2, 9, 20)})
    >>> found = hg.profile(
    ...     clicks,
    ...     buys,
    ...     on="user",
    ...     left=hg.Side(time="clicked", window="8 seconds"),
    ...     right=hg.Side(time="bought", window="0 seconds"),
    ... )
    >>> found.pairs.count, found.rates.left, found.stored_rows.rows
    (2.0, 0.15, 2.0)
    >>> found.windows_needed.left[100]
    datetime.timedelta(seconds=4)
    """
    question = Question(Keys.parse(on, left_on, right_on), Both(left, right), most_rows, heavy_keys)
    with LongWork("Reading and counting the rows", progress) as work:
        if any(is_spark(given) for given in (left_rows, right_rows)):
            from headgate.spark.spark_profile import profile_frames

            return profile_frames(question, left_rows, right_rows)
        from headgate.profiles.measurement import measure
        from headgate.profiles.table_material import as_table, material_of

        tables = Both(as_table(left_rows, "left"), as_table(right_rows, "right"))
        material = material_of(question, tables)
        work.say("Joining them and comparing models")
        return measure(question, material)
