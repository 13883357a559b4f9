"""Prints a digest of the result of every policy and kind of join, to compare two machines.

Run it on both, or under an emulator:  python tools/result_digests.py > x86_64.txt
The outputs must be equal, except for the first line, which names the machine.
"""

import hashlib
import platform

import pyarrow as pa

import headgate as hg
from headgate.demo.flights import new_york_flights

ROWS = 8_000
POLICIES = [
    "random",
    "fifo",
    "until-expiry",
    "prob",
    "life",
    "age",
    "lru",
    "lfu",
    "ttl",
    "join-to-live",
    "size",
    "ijoin",
    "greedy",
    "auto",
]


def digest(table: pa.Table) -> str:
    """Of names, types and values, in order."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return hashlib.sha256(sink.getvalue()).hexdigest()[:16]


def main() -> None:
    flights = new_york_flights()
    landings, departures = flights.landings.slice(0, ROWS), flights.departures.slice(0, ROWS)
    print(platform.machine())
    for policy in POLICIES:
        weighted = policy in ("ijoin", "greedy")
        join = hg.WindowJoin(
            on="plane",
            left=hg.Side(time="landed_at", window="7 days"),
            right=hg.Side(time="departed_at", window="0 seconds"),
            budget=hg.Budget(rows=700, monitor=0.1),
            goal=hg.MaxImportance(left="minutes_late") if weighted else hg.MaxSubset(),
            policy=policy,
        )
        show(policy, join.run(landings, departures))
    for how in ("inner", "left", "right", "full", "semi", "anti"):
        join = hg.WindowJoin(
            how=how,
            on="plane",
            left=hg.Side(time="landed_at", window="2 days"),
            right=hg.Side(time="departed_at", window="6 hours"),
            budget=hg.Budget(memory="30 kB"),
            policy="prob",
        )
        show(how, join.run(landings, departures))
    sample = hg.WindowJoin(
        on="plane",
        left=hg.Side(time="landed_at", window="2 days"),
        right=hg.Side(time="departed_at", window="6 hours"),
        budget=hg.Budget(rows=300),
        goal=hg.Sample("cluster"),
    )
    show("sample", sample.run(landings, departures))


def show(name: str, outcome: hg.Outcome) -> None:
    """A line: rows, evictions, recall to the last bit, digest."""
    rows = outcome.pairs.num_rows
    print(name, rows, outcome.stats.shed, outcome.recall, digest(outcome.pairs), flush=True)


if __name__ == "__main__":
    main()
