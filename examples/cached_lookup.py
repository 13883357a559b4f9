"""Look up temperatures in a table of energy consumption, through a small cache.

The cache holds a tenth of the table, which is in a DuckDB file; `hg.PostgresTable` can replace it
without another change. Every policy returns the same, exact answer; they differ in how often the
row was cached. LFD knows the future and is the upper bound.

Run it:  python examples/cached_lookup.py
"""

import argparse
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

import headgate as hg

POLICIES = ("lfd", "lru", "lfu", "fifo", "random")


def temperatures(days: int, seed: int = 0) -> pa.Table:
    """Tenths of a degree: a year's rise and fall, and weather that lasts some days."""
    rng = np.random.default_rng(seed)
    weather = np.zeros(days)
    for day in range(1, days):
        weather[day] = 0.72 * weather[day - 1] + rng.normal(scale=4.2)
    season = 12 - 10 * np.cos(2 * np.pi * np.arange(days) / 365.25)
    tenths = np.round(10 * (season + weather)).astype(np.int64)
    return pa.table({"day": np.arange(days), "temperature": tenths})


def write_consumption(file: Path) -> None:
    """A row of projected consumption for every tenth of a degree."""
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "create table consumption as select t::bigint as temperature, "
            "round(30 + abs(t - 180) / 12.0, 2) as megawatts from range(-600, 900) r(t)"
        )


def outcomes(file: Path, days: pa.Table, rows: int) -> dict[str, hg.LookupOutcome]:
    """The lookup under every policy."""
    table = hg.DuckDbTable(file, "consumption")
    return {
        policy: hg.CachedLookup(
            on="temperature", table=table, budget=hg.Budget(rows=rows), policy=policy
        ).run(days, batch_rows=365)
        for policy in POLICIES
    }


def main() -> None:
    """Print hits and queries of every policy."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--days", type=int, default=3650)
    parser.add_argument("--rows", type=int, default=100, help="table rows the cache may hold")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "energy.duckdb"
        write_consumption(file)
        for policy, outcome in outcomes(file, temperatures(given.days), given.rows).items():
            stats = outcome.stats
            average = np.mean(outcome.rows.column("megawatts").to_numpy().astype(float))
            print(
                f"{policy:8} {stats.hit_rate:6.1%} hits, {stats.queries:3} queries for "
                f"{stats.fetched:5,} rows, at most {stats.peak_rows} cached; "
                f"average {average:.2f} MW"
            )


if __name__ == "__main__":
    main()
