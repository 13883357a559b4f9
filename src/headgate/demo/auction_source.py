"""A Spark data source that generates the demo's auctions and bids as they are read.

    spark.dataSource.register(AuctionSource)
    spark.readStream.format("headgate_auctions").option("side", "bids").load()

Options: ``side`` ("auctions" or "bids"), ``rows`` (of both sides), ``seed``, ``batch`` (arrivals of
both sides per micro-batch) and ``partitions``. Offsets count the arrivals of both sides, so the two
streams of a join advance together, and a replay from any offset reads the same rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast, get_args

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from headgate.demo.auctions import SideName, auction_stream
from headgate.spec import SpecError

SCHEMAS: dict[SideName, str] = {
    "auctions": ("id long, seller long, category string, opened_at timestamp, closes_at timestamp"),
    "bids": "auction long, bidder long, price double, bid_at timestamp",
}
DEFAULTS = {"rows": 1_000_000, "seed": 0, "batch": 80_000, "partitions": 2}


@dataclass(frozen=True)
class Stretch(InputPartition):
    """Arrivals from number ``first`` up to, not including, ``last``."""

    first: int
    last: int


@dataclass(frozen=True)
class Request:
    """The options, parsed."""

    side: SideName
    rows: int
    seed: int
    batch: int
    partitions: int

    @classmethod
    def of_options(cls, options: Any) -> "Request":
        """Parse and check the options."""
        side = options.get("side")
        if side not in get_args(SideName):
            raise SpecError(f'option side={side!r}: give "auctions" or "bids"')
        numbers = {}
        for name, default in DEFAULTS.items():
            given = options.get(name, str(default))
            if not given.isdecimal() or (int(given) < 1 and name != "seed"):
                raise SpecError(f"option {name}={given!r}: give a whole number")
            numbers[name] = int(given)
        return cls(cast(SideName, side), **numbers)

    @property
    def arrivals(self) -> int:
        """How many rows of both sides there are."""
        return auction_stream(self.rows, self.seed).rows

    def stretches(self, first: int, last: int) -> list[Stretch]:
        """Split a range of arrivals into partitions."""
        if first >= last:
            return []
        cuts = np.linspace(first, last, self.partitions + 1).astype(int).tolist()
        return [Stretch(*ends) for ends in pairwise(cuts)]

    def read(self, stretch: Stretch) -> Iterator[pa.RecordBatch]:
        """The rows of a stretch."""
        stream = auction_stream(self.rows, self.seed)
        yield from stream.between(self.side, stretch.first, stretch.last).to_batches()


class AuctionSource(DataSource):
    """The data source ``headgate_auctions``; see the module."""

    @classmethod
    def name(cls) -> str:
        """The name to give to ``format``."""
        return "headgate_auctions"

    def schema(self) -> str:
        """The columns of the side asked for."""
        return SCHEMAS[Request.of_options(self.options).side]

    def reader(self, schema: StructType) -> "AuctionReader":
        """Return the batch reader."""
        return AuctionReader(Request.of_options(self.options))

    def streamReader(self, schema: StructType) -> "AuctionStreamReader":
        """Return the streaming reader."""
        return AuctionStreamReader(Request.of_options(self.options))


class AuctionReader(DataSourceReader):
    """Reads a whole side."""

    def __init__(self, request: Request) -> None:
        self._request = request

    def partitions(self) -> Sequence[Stretch]:
        """Split all arrivals into partitions."""
        return self._request.stretches(0, self._request.arrivals)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a partition."""
        return self._request.read(cast(Stretch, partition))


class AuctionStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a side in batches of a fixed number of arrivals, until the end."""

    def __init__(self, request: Request) -> None:
        self._request = request

    def initialOffset(self) -> dict[str, int]:
        """The offset before the first arrival."""
        return {"arrivals": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        """Arrivals per batch, from the option ``batch``."""
        return ReadMaxRows(self._request.batch)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        """The offset one batch further on, or the end."""
        end = self._request.arrivals
        if not isinstance(limit, ReadAllAvailable):
            end = min(start["arrivals"] + self._request.batch, end)
        return {"arrivals": end}

    def prepareForTriggerAvailableNow(self) -> None:
        """Do nothing: the stream has an end of its own."""

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[Stretch]:
        """Split a batch's arrivals into partitions."""
        return self._request.stretches(start["arrivals"], end["arrivals"])

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a partition."""
        return self._request.read(cast(Stretch, partition))
