"""The input of a profile, from any source: counts over all rows, and a sample of keys.

Sampling is by key: all rows of a sampled key are included, so none of its matches is lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from headgate.columns.key_codes import NULL
from headgate.columns.times import NO_TIME
from headgate.profiles.facts import Both, SideFacts
from headgate.profiles.key_choice import KeyChoice
from headgate.profiles.match_counts import KeyedRows
from headgate.profiles.skew import KeyCounts
from headgate.spec import Keys, RowWindow, Side, SpecError

MOST_ROWS = 2_000_000
"""Rows that are joined at most; of larger inputs, a sample of the keys is."""
HEAVY_KEYS = 10_000
"""Keys of each side that a profile names; the others are only counted."""


@dataclass(frozen=True)
class Question:
    """The join to be profiled."""

    keys: Keys
    sides: Both[Side]
    most_rows: int = MOST_ROWS
    heavy_keys: int = HEAVY_KEYS

    def __post_init__(self) -> None:
        for name, side in (("left", self.sides.left), ("right", self.sides.right)):
            if not isinstance(side, Side):
                raise SpecError(f"{name}={side!r} is not accepted: give a Side")
            if isinstance(side.window, RowWindow) and side.window.rows:
                raise SpecError(
                    f"the {name} window is {side.window}: a profile measures ages in time, give a "
                    f'window in time (such as "10 minutes")'
                )
        for name, given in (("most_rows", self.most_rows), ("heavy_keys", self.heavy_keys)):
            if not isinstance(given, int) or isinstance(given, bool) or given < 1:
                raise SpecError(f"{name}={given!r}: give a whole number, one or more")

    def compared(self, side: int) -> list[str]:
        """The columns of a side that every kind of join stores: its keys, and its time."""
        keys = (self.keys.left, self.keys.right)[side]
        return list(dict.fromkeys((*keys, self.sides[side].time)))

    @property
    def windows(self) -> Both[int]:
        """The sides' windows, in microseconds."""
        return Both(self.sides.left.window.span, self.sides.right.window.span)


@dataclass(frozen=True)
class ProfileMaterial:
    """Counts over all rows, and the rows of the sampled keys."""

    rows: Both[SideFacts]
    keys: Both[KeyCounts]
    sample: Both[KeyedRows]
    choice: KeyChoice
    """Which keys the sample has."""
    values: np.ndarray | None = None
    """By code: the key itself, where keys are one column of whole numbers."""

    @property
    def covers(self) -> tuple[int, int] | None:
        """The time of the first row of either side and of the last; None without any."""
        times = [us for side in self.rows for us in (side.first_us, side.last_us) if us is not None]
        return (min(times), max(times)) if times else None


def sampled(
    choice: KeyChoice, codes: Both[np.ndarray], times: Both[np.ndarray], hashes: np.ndarray
) -> Both[KeyedRows]:
    """The rows of the chosen keys, in order of key and time.

    Rows without a key or a time can match nothing and are left out.

    Parameters
    ----------
    codes, times
        For each row of each side.
    hashes
        For each code.
    """
    every = choice.share >= 1.0
    taken = np.ones(len(hashes), np.bool_) if every else choice.taken(hashes)
    weight = np.ones(len(hashes)) if every else choice.weight(hashes)
    drawn = choice.drawn(hashes)
    kept = []
    for code, time in zip(codes, times, strict=True):
        keep = (code != NULL) & (time != NO_TIME)
        keep[keep] = taken[code[keep]]
        kept.append(KeyedRows.sorted(time[keep], code[keep], weight, drawn))
    return Both(kept[0], kept[1])


def whole_numbers(
    columns: Sequence[Sequence[pa.ChunkedArray]], codes: Sequence[np.ndarray], count: int
) -> np.ndarray | None:
    """The key of each code, where keys are one integer column; None otherwise.

    Examples
    --------
    >>> keys = [[pa.chunked_array([[7, None, 9]])], [pa.chunked_array([[9, 4]])]]
    >>> codes = [np.array([0, NULL, 1]), np.array([1, 2])]
    >>> whole_numbers(keys, codes, 3).tolist()
    [7, 9, 4]
    """
    if any(len(side) != 1 or not pa.types.is_integer(side[0].type) for side in columns):
        return None
    values = np.zeros(count, np.int64)
    for (column,), code in zip(columns, codes, strict=True):
        known = code != NULL
        values[code[known]] = column.cast(pa.int64(), safe=False).fill_null(0).to_numpy()[known]
    return values
