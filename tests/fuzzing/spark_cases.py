"""Generated joins on Spark: the rows that the same join makes in process, within a budget or not.

One join takes Spark a second, so these seeds are asked for by name, or with --on-spark.
"""

import random
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from headgate.spec import SpecError
from tests.fuzzing.join_cases import Spec, as_numbers, by_duckdb, drawn_spec, drawn_table
from tests.spark.quick_session import quick_session


@cache
def _session() -> SparkSession:
    """The session of this process, or one of its own."""
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    own = {
        "spark.app.name": "headgate fuzzing",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(Path(mkdtemp()) / "warehouse"),
    }
    return quick_session("local[2]", own)


def run_case(seed: int) -> Counter[str]:
    """Run the cases of a seed; how many passed, by name. Raises where one fails."""
    rng = random.Random(f"spark {seed}")
    spec = drawn_spec(rng)
    left, right = drawn_table(rng, spec, 0), drawn_table(rng, spec, 1)
    passed: Counter[str] = Counter()
    try:
        within = as_numbers(spec.join().run(left, right).pairs)
        assert _on_spark(spec, left, right, shards=1) == within
        passed["spark_within_budget"] += 1
        ample = replace(spec, rows=None)
        assert _on_spark(ample, left, right, shards=2) == by_duckdb(ample, left, right)
        passed["spark_as_duckdb"] += 1
    except SpecError:
        passed["refused"] += 1
    except Exception as error:
        error.add_note(f"spark seed {seed}: {spec}, after {passed}")
        raise
    return passed


def _on_spark(spec: Spec, left: pa.Table, right: pa.Table, shards: int) -> Counter[tuple[int, int]]:
    joined = spec.join().batch(_frame(left), _frame(right), shards=shards)
    return as_numbers(joined.toArrow())


def _frame(table: pa.Table) -> DataFrame:
    return _session().createDataFrame(table)
