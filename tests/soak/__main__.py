"""Soak joins: `python -m tests.soak [--arrivals 1000000000] [--on-spark 100000000]`.

Long streams at 1 % of the memory that the exact join takes, with drift, bursts, silence and
redefinitions: curves of memory, state, files, handles, threads and time. Ends with status 1 where
something goes on growing or is over budget. With --out, what was run is added to a JSON file.
"""

import argparse
import math
import resource
import sys
import time
from functools import partial
from pathlib import Path

from rich.console import Console

from tests.campaigns import add_campaign
from tests.soak import in_process, on_spark
from tests.soak.curve import Curve
from tests.soak.soaked_stream import SoakedStream

PERCENT = 1.0
BLOCK_CACHE = "spark.sql.streaming.stateStore.rocksdb.blockCacheSizeMB"


def cpu_s() -> float:
    """CPU seconds of this program and of what it started and has ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def main() -> None:
    """Run the soaks that the arguments say."""
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--arrivals", type=lambda text: int(float(text)), default=10**9)
    parser.add_argument("--on-spark", type=lambda text: int(float(text)), default=10**8)
    parser.add_argument("--chunk", type=lambda text: int(float(text)), default=10**6)
    parser.add_argument("--minutes", type=float, default=math.inf, help="of each soak, at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="JSON file of campaigns to add to")
    parser.add_argument("--percent", type=float, default=PERCENT, help="of the memory in windows")
    parser.add_argument("--name", default="On Spark", help="of the curve on Spark, and its files")
    parser.add_argument("--block-cache", type=int, help="MB of each RocksDB, Spark's own is 8")
    asked = parser.parse_args()
    stream = SoakedStream(asked.chunk, 2 * asked.chunk, asked.chunk // 500, asked.seed)
    console = Console()
    docs = Path(__file__).parents[2] / "docs" if asked.out else Path("out/soak")
    curves: list[Curve] = []
    wrong: list[str] = []
    settings = {} if asked.block_cache is None else {BLOCK_CACHE: str(asked.block_cache)}
    with_settings = partial(on_spark.soak, settings=settings)
    for arrivals, soak in ((asked.arrivals, in_process.soak), (asked.on_spark, with_settings)):
        if not arrivals:
            continue
        deadline = time.time() + 60 * asked.minutes
        curve, found = soak(
            arrivals, asked.percent, stream, lambda line: console.print(line), deadline
        )
        if soak is with_settings:
            curve.title = asked.name
        console.print(curve.table())
        curve.save_values(docs / "measured")
        curve.save_picture(docs / "images")
        curves.append(curve)
        wrong += found
    console.print("\n".join(wrong) or "Nothing grew, nothing was over budget.")
    if asked.out:
        add_campaign(
            asked.out,
            "soak",
            seeds=f"{asked.seed}:{asked.seed + 1}",
            counts={
                "arrivals": sum(each.arrivals[-1] for each in curves),
                **{each.title.lower(): each.arrivals[-1] for each in curves},
            },
            failed=wrong,
            seconds=cpu_s(),
        )
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
