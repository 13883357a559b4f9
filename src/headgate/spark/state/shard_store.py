"""The state variables of a shard."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headgate.deferred_processor import Variables
from headgate.spark.state.learned_state import VALUE as LEARNED
from headgate.spark.state.stored_tables import KEY, VALUE

VARIABLES: Variables = (
    ("head", "blob binary"),
    ("watermark", "micros long"),
    ("segments", KEY, VALUE),
    ("histories", KEY, VALUE),
    ("lessons", LEARNED),
)
"""State variables as checkpoints have them."""


@dataclass
class ShardStore:
    """The state variables of a shard, as Spark hands them out."""

    head: Any
    watermark: Any
    segments: Any
    histories: Any
    learned: Any

    @classmethod
    def of(cls, states: Mapping[str, Any]) -> "ShardStore":
        """The variables among the declared ones."""
        return cls(
            head=states["head"],
            watermark=states["watermark"],
            segments=states["segments"],
            histories=states["histories"],
            learned=states["lessons"],
        )
