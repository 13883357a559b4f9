"""A stream without end, in chunks: hot keys drift, rows come in bursts, sides fall silent."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

SCHEMAS = (
    pa.schema([("key", pa.int64()), ("at", pa.timestamp("us", "UTC")), ("price", pa.float64())]),
    pa.schema([("key", pa.int64()), ("bt", pa.timestamp("us", "UTC")), ("fee", pa.float64())]),
)
START_US = 1_700_000_000_000_000
CALM_US, BURST_US, SILENCE_US = 60_000_000, 6_000_000, 1_200_000_000
BURST_EVERY, SILENCE_EVERY, ONE_SIDED_EVERY = 7, 23, 11


@dataclass(frozen=True)
class SoakedStream:
    """Chunks of rows of both sides, each from its number alone.

    Parameters
    ----------
    rows
        Of both sides in a chunk.
    keys
        In circulation at a time; the hottest have some forty times the rows of the mean.
    drift
        How many keys are replaced from one chunk to the next.
    """

    rows: int = 1_000_000
    keys: int = 2_000_000
    drift: int = 2_000
    seed: int = 1

    def span_us(self, chunk: int) -> int:
        """The event time that a chunk covers: a minute, or a tenth of it in a burst."""
        return BURST_US if chunk % BURST_EVERY == BURST_EVERY - 1 else CALM_US

    def begin_us(self, chunk: int) -> int:
        """When a chunk begins; longer than a window after the last where streams were silent."""
        bursts, silences = chunk // BURST_EVERY, chunk // SILENCE_EVERY
        return START_US + (chunk - bursts) * CALM_US + bursts * BURST_US + silences * SILENCE_US

    def chunk(self, number: int) -> tuple[pa.Table, pa.Table]:
        """The rows of a chunk; now and then the right side has none."""
        rng = np.random.default_rng((self.seed, number))
        left, right = self.rows // 2, self.rows - self.rows // 2
        if number % ONE_SIDED_EVERY == ONE_SIDED_EVERY - 1:
            left, right = self.rows, 0
        return self._side(rng, number, left, 0), self._side(rng, number, right, 1)

    def _side(self, rng: np.random.Generator, chunk: int, rows: int, side: int) -> pa.Table:
        rank = np.floor(self.keys * rng.random(rows) ** 3).astype(np.int64)
        time = self.begin_us(chunk) + np.sort(rng.integers(0, self.span_us(chunk), rows))
        return pa.table(
            [
                rank + chunk * self.drift,
                pa.array(time, SCHEMAS[side].field(1).type),
                rng.random(rows),
            ],
            schema=SCHEMAS[side],
        )
