"""The head of a shard's state: what it is, how far it has come, and which tables hold its rows.

The head is one blob: an Arrow table with a line a segment, and beside it, as JSON in the schema's
metadata, all other facts. Whoever can read it can make sense of the shard without the program that
wrote it; docs/reference/state-format.md specifies it.
"""

import json
import sys
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from headgate.kernel.step_progress import StepProgress
from headgate.policies.kinds.residence_score import Residing
from headgate.spark.state.blobs import (
    FORMAT,
    NO_ARROW,
    Prefix,
    damaged,
    from_checked_blob,
    to_blob,
)
from headgate.spark.state.settled_fates import pack_fates, unpack_fates
from headgate.spark.state.stored_tables import TablePlace
from headgate.spark.state.unsettled import ArrivalMarks, Unsettled

RELEASE: str = sys.modules["headgate"].__version__
"""Of this Headgate; the package itself is above all its packages, and not imported in them."""
_DIRECTORY = pa.schema(
    [
        ("name", pa.string()),
        ("parts", pa.int32()),
        ("side", pa.int8()),
        ("rows", pa.int64()),
        ("bytes", pa.int64()),
        ("alive", pa.binary()),
        ("checksum", pa.int64()),
        ("fates", pa.binary()),
    ]
)


class ShardPlace(NamedTuple):
    """Which shard it is: its number among so many, and its label, the grouping key on Spark."""

    number: int
    label: int
    shards: int


@dataclass(frozen=True)
class SegmentEntry:
    """A segment as the head lists it.

    Parameters
    ----------
    stored
        Where its table is, and its checksum.
    side
        0 left, 1 right.
    alive
        Which of its rows are stored still; bool.
    bytes
        What all its rows take, dead ones included, by `row_bytes`.
    fate
        Of each row, bits of `Fate`; None in an inner join.
    """

    stored: TablePlace
    side: int
    alive: np.ndarray
    bytes: int
    fate: np.ndarray | None = None


@dataclass(frozen=True)
class ShardHead:
    """All that the head of a shard says.

    Parameters
    ----------
    description
        The join, as `join_description` writes it.
    place
        Which shard it is; None in format 6, which does not say.
    progress
        How far the join has come; the filters of given-up keys are not in it, but in `filters`.
    segments
        The tables of stored rows, a side's oldest first.
    filters
        Where each side's filter of given-up keys is stored; None where there is none.
    logs
        The parts of the history log, oldest first, and how many entries each has.
    batches
        Batches so far.
    watermark_us
        The watermark of the last batch; None in format 6, and for lookups.
    pacing, limit
        What work took; rows or bytes that the whole join may store, if changed since the start.
    learned
        The checksum of what was learned; None where nothing was, and in format 6.
    arrivals
        How many rows had come by when.
    lost_us
        The latest event time by which a row or work was given up; None where nothing ever was.
    unsettled
        What a change at a restart has left unknown for a while; None where nothing is.
    format, release
        The format it was written in, and the release of Headgate that did.
    """

    description: str
    place: ShardPlace | None
    progress: StepProgress
    segments: list[SegmentEntry]
    filters: list[TablePlace | None]
    logs: list[tuple[TablePlace, int]]
    batches: int
    watermark_us: int | None = None
    pacing: str = ""
    limit: int | None = None
    learned: int | None = None
    arrivals: ArrivalMarks = field(default_factory=ArrivalMarks)
    lost_us: int | None = None
    unsettled: Unsettled | None = None
    format: int = FORMAT
    release: str = RELEASE

    def to_blob(self) -> bytes:
        """The head as it is stored, with its checksum."""
        own = self.segments
        directory = pa.table(
            {
                "name": [entry.stored.name for entry in own],
                "parts": [entry.stored.parts for entry in own],
                "side": [entry.side for entry in own],
                "rows": [len(entry.alive) for entry in own],
                "bytes": [entry.bytes for entry in own],
                "alive": [np.packbits(entry.alive).tobytes() for entry in own],
                "checksum": [entry.stored.checksum for entry in own],
                "fates": [pack_fates(entry.fate) for entry in own],
            },
            schema=_DIRECTORY.with_metadata({"facts": json.dumps(self._facts())}),
        )
        return to_blob(directory, checked=True)

    def _facts(self) -> dict[str, Any]:
        progress = self.progress
        return {
            "format": FORMAT,
            "release": RELEASE,
            "shard": None if self.place is None else self.place._asdict(),
            "description": self.description,
            "batches": self.batches,
            "watermark": self.watermark_us,
            "clock": progress.clock,
            "seen": list(progress.seen),
            "bars": progress.thresholds,
            "frames": progress.frames,
            "memory": progress.memory,
            "residence": progress.residence,
            "definitions": progress.definitions,
            "logs": self.logs,
            "given_up": self.filters,
            "learned": self.learned,
            "pacing": self.pacing,
            "limit": self.limit,
            "arrivals": self.arrivals.marks,
            "lost": self.lost_us,
            "unsettled": None if self.unsettled is None else self.unsettled.facts(),
        }

    @classmethod
    def read(cls, blob: bytes, what: str = "the head of a shard") -> "ShardHead":
        """Read a head of any format that this version reads; ``what`` names it in errors."""
        directory = from_checked_blob(blob, what)
        try:
            return cls._of(directory, Prefix.read(blob[:8]).format)
        except (LookupError, TypeError, ValueError, AttributeError, *NO_ARROW) as error:
            raise damaged(what, f"it lacks what a head has ({error!r})") from error

    @classmethod
    def _of(cls, directory: pa.Table, version: int) -> "ShardHead":
        facts = json.loads(directory.schema.metadata[b"facts"])
        thresholds = [tuple(tuple(entry) for entry in pool) for pool in facts["bars"]]
        left, right = (tuple(frame) for frame in facts["frames"])
        place, unsettled = facts.get("shard"), facts.get("unsettled")
        # Heads of inner joins in format 6 may have no filters, and no checksums.
        filters = facts.get("given_up") or (None, None)
        return cls(
            description=facts["description"],
            place=None if place is None else ShardPlace(**place),
            progress=StepProgress(
                clock=facts["clock"],
                seen=(facts["seen"][0], facts["seen"][1]),
                thresholds=(thresholds[0], thresholds[1]),
                frames=(left, right),
                memory=facts["memory"],
                residence=Residing.of(facts["residence"]),
                definitions=tuple((at, definition) for at, definition in facts["definitions"]),
            ),
            segments=[_entry(line) for line in directory.to_pylist()],
            filters=[None if each is None else TablePlace(*each) for each in filters],
            logs=[(TablePlace(*stored), count) for stored, count in facts["logs"]],
            batches=facts["batches"],
            watermark_us=facts.get("watermark"),
            pacing=facts["pacing"],
            limit=facts["limit"],
            learned=facts.get("learned"),
            arrivals=ArrivalMarks.of(facts.get("arrivals", ())),
            lost_us=facts.get("lost"),
            unsettled=None if unsettled is None else Unsettled.of(unsettled),
            format=version,
            release=facts.get("release", ""),
        )


def _entry(line: dict[str, Any]) -> SegmentEntry:
    bits = np.frombuffer(line["alive"], np.uint8)
    if not 0 <= line["rows"] <= 8 * len(bits):
        raise ValueError(f"{line['rows']} rows and {len(bits)} bytes that say which are stored")
    alive = np.unpackbits(bits, count=line["rows"]).astype(bool)
    stored = TablePlace(line["name"], line["parts"], line.get("checksum"))
    fate = unpack_fates(line.get("fates"), line["rows"])
    return SegmentEntry(stored, line["side"], alive, line["bytes"], fate)
