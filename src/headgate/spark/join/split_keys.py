"""Spreads the rows of keys too frequent for one shard over all of them.

Of such a key, the rows of one side are dealt out to the shards, and those of the other side are
copied to every shard. So each pair still meets in exactly one place.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from headgate.columns.casting import cast_to
from headgate.columns.key_codes import encode_together
from headgate.engine.request import Request
from headgate.engine.shape import Shape, keys_as
from headgate.policies.chance import uniform
from headgate.spec import How, RowWindow, SpecError

MOST_KEYS = 1000
"""Keys that are worth naming: each has a good part of a shard's rows."""
DEAL_SEED = 0xDEA1
"""Apart from the seeds of policies."""


@dataclass(frozen=True)
class SplitKeys:
    """The keys that are split, and which side's rows are dealt out.

    Parameters
    ----------
    keys
        A column for each key column, in the types in which keys are compared.
    dealt
        The side whose rows go to one shard each; those of the other side go to all.
    times
        The time column of each side. Rows are dealt out by their time, so that a repeated batch
        sends them the same way.
    names, types
        The key columns of each side, and the types in which they are compared.
    """

    keys: tuple[pa.ChunkedArray, ...]
    dealt: int
    times: tuple[str, str]
    names: tuple[tuple[str, ...], tuple[str, ...]]
    types: tuple[pa.DataType, ...]

    @classmethod
    def of(cls, join: Request, shape: Shape, given: Sequence[Any]) -> "SplitKeys | None":
        """The keys of a join that are to be split; None if none is given.

        Rows of the side with the longer window are dealt out: each copy of a row is stored by
        itself, and a row that waits for nobody is not stored at all.
        """
        keys = [key if isinstance(key, tuple) else (key,) for key in given]
        if not keys:
            return None
        _check(join, keys)
        types = shape.key_types
        columns = [
            cast_to(pa.chunked_array([pa.array([key[place] for key in keys])]), kind)
            for place, kind in enumerate(types)
        ]
        spans = [window.span for window in join.windows]
        return cls(
            tuple(columns),
            dealt=1 if spans[1] > spans[0] else 0,
            times=shape.times,
            names=(shape.keys.left, shape.keys.right),
            types=tuple(types),
        )

    @property
    def text(self) -> str:
        """The keys as text, to detect a restart with other ones."""
        rows = zip(*(column.to_pylist() for column in self.keys), strict=True)
        return f"{sorted(map(repr, rows))}, side {self.dealt} dealt out"

    def among(self, rows: pa.Table, side: int) -> np.ndarray:
        """Which rows of a side have a key that is split."""
        columns = keys_as(rows, self.names[side], self.types)
        (mine, split), _ = encode_together([columns, list(self.keys)])
        found: np.ndarray = np.isin(mine, split[split >= 0])
        return found

    def route(
        self, rows: pa.Table, side: int, shard: np.ndarray, shards: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the rows to send and the shard of each, given the shards of whole keys."""
        split = self.among(rows, side)
        if side == self.dealt:
            time = rows.column(self.times[side]).cast(pa.int64()).fill_null(0).to_numpy()
            drawn = uniform(DEAL_SEED, np.full(len(time), side, np.uint8), time)
            return np.arange(len(shard)), np.where(split, (drawn * shards).astype(np.int64), shard)
        whole, copied = np.flatnonzero(~split), np.flatnonzero(split)
        return (
            np.concatenate([whole, np.repeat(copied, shards)]),
            np.concatenate([shard[whole], np.tile(np.arange(shards), len(copied))]),
        )

    def copies(self, rows: pa.Table, side: int, number: int) -> int:
        """How many of a shard's rows are copies, so that all shards' add up; see `copied`."""
        if side == self.dealt or number == 0 or not rows.num_rows:
            return 0
        return int(np.count_nonzero(self.among(rows, side)))


def _check(join: Request, keys: Sequence[tuple[Any, ...]]) -> None:
    """Raise where the join does not allow keys to be split."""
    width = len(join.keys.left)
    if not width:
        raise SpecError("split_keys= splits keys, and this join has none: leave it out")
    if join.how != How.INNER:
        raise SpecError(
            f'split_keys= copies rows, and how="{join.how.value}" must know which rows match none: '
            f"leave it out"
        )
    if any(isinstance(window, RowWindow) for window in join.windows):
        raise SpecError(
            "split_keys= spreads rows over shards, and a window of the last n rows needs them in "
            "one place: leave it out, or use a window in time"
        )
    wrong = [key for key in keys if len(key) != width]
    if wrong:
        raise SpecError(
            f"split_keys= has {wrong[0]!r}, and keys are {', '.join(join.keys.left)}: give a value "
            f"for each key column, several as a tuple"
        )
    if len(keys) > MOST_KEYS:
        raise SpecError(
            f"split_keys= has {len(keys):,} keys: give the few that are too frequent for one "
            f"shard, at most {MOST_KEYS:,}"
        )
