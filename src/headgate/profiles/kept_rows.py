"""The rows that a profile keeps, as numbers: enough to run joins on, few enough to store.

Larger inputs are sampled as in `trials/draw.py`: the rows of a share of the keys are kept, and a
share of the rows of heavy keys. Key values are not needed, only which rows share a key.
"""

import base64
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headgate.profiles.facts import Both
from headgate.profiles.profile_material import ProfileMaterial
from headgate.trials.draw import HEAVY_PART, MORE_PROBES, looking_shares

MOST_KEPT = 80_000
"""Rows of both sides that are kept, or so."""
KEPT_SEED = 0x5EED
MOST_BYTES = 1 << 30
"""Of one column of kept rows, unpacked: a small text may hold zeros without end."""


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Rows of both sides in order of time.

    Attributes
    ----------
    time, code
        When each row came (microseconds), and a number for its key.
    stored
        Whether each row may be stored; the others only probe, in place of rows left out.
    looking
        By side and key: the share of a heavy key's rows that probe; zero for keys of which every
        row is kept.
    share
        The share of the keys that is kept, and of the stored rows of heavy keys.
    whole
        Rows of each side, with a key and a time, before any were left out.
    values
        The keys themselves, where they are one integer column and all rows are kept.
    """

    time: Both[np.ndarray]
    code: Both[np.ndarray]
    stored: Both[np.ndarray]
    looking: np.ndarray
    share: float
    whole: Both[int]
    values: np.ndarray | None = field(default=None)

    @property
    def codes(self) -> int:
        """How many different keys there are."""
        return int(self.looking.shape[1])

    @property
    def rows(self) -> int:
        """Kept rows of both sides."""
        return len(self.time.left) + len(self.time.right)

    @property
    def is_whole(self) -> bool:
        """Whether every row is kept."""
        return self.share >= 1.0

    def __repr__(self) -> str:
        of = "" if self.is_whole else f", of {sum(self.whole):,}"
        return f"KeptRows({len(self.time.left):,} and {len(self.time.right):,} rows{of})"

    def to_dict(self) -> dict[str, Any]:
        """For JSON: arrays compressed."""
        return {
            "time": [_packed(np.diff(side, prepend=0)) for side in self.time],
            "code": [_packed(side) for side in self.code],
            "stored": [_packed(np.packbits(side)) for side in self.stored],
            "looking": _packed(self.looking.ravel()),
            "share": self.share,
            "whole": list(self.whole),
            "values": None if self.values is None else _packed(self.values),
        }

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "KeptRows":
        """Rows from what `to_dict` made."""
        time = [np.cumsum(_unpacked(side, np.int64)) for side in given["time"]]
        stored = [
            np.unpackbits(_unpacked(bits, np.uint8), count=len(own)).astype(np.bool_)
            for bits, own in zip(given["stored"], time, strict=True)
        ]
        return cls(
            time=Both(*time),
            code=Both(*(_unpacked(side, np.int32) for side in given["code"])),
            stored=Both(*stored),
            looking=_unpacked(given["looking"], np.float64).reshape(2, -1),
            share=given["share"],
            whole=Both(*given["whole"]),
            values=None if given["values"] is None else _unpacked(given["values"], np.int64),
        )


def _packed(array: np.ndarray) -> str:
    return base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 6)).decode()


def _unpacked(text: str, kind: Any) -> np.ndarray:
    packed = zlib.decompressobj()
    opened = packed.decompress(base64.b64decode(text), MOST_BYTES)
    if not packed.eof:
        raise ValueError(
            f"a column of kept rows is cut short, or has more than {MOST_BYTES:,} bytes"
        )
    return np.frombuffer(opened, kind).copy()


def keep_rows(
    material: ProfileMaterial, stores: tuple[bool, bool], most: int = MOST_KEPT
) -> KeptRows | None:
    """Choose the rows of a profile's input to keep; None where there are none.

    Parameters
    ----------
    stores
        Whether rows of each side are stored at all.
    most
        Approximate limit on the rows of both sides.
    """
    sample, choice = material.sample, material.choice
    found = np.stack([np.diff(side.first) for side in sample])
    if not found.sum():
        return None
    matchable = [
        round(keys.rows * rows.timed / max(rows.rows, 1))
        for keys, rows in zip(material.keys, material.rows, strict=True)
    ]
    whole = Both(matchable[0], matchable[1])
    share = min(choice.share, most / max(sum(whole), 1))
    if share >= 1.0:
        return _taken(material, whole, 1.0, np.ones(found.shape[1], np.bool_), found * 0.0)
    rows = found.sum(axis=0)
    if choice.share < 1.0:
        # Only some of the other heavy keys are known; these stand for the rest.
        is_heavy = (sample.left.weight == 1.0) & (rows > 0)
    else:
        is_heavy = rows > max(HEAVY_PART * most, 1.0)
    random = np.random.default_rng(KEPT_SEED)
    drawn = sample.left.drawn & ~is_heavy & (random.random(len(rows)) < share / choice.share)
    looking = np.zeros(found.shape)
    looking[:, is_heavy] = share
    for side in (0, 1):
        if stores[1 - side] and is_heavy.any():
            more = MORE_PROBES * most / 2
            looking[side, is_heavy] = looking_shares(found[side, is_heavy], share, more)
    return _taken(material, whole, share, drawn | is_heavy, looking)


def _taken(
    material: ProfileMaterial, whole: Both[int], share: float, keys: np.ndarray, looking: np.ndarray
) -> KeptRows:
    """The rows of these keys; of thinned keys, only the share that probes."""
    random = np.random.default_rng(KEPT_SEED + 1)
    number = np.cumsum(keys) - 1
    parts = []
    for side, rows in enumerate(material.sample):
        coin = random.random(len(rows.time))
        is_heavy = looking[side, rows.code] > 0
        some = keys[rows.code] & (~is_heavy | (coin < looking[side, rows.code]))
        at = np.flatnonzero(some)
        at = at[np.argsort(rows.time[at], kind="stable")]
        stored = ~is_heavy[at] | (coin[at] < share)
        parts.append((rows.time[at], number[rows.code[at]].astype(np.int32), stored))
    values = material.values
    time, code, stored = (Both(left, right) for left, right in zip(*parts, strict=True))
    return KeptRows(
        time,
        code,
        stored,
        looking=looking[:, keys],
        share=share,
        whole=whole,
        values=None if values is None or share < 1.0 else values[keys],
    )
