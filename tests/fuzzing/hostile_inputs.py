"""Inputs from enemies: whatever a parser is given, it answers with a value or with a `SpecError`.

Each case takes a text or blob that the parser accepts and damages it: bytes, structure, sizes.
"""

import contextlib
import json
import random
import tempfile
import zlib
from collections import Counter
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
from headgate.spark.checkpoint.checkpoint_files import Logged, Operator
from headgate.spark.join.published_changes import read_limit
from headgate.spark.join.restart_rules import Restart, check_restart
from headgate.spark.join.shard_plan import ShardPlan
from headgate.spark.state.blobs import FORMAT, from_checked_blob, to_blob
from headgate.spark.state.control_text import control_text, read_control
from headgate.spark.state.learned_state import read_learned
from headgate.spark.state.shard_head import ShardHead
from headgate.spec import SpecError
from headgate.watching.batch_record import BatchRecord
from tests.jobs.job_files import GOOD
from tests.simulation.simulation import prepared

NASTY: tuple[Any, ...] = (
    *(None, True, -1, 0, 1 << 63, 10**99, 1e308, "", "x" * 5000, "\ud800", "'; DROP TABLE x; --"),
    *("<script>alert(1)</script>", "../../etc/passwd", "__import__('os')", [], {}, [[]], {"a": {}}),
)

Parsers = dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]]
"""By name: what makes a text or blob, and what reads it."""


def run_case(seed: int) -> Counter[str]:
    """Run the case of a seed; raises where a parser does what it may not."""
    return _given_damaged(random.Random(f"input {seed}"), seed, PARSERS)


def run_later_case(seed: int) -> Counter[str]:
    """The same for parsers that came later: seeds of the others stay what they are."""
    return _given_damaged(random.Random(f"parser {seed}"), seed, LATER_PARSERS)


def _given_damaged(rng: random.Random, seed: int, parsers: Parsers) -> Counter[str]:
    name = rng.choice(list(parsers))
    given, parse = parsers[name]
    damaged = _damaged(given(), rng)
    try:
        with contextlib.suppress(SpecError):
            parse(damaged)
    except Exception as error:
        error.add_note(f"input seed {seed}: {name} was given {damaged[:300]!r}")
        raise
    return Counter([name])


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


@cache
def _learning() -> tuple[ShardPlan, tuple[Any, ...]]:
    """A plan, and what its shard has learned."""
    for number in range(1_000):
        ready = prepared(number)
        kept = ready.undisturbed.store.load(0, 2)["lessons"]
        if kept is not None:
            return ready.inputs[2].plan, kept
    raise AssertionError("no workload learns")


def _read_facts(text: str) -> None:
    plan, kept = _learning()
    read_learned(plan, (text, *kept[1:]), "what was learned", Restart())


def _read_watched(blob: bytes) -> None:
    plan, kept = _learning()
    read_learned(plan, (kept[0], blob, *kept[2:]), "what was learned", Restart())


def _read_log(text: str) -> None:
    file = _folder() / "log"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    logged = Logged.read(file)
    assert isinstance(logged.watermark_ms, int)
    assert isinstance(logged.conf, dict)


def _read_record(text: str) -> None:
    record = BatchRecord.from_text(text.encode("utf-8", "surrogatepass"))
    assert isinstance(record.rows, float | int)


LOG = """v1
{"batchWatermarkMs":1700000000000,"batchTimestampMs":1,"conf":{"spark.sql.shuffle.partitions":"2"}}
{"logOffset":3}
-"""
OPERATOR = json.dumps(
    {
        "operatorInfo": {"operatorId": 0, "operatorName": "transformWithStateInPandasExec"},
        "stateStoreInfo": [{"storeName": "default", "numColsPrefixKey": 0, "numPartitions": 2}],
        "operatorPropertiesJson": json.dumps({"stateVariables": [{"stateName": "head"}]}),
    }
)


def _read_operator(text: str) -> Operator:
    file = _folder() / "operator"
    file.write_bytes(b"v1\n" + text.replace("\n", " ").encode("utf-8", "surrogatepass"))
    return Operator.of(0, Logged.read(file).facts)


LATER_PARSERS: Parsers = {
    "facts that were learned": (lambda: _learning()[1][0], _read_facts),
    "rows that are watched": (lambda: _learning()[1][1], _read_watched),
    "log of a checkpoint": (lambda: LOG, _read_log),
    "operator of a checkpoint": (lambda: OPERATOR, _read_operator),
    "record of a page": (
        lambda: BatchRecord(1.0, 2, 1, 0.5, 1.0, None, {"left_rows": 3.0}, [[0.0, 1.0]]).as_text(),
        _read_record,
    ),
}
PARSERS: Parsers = {
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
