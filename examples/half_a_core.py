"""Survive a burst of ten times the rows without more CPU time.

Posts are joined with answers on their topic within five seconds. For ten of forty seconds a
crawler sends nine times as many extra posts, on topics without answers. Within
`hg.Budget(cpu=...)` the join skips work where that costs the fewest results: it stores few of the
crawler's posts and lets some rows pass without probing. During the burst it produces more than half
of the results; before and after it, nearly all.

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
TOPICS, CRAWLED_TOPICS = 500, 100_000


def feeds(rate: int) -> tuple[pa.Table, pa.Table]:
    """Posts and answers, so many rows of each a second; ten times as many posts in the burst."""
    rng = np.random.default_rng(7)

    def table(time: str, seconds: np.ndarray, topics: np.ndarray) -> pa.Table:
        order = np.argsort(seconds, kind="stable")
        micros = START_US + (seconds[order] * 1e6).astype(np.int64)
        return pa.table({"topic": topics[order], time: pa.array(micros).cast(pa.timestamp("us"))})

    def usual() -> tuple[np.ndarray, np.ndarray]:
        count = rate * LASTS_S
        return rng.uniform(0, LASTS_S, count), rng.integers(0, TOPICS, count)

    seconds, topics = usual()
    crawled = 9 * rate * (BURST[1] - BURST[0])
    more = rng.uniform(*BURST, crawled), TOPICS + rng.integers(0, CRAWLED_TOPICS, crawled)
    posts = table("posted", np.concatenate([seconds, more[0]]), np.concatenate([topics, more[1]]))
    return posts, table("answered", *usual())


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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rate", type=int, default=2000, help="rows a second of each feed")
    parser.add_argument("--cpu", type=float, default=0.03, help="the part of a core")
    given = parser.parse_args()
    tables = feeds(given.rate)
    exact = join(hg.Budget(rows=10**9)).run(*tables)
    began = process_time()
    outcome = join(hg.Budget(cpu=given.cpu)).run(*tables)
    taken = (process_time() - began) / LASTS_S
    print("from        rows  result rows  of the exact result")
    for made, whole in zip(stretches(tables, outcome), stretches(tables, exact), strict=True):
        share = made.pairs / max(whole.pairs, 1)
        bar = "▇" * round(20 * share)
        print(f"{made.second:2} s  {made.rows:8,}  {made.pairs:11,}  {100 * share:5.1f} %  {bar}")
    stats = outcome.stats
    print(f"It took {taken:.3f} of a core, of {given.cpu:g} allowed.")
    print(f"{stats.unstored:,} rows were not stored, {stats.unprobed:,} did not look for partners.")
    print(f"Recall {outcome.recall:.3f}; the join itself estimated {outcome.estimated_recall}.")


if __name__ == "__main__":
    main()
