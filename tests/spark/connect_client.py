"""Everything Headgate does on Spark, by a client of Spark Connect that has no py4j and no driver.

Usage: connect_client.py ADDRESS FOLDER PART... Prints what each part found as a line of JSON. The
two modules are hidden before anything is imported, as where pyspark-client alone is installed: an
import of either fails.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HIDDEN = ("py4j", "pyspark.core")


class Hidden:
    """Finds no module of those that a client does not have."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if any(name == each or name.startswith(f"{each}.") for each in HIDDEN):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


if __name__ == "__main__":
    sys.meta_path.insert(0, Hidden())  # type: ignore[arg-type]

import pyarrow as pa  # noqa: E402
from pyspark.sql import DataFrame, SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402

import headgate as hg  # noqa: E402
from headgate.spark.spark_versions import figures_of  # noqa: E402

ROWS = 200
START = 1_767_225_600
TIMES = ("lt", "rt")
SIDES = {
    "left": hg.Side(time="lt", window="10 seconds"),
    "right": hg.Side(time="rt", window="5 seconds"),
}


class Client:
    """A session, its inputs, and what is done with them."""

    def __init__(self, address: str, folder: Path) -> None:
        self.spark: Any = SparkSession.builder.remote(address).getOrCreate()
        self.folder = folder
        self.bounded = [self._written(time) for time in TIMES]
        self.join = hg.WindowJoin(on="k", budget=hg.Budget(rows=10_000), policy="fifo", **SIDES)

    def _written(self, time: str) -> DataFrame:
        path = str(self.folder / time)
        number = F.col("id")
        seconds = F.lit(START) + F.floor(number / 4)
        rows = self.spark.range(ROWS).select(
            (number % 7).alias("k"),
            F.timestamp_seconds(seconds).alias(time),
            number.alias(f"{time}_id"),
        )
        rows.coalesce(1).write.mode("overwrite").parquet(path)
        return self.spark.read.parquet(path)

    def streams(self) -> list[DataFrame]:
        return [
            self.spark.readStream.schema(f"k bigint, {time} timestamp, {time}_id bigint")
            .parquet(str(self.folder / time))
            .withWatermark(time, "0 seconds")
            for time in TIMES
        ]

    def ran(self, frame: DataFrame, name: str) -> Any:
        """Run a query over all there is, into files."""
        query = (
            frame.writeStream.format("parquet")
            .option("path", str(self.folder / "out" / name))
            .option("checkpointLocation", str(self.folder / "checkpoints" / name))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return query

    def rows_of(self, name: str) -> int:
        return int(self.spark.read.parquet(str(self.folder / "out" / name)).count())

    def configure(self) -> dict[str, Any]:
        first = hg.configure(self.spark)
        names = [each.name for each in first]
        first.undo()
        again = hg.configure(self.spark)
        return {"set": names, "again": [each.name for each in again]}

    def exact(self) -> dict[str, Any]:
        left, right = self.bounded
        lead = F.unix_micros("rt") - F.unix_micros("lt")
        joined = left.join(right, "k").where((lead <= 10_000_000) & (lead >= -5_000_000))
        return {"pairs": joined.count()}

    def batch(self) -> dict[str, Any]:
        return {"pairs": self.join.batch(*self.bounded).count()}

    def stream(self) -> dict[str, Any]:
        query = self.ran(self.join.stream(*self.streams()).select("k", "lt", "rt"), "stream")
        found = hg.progress(query)
        assert found is not None
        return {"pairs": self.rows_of("stream"), "figures": found.figures["total_pairs"]}

    def windows(self) -> dict[str, Any]:
        """Counted by the time of a side, after the delayed watermark; the last are still open."""
        counted = self.join.stream(*self.streams()).groupBy(F.window("lt", "10 seconds")).count()
        self.ran(counted, "windows")
        return {"windows": self.rows_of("windows")}

    def lookup(self) -> dict[str, Any]:
        table = hg.ArrowTable(pa.table({"k": list(range(7)), "note": list("abcdefg")}))
        lookup = hg.CachedLookup(table=table, on="k", budget=hg.Budget(rows=3), policy="lru")
        query = self.ran(lookup.stream(self.streams()[0]), "lookup")
        reports = [report["observedMetrics"] for report in query.recentProgress]
        misses = [figures_of(each["headgate"])["misses"] for each in reports if "headgate" in each]
        return {"rows": self.rows_of("lookup"), "misses": sum(misses)}

    def profile(self) -> dict[str, Any]:
        return {"pairs": hg.profile(*self.bounded, on="k", **SIDES).pairs.count}

    def whatif(self) -> dict[str, Any]:
        found = hg.whatif(*self.bounded, join=self.join, policies=["fifo"], optimum=False)
        return {"answer": str(found)}

    def group(self) -> dict[str, Any]:
        joins = {name: self.join.within(hg.Budget(rows=1)) for name in ("one", "two")}
        shared = hg.JoinGroup(budget=hg.Budget(rows=100), joins=joins)
        frames = shared.stream(
            {name: tuple(self.streams()) for name in joins}, folder=str(self.folder / "limits")
        )
        for name, frame in frames.items():
            self.ran(frame, name)
        limits = frames.limits
        frames.stop()
        return {
            "rows": {name: self.rows_of(name) for name in joins},
            "limits": sum(limits.values()),
        }


def _say(part: str, found: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"part": part, **found}) + "\n")
    sys.stdout.flush()


def main(address: str, folder: str, parts: list[str]) -> None:
    """Do each part, and say what it found."""
    client = Client(address, Path(folder))
    for part in ("configure", *parts):
        found: Callable[[], dict[str, Any]] = getattr(client, part)
        _say(part, found())
    _say("loaded", {"modules": [name for name in sys.modules if name.startswith(HIDDEN)]})
    # The session is left open: a client that ends without stopping it must not hang.


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
