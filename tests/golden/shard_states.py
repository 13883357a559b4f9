"""The state of single shards, as variables of the state store, kept and taken up without Spark."""

import sys
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa

import headgate as hg
from tests.golden.checkpoint_cases import KINDS, READ_BEFORE, join_of, tables
from tests.spark.one_shard import LABEL, OneShard
from tests.spark.streams import START_US

VALUES, MAPS = ("head", "watermark", "lessons"), ("segments", "histories")
MORE_KINDS: dict[str, dict[str, Any]] = {
    "hist": {
        "on": None,
        "left_on": "left_id",
        "right_on": "right_id",
        "policy": hg.policies.Hist("walk"),
    },
    "counted": {
        "left": hg.Side(time="opened_at", window="40 rows"),
        "right": hg.Side(time="bid_at", window="30 rows"),
        "policy": "lru",
    },
}
"""Kinds of joins that make a shard's state of their own, beside those of checkpoints."""


def shard_of(kind: str, operator: str) -> OneShard:
    """A shard that has seen nothing yet."""
    join = join_of(kind) if kind in KINDS else _made(kind)
    return OneShard(join, (tables(0)[0].schema, tables(1)[0].schema), operator)


def _made(kind: str) -> hg.WindowJoin:
    given = {
        "on": "key",
        "left": hg.Side(time="opened_at", window="2 minutes"),
        "right": hg.Side(time="bid_at", window="1 minute"),
        "budget": hg.Budget(rows=60),
    }
    return hg.WindowJoin(**{**given, **MORE_KINDS[kind]})


def feed(shard: OneShard, first: int, end: int) -> list[pa.Table]:
    """Give a shard some of the files; what it put out for each."""
    sides = (tables(0), tables(1))
    found = []
    for number in range(first, end):
        watermark = START_US // 1000 + 300_000 + max(60_000 * number - 20_000, 0)
        outcome = shard.batch(sides[0][number], sides[1][number], watermark_ms=watermark)
        found.append(outcome.pairs)
    return found


def variables(shard: OneShard) -> dict[str, Any]:
    """The state variables of a shard."""
    found: dict[str, Any] = {name: shard.tester.peekValueState(name, LABEL) for name in VALUES}
    return found | {name: dict(shard.tester.peekMapState(name, LABEL)) for name in MAPS}


def restore(shard: OneShard, state: dict[str, Any]) -> None:
    """Give a shard the state variables of another."""
    for name in VALUES:
        if state[name] is not None:
            shard.tester.updateValueState(name, LABEL, state[name])
    for name in MAPS:
        shard.tester.updateMapState(name, LABEL, dict(state[name]))
    # Spark has set the timer of a shard that has had a batch.
    shard.tester.handle.setGroupingKey(LABEL)


def make_states(to: Path) -> None:
    """Write the states of shards of all kinds in the present format."""
    to.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(to, "w") as packed:
        for kind in (*KINDS, *MORE_KINDS):
            shard = shard_of(kind, f"golden-{kind}")
            feed(shard, 0, READ_BEFORE)
            for name, content in _files(variables(shard)).items():
                entry = zipfile.ZipInfo(f"{kind}/{name}", (2026, 1, 1, 0, 0, 0))
                packed.writestr(entry, content, zipfile.ZIP_DEFLATED)
    sys.stdout.write(f"{to}: {to.stat().st_size:,} bytes\n")


def read_states(packed: Path) -> dict[str, dict[str, Any]]:
    """The state variables of the shards in a file, by kind."""
    found: dict[str, dict[str, Any]] = {}
    with zipfile.ZipFile(packed) as files:
        for path in files.namelist():
            kind, variable, *place = path.split("/")
            state = found.setdefault(kind, dict.fromkeys(VALUES) | {name: {} for name in MAPS})
            content = files.read(path)
            if variable in MAPS:
                state[variable][(place[0], int(place[1]))] = (content,)
            elif variable == "watermark":
                state[variable] = (int(content),)
            else:
                is_text = variable == "lessons" and place[0] == "0"
                state[variable] = (
                    *(state[variable] or ()),
                    content.decode() if is_text else content or None,
                )
    return found


def _files(state: dict[str, Any]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for variable in VALUES:
        for place, value in enumerate(state[variable] or ()):
            text = value.encode() if isinstance(value, str) else value
            as_bytes = str(text).encode() if isinstance(text, int) else text
            files[f"{variable}/{place}" if variable != "watermark" else variable] = as_bytes or b""
    for variable in MAPS:
        for (name, part), (blob,) in sorted(state[variable].items()):
            files[f"{variable}/{name}/{part}"] = blob
    return files
