"""What a checkpoint says of its join, as work on checkpoints needs it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headgate.spark.join.join_description import PARTITIONS, Facts, read_description
from headgate.spec import SpecError
from headgate.spec.window import RowWindow, TimeWindow, Window

SHARDS, SPLIT_KEYS, HOW, IMPORTANCE = "shards", "split keys", "how", "importance"
INNER = "inner"
HIDDEN = (SPLIT_KEYS, IMPORTANCE)
"""Facts that name values of columns."""
SIDES = ("left", "right")


@dataclass(frozen=True)
class DescribedJoin:
    """The description of a join, in any form that checkpoints have.

    Parameters
    ----------
    text
        As it is in the checkpoint.
    facts
        In the present form; see `join_description`.

    Examples
    --------
    >>> told = {"left keys": "a, b", "right keys": "a, b", "shards": "2", "policy": "Fifo()"}
    >>> told |= {f"{side} time and window": "at, 2 minutes" for side in ("left", "right")}
    >>> told |= {"left columns": "", "right columns": "", "spark.sql.shuffle.partitions": "2"}
    >>> join = DescribedJoin.read(json.dumps(told))
    >>> join.shards, join.keys(0, ["b", "a"]), join.window(0)
    (2, ('a', 'b'), TimeWindow(us=120000000))
    """

    text: str
    facts: Facts

    @classmethod
    def read(cls, text: str) -> "DescribedJoin":
        """Read the text that a shard keeps."""
        facts = read_description(text)
        if "left keys" not in facts:
            raise SpecError(
                "this is the checkpoint of a lookup, not of a join of two streams: a lookup's "
                "cache is rebuilt from its table, so start it from a new checkpoint location"
            )
        return cls(text, facts)

    @property
    def shards(self) -> int:
        """How many shards the join has."""
        return int(self.facts[SHARDS])

    @property
    def partitions(self) -> int:
        """How many shuffle partitions the query has."""
        return int(self.facts[PARTITIONS])

    @property
    def how(self) -> str:
        """The kind of join."""
        return str(self.facts[HOW])

    def time(self, side: int) -> str:
        """The time column of a side."""
        return str(self.facts[f"{SIDES[side]} time"])

    def window(self, side: int) -> Window:
        """The window of a side."""
        ((unit, span),) = self.facts[f"{SIDES[side]} window"].items()
        return RowWindow(int(span)) if unit == "rows" else TimeWindow(int(span))

    @property
    def counts_rows(self) -> bool:
        """Whether a window is of the last n rows."""
        return any(isinstance(self.window(side), RowWindow) for side in (0, 1))

    @property
    def has_keys(self) -> bool:
        """Whether rows go to shards by their keys."""
        return bool(self.facts["left keys"])

    def keys(self, side: int, columns: Sequence[str]) -> tuple[str, ...]:
        """The key columns of a side, among all columns: in format 6, names may have commas."""
        told = self.facts[f"{SIDES[side]} keys"]
        found = _parted(told, columns) if isinstance(told, str) else tuple(told)
        if found is None:
            raise SpecError(f'the keys "{told}" are not all among the columns {", ".join(columns)}')
        return found

    def cut_into(self, shards: int, partitions: int) -> str:
        """The description of the same join with another number of shards."""
        told: dict[str, Any] = json.loads(self.text)
        # In format 6 all values are texts.
        told[SHARDS] = type(told[SHARDS])(shards)
        told[PARTITIONS] = type(told[PARTITIONS])(partitions)
        return json.dumps(told, sort_keys=True)


def _parted(text: str, columns: Sequence[str]) -> tuple[str, ...] | None:
    """Cut a list of column names at commas that are not part of a name."""
    if not text:
        return ()
    for name in sorted(columns, key=len, reverse=True):
        if text == name:
            return (name,)
        if text.startswith(f"{name}, "):
            rest = _parted(text[len(name) + 2 :], columns)
            if rest:
                return (name, *rest)
    return None
