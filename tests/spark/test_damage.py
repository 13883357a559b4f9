"""Damaged state is an error that names it, or is made good: never a wrong row."""

import copy
import shutil
import uuid
import zlib
from collections import Counter
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

import headgate as hg
from headgate.spark.state.blobs import to_blob
from headgate.spark.state.control_text import control_text, read_control
from headgate.spark.state.local_files import local_folder
from headgate.spark.state.stored_tables import TablePlace, fetched_table
from tests.golden.checkpoint_cases import FILES, READ_BEFORE, tables
from tests.golden.shard_states import feed, restore, shard_of, variables
from tests.spark.damages import Damage, damages
from tests.spark.streams import multiset

pytestmark = pytest.mark.spark

KINDS = ("auto", "full", "importance", "lru", "sample", "semi")


class Before:
    """The state of a shard before a batch, the one before that, and another shard's."""

    def __init__(self, kind: str) -> None:
        shard = shard_of(kind, uuid.uuid4().hex)
        feed(shard, 0, READ_BEFORE - 1)
        self.earlier = copy.deepcopy(variables(shard))
        feed(shard, READ_BEFORE - 1, READ_BEFORE)
        self.state = copy.deepcopy(variables(shard))
        self.out = [multiset(each) for each in feed(shard, READ_BEFORE, FILES)]
        other = shard_of(kind, uuid.uuid4().hex)
        other.batch(tables(0)[3], tables(1)[2], watermark_ms=1_767_225_900_000)
        self.other = copy.deepcopy(variables(other))


before = cache(Before)


def outcome(kind: str, state: dict[str, Any], operator: str | None = None) -> Counter | str:
    """How often each row comes out of the next batches; or the error."""
    shard = shard_of(kind, operator or uuid.uuid4().hex)
    restore(shard, state)
    try:
        found = [multiset(each) for each in feed(shard, READ_BEFORE, FILES)]
    except hg.SpecError as error:
        return str(error)
    return found


def judge(kind: str, damage: Damage) -> str:
    """What became of a damage: "named" or "made good"; anything else fails."""
    found = outcome(kind, damage.state)
    if isinstance(found, str):
        assert "damaged" in found or "format" in found, (damage[:2], found)
        assert "shard 0" in found or "blob" in found or "format" in found, (damage[:2], found)
        return "named"
    assert found == before(kind).out, f"{damage.where} {damage.how}: other rows came out"
    return "made good"


def injected(kind: str) -> list[Damage]:
    own = before(kind)
    return list(damages(own.state, own.earlier, own.other))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_damage_at_every_blob(kind: str, record_property: Any) -> None:
    all_of_them = injected(kind)
    assert len(all_of_them) > 80
    judged = Counter(judge(kind, damage) for damage in all_of_them)
    record_property("injections", dict(judged))
    assert judged["named"] >= 0.95 * len(all_of_them), judged


@pytest.mark.parametrize("kind", ["full", "auto"])
def test_some_damage_at_every_variable(kind: str) -> None:
    """A dozen of those: one of each kind, each at another place."""
    all_of_them = injected(kind)
    for damage in all_of_them[:: len(all_of_them) // 12]:
        judge(kind, damage)


def test_a_damaged_description_is_named() -> None:
    text = control_text('{"shards": "2", "policy": "Fifo()"}')
    for place in range(0, len(text), 7):
        altered = text[:place] + chr(ord(text[place]) ^ 1) + text[place + 1 :]
        with pytest.raises(hg.SpecError, match="control shard, is not in the state store as it"):
            read_control(altered)


def test_a_head_of_a_later_format_is_refused_and_nothing_is_touched() -> None:
    state = copy.deepcopy(before("lru").state)
    blob = state["head"][0]
    state["head"] = (blob[:2] + (99).to_bytes(2, "little") + blob[4:],)
    shard = shard_of("lru", uuid.uuid4().hex)
    restore(shard, state)
    kept = copy.deepcopy(variables(shard))
    with pytest.raises(hg.SpecError, match="in format 99, by a later version of Headgate"):
        feed(shard, READ_BEFORE, FILES)
    assert variables(shard) == kept


def test_local_copies_that_are_lost_on_the_way_are_fetched_again() -> None:
    operator = uuid.uuid4().hex
    shard = shard_of("full", operator)
    out: list[pa.Table] = []
    for batch in range(FILES):
        out += feed(shard, batch, batch + 1)
        shutil.rmtree(local_folder(operator))
    assert [multiset(each) for each in out[READ_BEFORE:]] == before("full").out


class ChangingVariable:
    """A map state with one value, which is altered once it has been read."""

    def __init__(self, blob: bytes) -> None:
        self._blob = bytearray(blob)

    def getValue(self, key: tuple[str, int]) -> tuple[bytes]:
        """As of Spark's."""
        found = bytes(self._blob)
        self._blob[:] = self._blob.replace(b"left_id", b"lmft_id")
        return (found,)


def test_a_table_that_changes_between_two_reads_is_refused() -> None:
    """The simulator found that bytes were verified in one read and parsed from another."""
    blob = to_blob(pa.table({"left_id": [1, 2, 3]}), compress=True)
    stored = TablePlace("000000000001-000000000001", 1, zlib.crc32(blob))
    with pytest.raises(hg.SpecError, match=r"table 0{11}1-0{11}1 of shard 0.* checksum"):
        fetched_table(ChangingVariable(blob), stored, shard=0)
