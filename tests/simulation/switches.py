"""Switches that make rare paths common: small parts, small pieces, steps of a row, compaction."""

import contextlib
import random
from collections.abc import Iterator
from typing import Any

from headgate.columns import row_source
from headgate.engine import table_coding
from headgate.engine.driver import Driver
from headgate.learning import room
from headgate.spark import packing, shard_processor
from headgate.spark.state import blobs, segments, shard_state, stored_tables

STEPS = "steps of a row"
FULL = "a monitor that is always full"
ALTERS = frozenset({STEPS, FULL})
"""Rows that are out of order within a batch are numbered in the order of steps, and a full monitor
watches other rows: with these the output is not that without switches."""
_MOST_AT_ONCE = Driver.most_at_once


def _one_row_a_step(self: Any, terms: Any, coming: Any) -> int:
    return min(_MOST_AT_ONCE(self, terms, coming), 1)


SWITCHES: dict[str, list[tuple[Any, str, Any]]] = {
    "compaction in every batch": [
        (shard_state, "SMALLEST_DEAD_BYTES", 0),
        (segments, "MOST_SEGMENTS", 1),
    ],
    "two segments a side": [(segments, "MOST_SEGMENTS", 2)],
    "the history log is written anew in every batch": [(shard_state, "SMALLEST_LOG", 0)],
    "parts of 100 bytes": [(stored_tables, "PART_BYTES", 100)],
    "pieces of a row": [
        (module, "SMALL_BYTES", 1)
        for module in (row_source, table_coding, packing, blobs, segments)
    ],
    "a frame for every blob": [(shard_processor, "FRAME_BYTES", 1)],
    STEPS: [(Driver, "most_at_once", _one_row_a_step)],
    FULL: [(room, "MOST_WATCHED", 2)],
}


def drawn_switches(rng: random.Random) -> tuple[str, ...]:
    """Some of the switches."""
    return tuple(name for name in SWITCHES if rng.random() < (0.15 if name == STEPS else 0.35))


@contextlib.contextmanager
def switched(names: tuple[str, ...]) -> Iterator[None]:
    """Code inside runs with these switches on."""
    patches = [patch for name in names for patch in SWITCHES[name]]
    kept = [(where, name, getattr(where, name)) for where, name, _ in patches]
    for where, name, value in patches:
        setattr(where, name, value)
    try:
        yield
    finally:
        for where, name, value in reversed(kept):
            setattr(where, name, value)
