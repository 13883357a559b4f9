"""What a profile is computed from, wherever the rows are: counts of all rows, and a sample.

The sample is of keys: it has all rows of a sampled key, so that each of its matches is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from headgate.columns.codes import NULL, encode_together
from headgate.columns.times import NO_TIME
from headgate.profiling.facts import Both, SideRows
from headgate.profiling.skew import KeyCounts
from headgate.profiling.tally import Rows
from headgate.spec import Keys, RowWindow, Side, SpecError

MOST_ROWS = 2_000_000
"""Rows that are joined at most; of larger inputs, a sample of the keys is."""
HEAVY_KEYS = 10_000
"""Keys of each side that a profile names; the others are only counted."""
AIM = 0.9
"""The part of ``most_rows`` aimed at: how many rows sampled keys have is a matter of luck."""
SMALLER = 0.7
SMALLER_SHARES = 60


@dataclass(frozen=True)
class Question:
    """What is to be profiled."""

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
                    f"the {name} window is {side.window}: a profile tells ages in time, give a "
                    f'window in time (such as "10 minutes")'
                )
        for name, given in (("most_rows", self.most_rows), ("heavy_keys", self.heavy_keys)):
            if not isinstance(given, int) or isinstance(given, bool) or given < 1:
                raise SpecError(f"{name}={given!r}: give a whole number, one or more")

    @property
    def windows(self) -> Both[int]:
        """The sides' windows, in microseconds."""
        return Both(self.sides.left.window.span, self.sides.right.window.span)


@dataclass(frozen=True)
class Material:
    """Counts over all rows, and the rows of the sampled keys."""

    rows: Both[SideRows]
    keys: Both[KeyCounts]
    sample: Both[Rows]
    share: float
    """The share of the keys that are in the sample."""
    wanted_share: float
    """The share that was meant to be; less was taken where heavy keys would not fit."""

    @property
    def covers(self) -> tuple[int, int] | None:
        """The time of the first row of either side and of the last; None without any."""
        times = [us for side in self.rows for us in (side.first_us, side.last_us) if us is not None]
        return (min(times), max(times)) if times else None


def coded_sample(
    keys: Both[Sequence[pa.ChunkedArray]], times: Both[np.ndarray]
) -> tuple[Both[Rows], int]:
    """Sampled rows in order of key and time, and how many keys they have.

    Rows without a key or a time can match nothing and are left out.
    """
    codes, count = encode_together([keys.left, keys.right])
    kept = []
    for code, time in zip(codes, times, strict=True):
        matches = (code != NULL) & (time != NO_TIME)
        kept.append(Rows.sorted(time[matches], code[matches], count))
    return Both(kept[0], kept[1]), count


def shares_to_try(total_rows: int, most_rows: int) -> list[float]:
    """Shares of the keys, the wanted one first, then smaller ones in case of heavy keys.

    Examples
    --------
    >>> shares_to_try(100, 200), [round(share, 4) for share in shares_to_try(400, 200)[:3]]
    ([1.0], [0.45, 0.315, 0.2205])
    """
    if total_rows <= most_rows:
        return [1.0]
    wanted = AIM * most_rows / total_rows
    return [wanted * SMALLER**step for step in range(SMALLER_SHARES)]
