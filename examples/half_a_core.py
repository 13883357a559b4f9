"""A burst of ten times the rows, and a join that takes no more of the processor for it.

Two feeds are joined on their topic within five seconds. For ten of forty seconds ten times as many
rows come. Within `hg.Budget(cpu=...)` the join stores fewer rows and lets some arrivals pass
without a look, and says so; when the burst is over it makes what it made before.

Run it:  python examples/half_a_core.py
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time

import numpy as np
import pyarrow as pa

import headgate as hg

START_US = 1_767_225_600_000_000
LASTS_S, BURST = 40, (15, 25)
STEP_S = 5
TOPICS = 150


def feeds(rate: int) -> tuple[pa.Table, pa.Table]:
    """Both feeds, so many rows of each a second and ten times as many in the burst."""
    rng = np.random.default_rng(7)

    def feed(time: str) -> pa.Table:
        usual = rng.uniform(0, LASTS_S, rate * LASTS_S)
        more = rng.uniform(*BURST, 9 * rate * (BURST[1] - BURST[0]))
        micros = START_US + (np.sort(np.concatenate([usual, more])) * 1e6).astype(np.int64)
        topic = rng.integers(0, TOPICS, len(micros))
        return pa.table({"topic": topic, time: pa.array(micros).cast(pa.timestamp("us"))})

    return feed("posted"), feed("answered")


def join(budget: hg.Budget) -> hg.WindowJoin:
    """Rows of both feeds wait five seconds."""
    return hg.WindowJoin(
        on="topic",
        left=hg.Side(time="posted", window="5 seconds"),
        right=hg.Side(time="answered", window="5 seconds"),
        budget=budget,
    )


@dataclass(frozen=True)
class Stretch:
    """Five seconds of the streams."""

    second: int
    rows: int
    pairs: int


def stretches(tables: tuple[pa.Table, pa.Table], outcome: hg.Outcome) -> Iterator[Stretch]:
    """Rows that came and pairs that were made, five seconds at a time."""

    def seconds(table: pa.Table, column: str) -> np.ndarray:
        return (table.column(column).cast(pa.int64()).to_numpy() - START_US) / 1e6

    came = np.concatenate([seconds(tables[0], "posted"), seconds(tables[1], "answered")])
    made = np.maximum(seconds(outcome.pairs, "posted"), seconds(outcome.pairs, "answered"))
    edges = np.arange(0, LASTS_S + STEP_S, STEP_S)
    counts = zip(np.histogram(came, edges)[0], np.histogram(made, edges)[0], strict=True)
    for second, (rows, pairs) in zip(edges[:-1], counts, strict=True):
        yield Stretch(int(second), int(rows), int(pairs))


def main() -> None:
    """Join the feeds, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=int, default=2000, help="rows a second of each feed")
    parser.add_argument("--cpu", type=float, default=0.05, help="the part of a core")
    given = parser.parse_args()
    join(hg.Budget(cpu=given.cpu)).run(*(table.slice(0, 1000) for table in feeds(100)))  # warm up
    tables = feeds(given.rate)
    began = process_time()
    outcome = join(hg.Budget(cpu=given.cpu)).run(*tables)
    taken = (process_time() - began) / LASTS_S
    for stretch in stretches(tables, outcome):
        bar = "▇" * round(20 * stretch.rows / (20 * given.rate * STEP_S))
        print(f"{stretch.second:3} s  {stretch.rows:8,} rows  {stretch.pairs:10,} pairs  {bar}")
    stats = outcome.stats
    print(f"took {taken:.3f} of a core, of {given.cpu:g} allowed")
    print(f"{stats.unstored:,} rows were not stored, {stats.unprobed:,} did not look for partners")
    print(f"recall {outcome.recall:.3f}, estimated {outcome.estimated_recall}")


if __name__ == "__main__":
    main()
