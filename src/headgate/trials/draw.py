"""Draws the rows of a miniature: all rows of a share of keys, and a share of heavy keys' rows.

A drawn key comes with all its rows, so that they match as in the full join, and represents 1 /
share keys. A key with a large part of all rows cannot be drawn like that: with it the miniature
would be dominated by this key, without it the key would be missing. So every heavy key is included,
but only a share of its rows is stored, which keeps its use of memory in proportion; a larger share
may probe, and pairs are weighted for those left out. Rows are then evicted from the miniature as
they would be from the full join.

Keys are identified by hash: one pass counts rows by the hash's leading bits, and all keys in a
bucket with many rows are treated as heavy.
"""

from dataclasses import dataclass

import numpy as np

from headgate.columns.hashing import HASHES
from headgate.compiling import compiled
from headgate.policies.chance import draw_one

BUCKET_BITS = 20
BUCKETS = 1 << BUCKET_BITS
HEAVY_PART = 0.005
"""A key with more than this part of the rows that a miniature aims at is heavy."""
MORE_PROBES = 1.0
"""The most probe-only rows of heavy keys, as a share of all other rows."""
MOST_PAIRS_PART = 0.98
"""They go to the keys that make about this share of the pairs of heavy keys."""
ROW_COINS = 0xD4A3
"""Seed offset, distinct from the random numbers of policies and monitors."""
GOLDEN = 0x9E3779B97F4A7C15
LEFT_OUT, PROBES, STORED = 0, 1, 2


@dataclass(frozen=True)
class Draw:
    """Which rows are taken.

    Parameters
    ----------
    share
        The share of the keys, and of the stored rows of heavy keys.
    looking
        By side and hash bucket: the share of the rows that probe; zero for buckets that are not
        heavy. None where every row is taken.
    seed
        Another seed draws other keys.
    """

    share: float = 1.0
    looking: np.ndarray | None = None
    seed: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether every row is taken."""
        return self.looking is None

    def taken(self, hashes: np.ndarray, has_key: np.ndarray, side: int) -> np.ndarray:
        """The role of each row of a side (uint8): LEFT_OUT, PROBES, or also STORED."""
        done = np.full(len(hashes), STORED, np.uint8)
        if self.looking is not None:
            _take(
                hashes,
                has_key,
                np.uint64(self.share * HASHES),
                offset=np.uint64(self.seed * GOLDEN % (1 << 64)),
                share=self.share,
                looking=self.looking[side],
                seed=np.uint64((self.seed ^ ROW_COINS) % (1 << 64)),
                side=side,
                done=done,
            )
        return done

    def looking_of(self, hashes: np.ndarray, side: int) -> np.ndarray:
        """By key: the share of a side's rows that probe; one where all do."""
        if self.looking is None:
            return np.ones(len(hashes))
        looking = self.looking[side][hashes >> np.uint64(64 - BUCKET_BITS)]
        return np.where(looking > 0, looking, 1.0)

    def is_heavy(self, hashes: np.ndarray) -> np.ndarray:
        """Whether each key is heavy."""
        if self.looking is None:
            return np.zeros(len(hashes), np.bool_)
        heavy: np.ndarray = self.looking[0][hashes >> np.uint64(64 - BUCKET_BITS)] > 0
        return heavy


EVERY_ROW = Draw()


def count_by_hash(hashes: np.ndarray, has_key: np.ndarray) -> np.ndarray:
    """Count rows by hash bucket."""
    counts = np.zeros(BUCKETS, np.int64)
    _count(hashes, has_key, counts)
    return counts


def draw_rows(
    counts: np.ndarray,
    share: float,
    stores: tuple[bool, bool],
    seed: int = 0,
    evenly: bool = False,
) -> Draw:
    """Draw this share of the rows.

    Parameters
    ----------
    counts
        Rows by side and hash bucket.
    stores
        Whether rows of each side are stored at all; where they are not, rows of the other side need
        not probe.
    seed
        Another seed draws other keys.
    evenly
        Whether every row of a heavy key that is taken is stored as well.

    Examples
    --------
    >>> counts = np.ones((2, BUCKETS), np.int64)
    >>> counts[:, 7] = 100_000
    >>> draw = draw_rows(counts, 0.01, (True, False))
    >>> np.flatnonzero(draw.looking[0]).tolist(), draw.looking[:, 7].round(2).tolist()
    ([7], [0.01, 0.12])
    """
    if share >= 1.0:
        return EVERY_ROW
    rows = counts.sum(axis=0)
    aim = share * float(rows.sum())
    heavy = np.flatnonzero(rows > max(HEAVY_PART * aim, 1.0))
    looking = np.zeros((2, BUCKETS))
    looking[:, heavy] = share
    pairs = counts[0, heavy].astype(np.float64) * counts[1, heavy]
    order = np.argsort(-pairs, kind="stable")
    most = int(np.searchsorted(np.cumsum(pairs[order]), MOST_PAIRS_PART * pairs.sum())) + 1
    wanted = heavy[order[:most]]
    for side in (0, 1):
        if stores[1 - side] and len(wanted) and not evenly:
            looking[side, wanted] = looking_shares(
                counts[side, wanted], share, MORE_PROBES * aim / 2
            )
    return Draw(share, looking, seed)


def looking_shares(rows: np.ndarray, share: float, more: float) -> np.ndarray:
    """The share of rows that probe, for keys with these row counts: as many as fit beside the drawn
    share, and at least that share."""
    low, high = 0.0, float(rows.max(initial=0))
    for _ in range(60):
        each = (low + high) / 2
        spent = float(np.maximum(np.minimum(rows, each) - share * rows, 0.0).sum())
        low, high = (each, high) if spent <= more else (low, each)
    looking: np.ndarray = np.maximum(np.minimum(low / np.maximum(rows, 1), 1.0), share)
    return looking


@compiled
def _count(hashes: np.ndarray, has_key: np.ndarray, counts: np.ndarray) -> None:
    shift = np.uint64(64 - BUCKET_BITS)
    for row in range(hashes.size):
        if has_key[row]:
            counts[hashes[row] >> shift] += 1


@compiled
def _take(
    hashes: np.ndarray,
    has_key: np.ndarray,
    below: np.uint64,
    offset: np.uint64,
    share: float,
    looking: np.ndarray,
    seed: np.uint64,
    side: int,
    done: np.ndarray,
) -> None:
    shift = np.uint64(64 - BUCKET_BITS)
    for row in range(hashes.size):
        done[row] = LEFT_OUT
        if not has_key[row]:
            continue
        looks = looking[hashes[row] >> shift]
        if looks == 0.0:
            if hashes[row] + offset < below:
                done[row] = STORED
            continue
        coin = draw_one(seed, side, row)
        if coin < share:
            done[row] = STORED
        elif coin < looks:
            done[row] = PROBES
