"""The first versions of many cases at once, as a program of its own, for a test that kills it.

Usage: killed_versions.py FOLDER CASE.... A case is the name of a change or the seed of a drawn one;
FOLDER/0, FOLDER/1 and so on have the input of each.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import SparkSession

import headgate as hg
from tests.spark.quick_settings import QUICK_TO_START
from tests.spark.restart_cases import Case
from tests.spark.restart_draws import drawn_case, each_case
from tests.spark.version_queries import started


def case_of(name: str) -> Case:
    """The case of a name."""
    return drawn_case(int(name)) if name.isdigit() else each_case(name, seed=84, killed=True)


def main(folder: Path, names: Sequence[str]) -> None:
    """Run all queries over all there is."""
    builder = SparkSession.builder.master("local[2]")
    settings = {
        **QUICK_TO_START,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.session.timeZone": "UTC",
        "spark.python.authenticate.socketTimeout": "300s",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    hg.configure(spark)
    queries = []
    for number, name in enumerate(names):
        own = folder / str(number)
        queries.append(started(spark, own, case_of(name).before, own / "out-first"))
    for query in queries:
        query.awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
