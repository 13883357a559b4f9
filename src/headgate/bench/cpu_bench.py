"""Benchmark of CPU budgets in live queries: a minute at each of three overloads, and a burst."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from headgate.bench.live_query import LiveQuery, LiveStreams, LiveStretch, joined
from headgate.spec import Budget

CPU = 0.5
WINDOW = "10 seconds"
RATE = 60_000
"""Rows a second of each side."""
KEYS = (100_000, 20_000, 5_000)
"""Fewer keys make more pairs of the same rows: work that would take more and more of a core."""
WARM_UP_S, MINUTE_S = 45.0, 60.0
CALM, BURST_KEYS = 10_000, 10_000
"""Of the burst: rows a second before it, a tenth of those in it."""


@dataclass(frozen=True)
class Held:
    """A measured stretch of a query under a CPU budget."""

    what: str
    stretch: LiveStretch
    exact_pairs: float
    """What the exact join would have made of the rows that came, as expected."""

    @property
    def recall(self) -> float:
        """Pairs made, as a share of `exact_pairs`."""
        return self.stretch.total("pairs") / self.exact_pairs


def exact_rate(rate: float, keys: int) -> float:
    """Pairs per second of the exact join: each row matches those of its key within ten seconds."""
    return 2 * rate * rate * 10 / keys


def overloads(session: SparkSession, folder: Path) -> Iterator[Held]:
    """Measure a minute under half a core at each factor of overload."""
    for keys in KEYS:
        place = folder / f"{keys}"
        streams = LiveStreams(place / "in", RATE, keys)
        streams.start()
        query = LiveQuery(
            joined(session, place / "in", Budget(cpu=CPU), WINDOW), place / "checkpoint", streams
        )
        try:
            query.watch(WARM_UP_S)
            minute = query.watch(MINUTE_S)
        finally:
            query.stop()
            streams.stop()
        yield Held(f"{keys:,} keys", minute, exact_rate(RATE, keys) * minute.seconds)


def burst(session: SparkSession, folder: Path) -> Iterator[Held]:
    """Measure before, during and after half a minute with ten times as many rows."""
    streams = LiveStreams(folder / "in", CALM, BURST_KEYS)
    streams.start()
    query = LiveQuery(
        joined(session, folder / "in", Budget(cpu=CPU), WINDOW), folder / "checkpoint", streams
    )
    try:
        query.watch(WARM_UP_S)
        for what, rate, seconds in (
            ("before", CALM, 20.0),
            ("burst", 10 * CALM, 30.0),
            ("next 12 s", CALM, 12.0),
            ("after", CALM, 20.0),
        ):
            streams.rate = rate
            stretch = query.watch(seconds)
            yield Held(what, stretch, exact_rate(rate, BURST_KEYS) * stretch.seconds)
    finally:
        query.stop()
        streams.stop()
