"""The description of a join in its checkpoint, taken apart."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from headgate.spark.checkpoint.checkpoint_files import PARTITIONS
from headgate.spec import SpecError
from headgate.spec.window import RowWindow, Window, parse_window

SHARDS, SPLIT_KEYS, PREDICATE, HOW, IMPORTANCE = (
    "shards",
    "split keys",
    "predicate",
    "how",
    "importance",
)
INNER = "inner"
HIDDEN = (SPLIT_KEYS, IMPORTANCE)
"""Facts that name values of columns."""


@dataclass(frozen=True)
class JoinDescription:
    """What a checkpoint says of its join.

    Examples
    --------
    >>> told = '{"left keys": "a, b", "shards": "2", "left time and window": "at, 2 minutes"}'
    >>> join = JoinDescription.read(told)
    >>> join.shards, join.keys(0, ["b", "a"]), join.window(0)
    (2, ('a', 'b'), TimeWindow(us=120000000))
    """

    facts: dict[str, str]

    @classmethod
    def read(cls, text: str) -> "JoinDescription":
        """Read the text that a shard keeps."""
        facts = json.loads(text)
        if "left keys" not in facts:
            raise SpecError(
                "this is the checkpoint of a lookup, not of a join of two streams: a lookup's "
                "cache is rebuilt from its table, so start it from a new checkpoint location"
            )
        return cls(facts)

    @property
    def text(self) -> str:
        """The description as a shard keeps it."""
        return json.dumps(self.facts, sort_keys=True)

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
        return self.facts.get(HOW, INNER)

    def time(self, side: int) -> str:
        """The time column of a side."""
        return self._side(side)[0]

    def window(self, side: int) -> Window:
        """The window of a side."""
        return parse_window(self._side(side)[1])

    @property
    def counts_rows(self) -> bool:
        """Whether a window is of the last n rows."""
        return any(isinstance(self.window(side), RowWindow) for side in (0, 1))

    def keys(self, side: int, columns: Sequence[str]) -> tuple[str, ...]:
        """The key columns of a side, among all columns: names may have commas in them."""
        text = self.facts[f"{('left', 'right')[side]} keys"]
        found = _parted(text, columns)
        if found is None:
            raise SpecError(f'the keys "{text}" are not all among the columns {", ".join(columns)}')
        return found

    def cut_into(self, shards: int, partitions: int) -> "JoinDescription":
        """The same join with another number of shards."""
        return JoinDescription({**self.facts, SHARDS: str(shards), PARTITIONS: str(partitions)})

    def _side(self, side: int) -> tuple[str, str]:
        # A window of many rows has commas in it, and a column may have ", ": the last one counts.
        time, _, window = self.facts[f"{('left', 'right')[side]} time and window"].rpartition(", ")
        return time, window


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
