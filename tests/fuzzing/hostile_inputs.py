"""Inputs from enemies: whatever a parser is given, it answers with a value or with a `SpecError`.

Each case takes a text or blob that the parser accepts and damages it: bytes, structure, sizes.
"""

import contextlib
import json
import random
import tempfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import headgate as hg
from headgate.jobs.job import read_job
from headgate.models.cost import Weight
from headgate.models.cost.calibration import Calibration, Weights, WorkCost
from headgate.spark.join.published_changes import read_limit
from headgate.spark.join.restart_rules import check_restart
from headgate.spark.state.blobs import FORMAT, from_checked_blob, to_blob
from headgate.spark.state.control_text import control_text, read_control
from headgate.spark.state.shard_head import ShardHead
from headgate.spec import SpecError
from tests.jobs.job_files import GOOD
from tests.simulation.simulation import prepared

NASTY: tuple[Any, ...] = (
    *(None, True, -1, 0, 1 << 63, 10**99, 1e308, "", "x" * 5000, "\ud800", "'; DROP TABLE x; --"),
    *("<script>alert(1)</script>", "../../etc/passwd", "__import__('os')", [], {}, [[]], {"a": {}}),
)


def run_case(seed: int) -> str:
    """Run the case of a seed; raises where a parser does what it may not."""
    rng = random.Random(f"input {seed}")
    name = rng.choice(list(PARSERS))
    given, parse = PARSERS[name]
    damaged = _damaged(given(), rng)
    try:
        with contextlib.suppress(SpecError):
            parse(damaged)
    except Exception as error:
        error.add_note(f"input seed {seed}: {name} was given {damaged[:300]!r}")
        raise
    return name


def _damaged(given: str | bytes, rng: random.Random) -> Any:
    """The text or blob with something altered."""
    if isinstance(given, bytes):
        return _damaged_bytes(given, rng)
    if rng.random() < 0.4:
        with contextlib.suppress(ValueError):
            return json.dumps(_other(json.loads(given), rng))
    how = rng.randrange(6)
    at, to = sorted(rng.randrange(len(given) + 1) for _ in range(2))
    if how == 0:
        return given[:at]
    if how == 1:
        return given[:at] + given[to:]
    if how == 2:
        return given[:at] + given[at:to] * rng.choice((2, 3)) + given[to:]
    if how == 3:
        return given[:at] + rng.choice("\0\n\"'{}[]=#0-e∞\\") + given[at + 1 :]
    if how == 4:
        deep = rng.choice((10, 2000))
        return given[:at] + "[" * deep + "]" * deep + given[to:]
    return given[:at] + str(rng.choice(NASTY[2:])) + given[to:]


def _damaged_bytes(given: bytes, rng: random.Random) -> bytes:
    """With the checksum that the altered bytes should have: an enemy can count, too."""
    data = bytearray(given)
    for _ in range(rng.choice((1, 1, 3, 20))):
        data[rng.randrange(8, len(data))] = rng.randrange(256)
    if rng.random() < 0.3:
        del data[rng.randrange(8, len(data)) :]
    return _with_checksum(bytes(data))


def _with_checksum(blob: bytes) -> bytes:
    return (
        b"HG"
        + FORMAT.to_bytes(2, "little")
        + (zlib.crc32(blob[8:]) or 1).to_bytes(4, "little")
        + blob[8:]
    )


def _other(value: Any, rng: random.Random) -> Any:
    """A JSON value with one part of it replaced, dropped or doubled."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        name = rng.choice(list(value))
        how = rng.random()
        if how < 0.15:
            return {key: part for key, part in value.items() if key != name}
        if how < 0.25:
            return {**value, "more": rng.choice(NASTY)}
        return {**value, name: _other(value[name], rng)}
    if isinstance(value, list) and value and rng.random() < 0.85:
        place = rng.randrange(len(value))
        return [*value[:place], _other(value[place], rng), *value[place + 1 :]]
    return rng.choice(NASTY)


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="hostile-"))


def _read_job(text: str) -> None:
    file = _folder() / "job.toml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    read_job(file, {})


@cache
def _profile() -> str:
    rng = np.random.default_rng(1)
    tables = [
        pa.table(
            {
                "k": rng.integers(0, 5, 60),
                "at": pa.array(np.arange(60) * 1_000_000).cast(pa.timestamp("us")),
            }
        )
        for _ in range(2)
    ]
    side = hg.Side("at", "10 seconds")
    return str(hg.profile(*tables, on="k", left=side, right=side).to_json())


@cache
def _head() -> bytes:
    content = prepared(3).undisturbed.store.load(0, 2)
    return bytes(content["head"][0])


@cache
def _definition() -> str:
    worth = hg.MaxImportance(
        left=hg.Histogram("a", edges=[0, 5, 9], importance=[1, 2]), right="b * 2 + 1"
    )
    return str(worth.to_json())


@cache
def _calibration() -> str:
    work = WorkCost(update=5e-8, produce=2e-8, arrive=2e-7)
    weights = Weights({"hash": Weight(2e-8, 3e-8)})
    return Calibration(weights, work, work, machine="here", taken="today").to_json()


def _description() -> str:
    return ShardHead.read(_head()).description


PARSERS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "job file": (lambda: GOOD, _read_job),
    "redefinition": (_definition, hg.MaxImportance.from_json),
    "limit": (lambda: "3:2500", lambda text: read_limit(text, 10_000)),
    "profile": (_profile, hg.Profile.from_json),
    "calibration": (_calibration, Calibration.from_json),
    "head of a shard": (_head, ShardHead.read),
    "control of a checkpoint": (lambda: control_text(_description()), read_control),
    "description of a join": (_description, lambda text: check_restart(text, _description())),
    "table of a checkpoint": (
        lambda: to_blob(pa.table({"a": [1, 2, 3], "b": ["x", None, "z"]}), checked=True),
        lambda blob: from_checked_blob(blob, "a table"),
    ),
}
