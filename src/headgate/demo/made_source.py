"""Spark data sources that make a stream's rows as they are read.

    spark.dataSource.register(ShopSource)
    spark.readStream.format("headgate_shop").option("side", "orders").load()

Options: ``side`` (one of the two), ``rows`` (of both sides), ``seed``, ``batch`` (arrivals of
both sides per micro-batch) and ``partitions``. Offsets count the arrivals of both sides, so the two
streams of a join advance together, and a replay from any offset reads the same rows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, cast

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

from headgate.demo.auctions import auction_stream
from headgate.demo.made_stream import MadeStream
from headgate.demo.shop import shop_stream
from headgate.spec import SpecError

DEFAULTS = {"rows": 1_000_000, "seed": 0, "batch": 80_000, "partitions": 2}


@dataclass(frozen=True)
class MadeStretch(InputPartition):
    """Arrivals from number ``first`` up to, not including, ``last``."""

    first: int
    last: int


@dataclass(frozen=True)
class MadeRequest:
    """The options, parsed, and what makes the stream of so many rows from a seed."""

    make: Callable[[int, int], MadeStream]
    side: str
    rows: int
    seed: int
    batch: int
    partitions: int

    @classmethod
    def of_options(
        cls, options: Any, make: Callable[[int, int], MadeStream], sides: Sequence[str]
    ) -> "MadeRequest":
        """Parse and check the options."""
        side = options.get("side")
        if side not in sides:
            raise SpecError(f"option side={side!r}: give {' or '.join(map(_quoted, sides))}")
        numbers = {}
        for name, default in DEFAULTS.items():
            given = options.get(name, str(default))
            if not given.isdecimal() or (int(given) < 1 and name != "seed"):
                raise SpecError(f"option {name}={given!r}: give a whole number")
            numbers[name] = int(given)
        return cls(make, side, **numbers)

    @property
    def arrivals(self) -> int:
        """How many rows of both sides there are."""
        return self.make(self.rows, self.seed).rows

    def stretches(self, first: int, last: int) -> list[MadeStretch]:
        """Split a range of arrivals into partitions."""
        if first >= last:
            return []
        cuts = np.linspace(first, last, self.partitions + 1).astype(int).tolist()
        return [MadeStretch(*ends) for ends in pairwise(cuts)]

    def read(self, stretch: MadeStretch) -> Iterator[pa.RecordBatch]:
        """The rows of a stretch."""
        stream = self.make(self.rows, self.seed)
        yield from stream.between(self.side, stretch.first, stretch.last).to_batches()


class MadeSource(DataSource):
    """A data source of made-up rows; see the module. Subclasses say which."""

    title: ClassVar[str]
    schemas: ClassVar[Mapping[str, str]]
    make: ClassVar[Callable[[int, int], MadeStream]]

    @classmethod
    def name(cls) -> str:
        """The name to give to ``format``."""
        return cls.title

    def schema(self) -> str:
        """The columns of the side asked for."""
        return self.schemas[self._request.side]

    def reader(self, schema: StructType) -> "MadeReader":
        """Return the batch reader."""
        return MadeReader(self._request)

    def streamReader(self, schema: StructType) -> "MadeStreamReader":
        """Return the streaming reader."""
        return MadeStreamReader(self._request)

    @property
    def _request(self) -> MadeRequest:
        return MadeRequest.of_options(self.options, type(self).make, tuple(self.schemas))


class AuctionSource(MadeSource):
    """The data source ``headgate_auctions``: the sides are "auctions" and "bids"."""

    title = "headgate_auctions"
    schemas: ClassVar = {
        "auctions": (
            "id long, seller long, category string, opened_at timestamp, closes_at timestamp"
        ),
        "bids": "auction long, bidder long, price double, bid_at timestamp",
    }
    make = staticmethod(auction_stream)


class ShopSource(MadeSource):
    """The data source ``headgate_shop``: the sides are "clicks" and "orders"."""

    title = "headgate_shop"
    schemas: ClassVar = {
        "clicks": "product long, visitor long, clicked_at timestamp",
        "orders": "product long, amount double, ordered_at timestamp",
    }
    make = staticmethod(shop_stream)


class MadeReader(DataSourceReader):
    """Reads a whole side."""

    def __init__(self, request: MadeRequest) -> None:
        self._request = request

    def partitions(self) -> Sequence[MadeStretch]:
        """Split all arrivals into partitions."""
        return self._request.stretches(0, self._request.arrivals)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a partition."""
        return self._request.read(cast(MadeStretch, partition))


class MadeStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a side in batches of a fixed number of arrivals, until the end."""

    def __init__(self, request: MadeRequest) -> None:
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

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[MadeStretch]:
        """Split a batch's arrivals into partitions."""
        return self._request.stretches(start["arrivals"], end["arrivals"])

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a partition."""
        return self._request.read(cast(MadeStretch, partition))


def _quoted(side: str) -> str:
    return f'"{side}"'
