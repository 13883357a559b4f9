"""Everything Headgate does on Spark, by a client of Spark Connect that has no py4j and no driver.

Usage: connect_client.py ADDRESS FOLDER PART... Prints what each part found as a line of JSON. The
two modules are hidden before anything is imported, as where pyspark-client alone is installed: an
import of either fails.
"""

import io
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
from rich.console import Console  # noqa: E402

import headgate as hg  # noqa: E402
from headgate.cli import doctor_command  # noqa: E402
from headgate.jobs import job_command, read_job  # noqa: E402
from headgate.jobs.dry_run import problems_of  # noqa: E402
from headgate.jobs.job_plan import profiled  # noqa: E402
from headgate.spark.join.join_metrics import of_shard  # noqa: E402
from headgate.spark.spark_versions import figures_of  # noqa: E402

ROWS = 200
START = 1_767_225_600
TIMES = ("lt", "rt")
SIDES = {
    "left": hg.Side(time="lt", window="10 seconds"),
    "right": hg.Side(time="rt", window="5 seconds"),
}

JOB = """
[left]
format = "parquet"
path = "{folder}/lt"
time = "lt"
window = "10 seconds"
watermark = "0 seconds"
key = "k"

[right]
format = "parquet"
path = "{folder}/rt"
filter = "{filter}"
time = "rt"
window = "5 seconds"
watermark = "0 seconds"
key = "k"

[join]
budget = {{ rows = 10_000 }}
policy = "fifo"

[sink]
format = "parquet"
path = "{folder}/out/{name}"
trigger = "available-now"
checkpoint = "{folder}/checkpoints/{name}"

[spark]
spark.remote = "{address}"
"""


class Client:
    """A session, its inputs, and what is done with them."""

    def __init__(self, address: str, folder: Path) -> None:
        self.address, self.folder = address, folder
        self.spark: Any = SparkSession.builder.remote(address).getOrCreate()
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

    def real_time(self) -> dict[str, Any]:
        """What is said to a trigger that has no batches, also by later Sparks."""
        frame = self.join.stream(*self.streams())
        try:
            frame.select("k").writeStream.trigger(realTime="5 minutes")
        except hg.SpecError as error:
            return {"said": str(error)}
        return {"said": ""}

    def balanced(self) -> dict[str, Any]:
        """Two shards between which memory may move, and a key split over both."""
        place = self.folder / "balance"
        frame = self.join.stream(*self.streams(), shards=2, balance=place, split_keys=[3])
        query = self.ran(frame.select("k", "lt", "rt"), "balanced")
        figures = figures_of(query.recentProgress[0]["observedMetrics"]["headgate"])
        limits = [of_shard(figures, number) for number in range(2)]
        return {
            "pairs": self.rows_of("balanced"),
            "limits": [None if each is None else each["limit"] for each in limits],
            "copied": figures["copied"],
        }

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

    def _job(self, name: str, filter: str = "k >= 0") -> Path:
        file = self.folder / f"{name}.toml"
        given = {"folder": self.folder, "address": self.address, "name": name, "filter": filter}
        file.write_text(JOB.format(**given))
        return file

    def _again(self) -> None:
        """Commands stop the session that they are given."""
        self.spark = SparkSession.builder.remote(self.address).getOrCreate()
        hg.configure(self.spark)

    def job(self) -> dict[str, Any]:
        """``headgate run``, and what it says."""
        said = io.StringIO()
        status = job_command.run(self._job("job"), self.folder / "job.log", Console(file=said))
        self._again()
        return {"status": status, "said": said.getvalue(), "pairs": self.rows_of("job")}

    def looked_at(self) -> dict[str, Any]:
        """What ``headgate run --check`` and ``headgate plan`` find out about jobs."""
        wrong = self._job("wrong", filter="kk >= 0")
        problems = problems_of(self.spark, read_job(wrong))
        line = 1 + wrong.read_text().splitlines().index('filter = "kk >= 0"')
        return {
            "right": [str(each) for each in problems_of(self.spark, read_job(self._job("right")))],
            "wrong": [[each.line - line, each.message] for each in problems],
            "pairs": profiled(self.spark, read_job(self._job("plan"))).pairs.count,
        }

    def doctor(self) -> dict[str, Any]:
        """``headgate doctor --remote``."""
        said = io.StringIO()
        status = doctor_command.run(self.address, True, True, Console(file=said))
        self._again()
        return {"status": status, "found": json.loads(said.getvalue())["findings"]}


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
