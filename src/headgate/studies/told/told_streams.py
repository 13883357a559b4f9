"""Streams on which a column of the rows tells which of them will match, or when."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa

from headgate.spec.quantity import SECOND_US
from headgate.studies.real.real_stream import DAY_S, EARLY_S, FLIGHTS
from headgate.studies.streams import START_US

WINDOW_S, WINDOWS = 100, 12


@dataclass(frozen=True)
class ToldStream:
    """Two streams, how long rows wait, and the columns that may tell something."""

    left: pa.Table
    right: pa.Table
    windows: tuple[str, str]
    features: tuple[str, ...]
    shares: tuple[float, ...] = field(default=(0.05, 0.1, 0.2))
    """Of the memory that all rows take, what joins get."""


def orders(rows: int, seed: int) -> ToldStream:
    """Orders wait for their payment; most of those not approved are never paid."""
    rng = np.random.default_rng(seed)
    at = _times(rng, rows)
    status = rng.choice(["approved", "open", "draft", "rejected", "test"], rows, p=_STATUSES)
    chance = pd.Series(status).map({"approved": 0.9, "open": 0.1}).fillna(0.0).to_numpy()
    paid = np.flatnonzero(rng.random(rows) < chance)
    right = _later(
        np.arange(rows)[paid], at[paid] + rng.integers(0, WINDOW_S * SECOND_US, len(paid))
    )
    left = _table(np.arange(rows), at, status=status, shop=_noise(rng, rows))
    return ToldStream(left, right, (_WINDOW, "0 seconds"), ("status", "shop"))


def parcels(rows: int, seed: int) -> ToldStream:
    """Parcels wait for their delivery; each carrier takes its own time."""
    rng = np.random.default_rng(seed)
    at = _times(rng, rows)
    carrier = rng.choice(["bike", "van", "train", "ship"], rows)
    begins = (
        pd.Series(carrier).map({"bike": 0.0, "van": 0.2, "train": 0.55, "ship": 0.9}).to_numpy()
    )
    came = rng.random(rows) < 0.8
    after = (begins + 0.08 * rng.random(rows)) * WINDOW_S * SECOND_US
    right = _later(np.arange(rows)[came], (at + after.astype(np.int64))[came])
    left = _table(np.arange(rows), at, carrier=carrier, weight=rng.random(rows))
    return ToldStream(left, right, (_WINDOW, "0 seconds"), ("carrier", "weight"))


def visits(rows: int, seed: int) -> ToldStream:
    """Both sides wait; users come by Zipf's law, and those of one device never match."""
    rng = np.random.default_rng(seed)
    users = rows // 20
    chance = np.arange(1, users + 1) ** -0.8
    sides = []
    for side in (0, 1):
        device = rng.choice(["phone", "desktop", "crawler"], rows, p=[0.25, 0.15, 0.6])
        user = np.searchsorted(np.cumsum(chance / chance.sum()), rng.random(rows))
        # What crawlers look at, nobody else does.
        user = np.where(device == "crawler", (1 + side) * 10 * rows + user, user)
        sides.append(_table(user, _times(rng, rows), device=device, page=_noise(rng, rows)))
    return ToldStream(sides[0], sides[1], (_WINDOW, _WINDOW), ("device", "page"))


def unrelated(rows: int, seed: int) -> ToldStream:
    """As the visits, without crawlers: no column tells anything."""
    told = visits(rows, seed)
    rng = np.random.default_rng(seed + 1000)
    left, right = (
        table.set_column(2, "device", pa.array(rng.choice(["phone", "desktop"], rows)))
        for table in (told.left, told.right)
    )
    return ToldStream(left, right, told.windows, told.features)


def flights() -> ToldStream:
    """A year of departures: an aircraft waits seven days for its next departures."""
    rows = FLIGHTS.table("flights.csv.zip").dropna(subset=["dep_delay", "tailnum"])
    minutes = rows["minute"] + rows["dep_delay"]
    at = pd.to_datetime(rows["time_hour"]) + pd.to_timedelta(minutes, unit="min")
    at_us = (at - at.min()).dt.total_seconds().to_numpy() * SECOND_US + START_US
    rows = rows.assign(at=at_us.astype(np.int64)).sort_values("at", kind="stable")
    names = ("carrier", "origin", "dest", "distance", "hour")
    left = _table(
        rows["tailnum"].to_numpy(),
        rows["at"].to_numpy() + EARLY_S * SECOND_US,
        **{name: rows[name].to_numpy() for name in names},
    )
    right = _table(rows["tailnum"].to_numpy(), rows["at"].to_numpy())
    return ToldStream(left, right, (f"{7 * DAY_S} seconds", "0 seconds"), names)


GENERATED: dict[str, Callable[[int, int], ToldStream]] = {
    "orders: status": orders,
    "parcels: carrier": parcels,
    "visits: device and user": visits,
    "visits: nothing": unrelated,
}
_STATUSES = (0.1, 0.2, 0.3, 0.25, 0.15)
_BEGINS = {"bike": 0.0, "van": 0.2, "train": 0.55, "ship": 0.9}
_WINDOW = f"{WINDOW_S} seconds"


def _times(rng: np.random.Generator, rows: int) -> np.ndarray:
    return np.sort(rng.integers(0, WINDOWS * WINDOW_S * SECOND_US, rows)) + START_US


def _noise(rng: np.random.Generator, rows: int) -> np.ndarray:
    return rng.choice([f"n{number}" for number in range(40)], rows)


def _later(keys: np.ndarray, at: np.ndarray) -> pa.Table:
    order = np.argsort(at, kind="stable")
    return _table(keys[order], at[order])


def _table(keys: np.ndarray, at: np.ndarray, **columns: np.ndarray) -> pa.Table:
    return pa.table({"key": keys, "at": pa.array(at, pa.timestamp("us")), **columns})
