"""Copies of state on local disk: whatever happens to them, results are those of the state store."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.spark.join.task_ledger import TaskLedger
from headgate.spark.state import local_copy, local_files
from headgate.spark.state.blobs import from_blob, to_blob
from headgate.spark.state.local_files import forget_dead, is_ours, local_folder, owned_folder
from tests.spark.one_shard import LABEL, OneShard
from tests.spark.streams import START_US, multiset, timestamps

pytestmark = pytest.mark.spark

SCHEMAS = (
    pa.schema([("key", pa.int64()), ("a", pa.timestamp("us", "UTC")), ("x", pa.int64())]),
    pa.schema([("key", pa.int64()), ("b", pa.timestamp("us", "UTC")), ("y", pa.int64())]),
)
BATCHES, ROWS = 4, 200
ATTACKED = 2
"""The batch before which something happens to the copies."""
is_root = os.geteuid() == 0


def sides() -> list[tuple[pa.Table, pa.Table]]:
    """The rows of each batch."""
    rng = np.random.default_rng(91)
    made = []
    for number in range(BATCHES):
        seconds = number * ROWS + np.arange(ROWS)
        left, right = (
            pa.table(
                [
                    pa.array(rng.integers(0, 30, ROWS)),
                    timestamps(START_US + seconds * 1_000_000),
                    pa.array(seconds),
                ],
                schema=schema,
            )
            for schema in SCHEMAS
        )
        made.append((left, right))
    return made


SIDES = sides()


class Copied:
    """A shard with segments and a history log, and the folder of its copies."""

    def __init__(self) -> None:
        operator = uuid.uuid4().hex
        join = hg.WindowJoin(
            on="key",
            left=hg.Side(time="a", window="1 hour"),
            right=hg.Side(time="b", window="1 hour"),
            budget=hg.Budget(rows=300),
            policy="lru",
        )
        self.shard = OneShard(join, SCHEMAS, operator)
        self.query = local_folder(operator)
        self.folder = self.query / f"shard-{LABEL}"

    def run(self, attack: Callable[["Copied"], None] | None = None) -> tuple[Counter, list[int]]:
        """Results of all batches, and in which the shard was rebuilt."""
        pairs, rebuilt = [], []
        for number, (left, right) in enumerate(SIDES):
            if number == ATTACKED and attack is not None:
                attack(self)
            done = self.shard.batch(left, right)
            pairs.append(done.pairs)
            rebuilt.append(done.metrics["rebuilt"])
        return multiset(pa.concat_tables(pairs)), rebuilt

    @property
    def files(self) -> list[Path]:
        """Copies, oldest first: segments and logs."""
        return sorted(path for path in self.folder.iterdir() if path.is_file())


@cache
def wanted() -> Counter:
    """What comes out when nothing happens."""
    rows, rebuilt = Copied().run()
    assert rebuilt == [0] * BATCHES
    assert rows.total() > 2000
    return rows


def each(change: Callable[[Path], None]) -> Callable[[Copied], None]:
    """An attack on every copy."""

    def attack(copied: Copied) -> None:
        assert len(copied.files) > 3
        for path in copied.files:
            change(path)

    return attack


def flipped(part: float) -> Callable[[Path], None]:
    """One bit is another; ``part`` says where, from the first byte to the last."""

    def change(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[int(part * (len(content) - 1))] ^= 16
        path.write_bytes(content)

    return change


def swapped(copied: Copied) -> None:
    """Each copy under the name of another, of which each is right in itself."""
    files = copied.files
    contents = [path.read_bytes() for path in files]
    for path, content in zip(files, contents[1:] + contents[:1], strict=True):
        path.write_bytes(content)


def in_place_of(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        path.unlink()
        make(path)

    return change


def linked(path: Path) -> None:
    """The right content, by way of a link."""
    elsewhere = path.parent.parent / f"elsewhere-{path.name}"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def folder_linked(copied: Copied) -> None:
    elsewhere = copied.query / "elsewhere"
    copied.folder.rename(elsewhere)
    copied.folder.symlink_to(elsewhere)


ATTACKS: dict[str, Callable[[Copied], None]] = {
    "missing": each(Path.unlink),
    "missing with their folder": lambda copied: shutil.rmtree(copied.folder),
    "missing with all folders": lambda copied: shutil.rmtree(copied.query),
    "empty": each(lambda path: path.write_bytes(b"")),
    "cut to half": each(lambda path: os.truncate(path, path.stat().st_size // 2)),
    "cut by a byte": each(lambda path: os.truncate(path, path.stat().st_size - 1)),
    "longer by a byte": each(lambda path: path.write_bytes(path.read_bytes() + b"x")),
    "swapped": swapped,
    "of nothing but zeros": each(lambda path: path.write_bytes(bytes(path.stat().st_size))),
    **{
        f"a bit flipped at {part:.0%}": each(flipped(part))
        for part in (0, 0.01, 0.2, 0.5, 0.8, 0.99, 1)
    },
    "folders": each(in_place_of(lambda path: (path / "deeper").mkdir(parents=True))),
    "pipes": each(in_place_of(os.mkfifo)),
    "links": each(linked),
    "links to nowhere": each(in_place_of(lambda path: path.symlink_to("/nowhere"))),
    "in a linked folder": folder_linked,
    "in a folder open to all": lambda copied: copied.folder.chmod(0o777),
    "open to all": each(lambda path: path.chmod(0o666)),
}
if is_root:
    ATTACKS["in another's folder"] = lambda copied: os.chown(copied.folder, 12345, 12345)
    ATTACKS["another's"] = each(lambda path: os.chown(path, 12345, 12345))
else:
    ATTACKS["unreadable"] = each(lambda path: path.chmod(0))


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=[f"that are {name}" for name in ATTACKS])
def test_copies_are_rebuilt_and_results_are_right(attack: Callable[[Copied], None]) -> None:
    copied = Copied()
    rows, rebuilt = copied.run(attack)
    assert rows == wanted()
    assert rebuilt == [int(number == ATTACKED) for number in range(BATCHES)]
    assert is_ours(copied.folder)


def test_what_is_not_ours_is_left_alone() -> None:
    def stray(copied: Copied) -> None:
        (copied.folder / "stray" / "deep").mkdir(parents=True)
        (copied.folder / "notes.txt").write_text("mine")
        (copied.query / "shard-x").symlink_to("/")

    copied = Copied()
    rows, rebuilt = copied.run(stray)
    assert rows == wanted()
    assert rebuilt == [0] * BATCHES
    assert (copied.folder / "stray" / "deep").is_dir()
    assert (copied.folder / "notes.txt").read_text() == "mine"


def test_without_a_disk_to_write_to_every_batch_fetches_what_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(copied: Copied) -> None:
        monkeypatch.setattr(local_files, "_private", {})
        monkeypatch.setattr(tempfile, "tempdir", "/nowhere")

    rows, rebuilt = Copied().run(full)
    assert rows == wanted()
    assert rebuilt == [0, 0, 1, 1]


def test_a_copy_is_verified_once_and_again_when_it_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[str] = []
    right = local_copy._is_right
    monkeypatch.setattr(
        local_copy,
        "_is_right",
        lambda whole, name, checksum: looked_at.append(name) or right(whole, name, checksum),
    )
    copied = Copied()
    copied.run(each(lambda path: os.utime(path, ns=(1, 1))))
    twice = {name for name, count in Counter(looked_at).items() if count == 2}
    assert set(Counter(looked_at).values()) == {1, 2}
    assert twice, "those that were there when their times changed"


def test_a_small_copy_stays_mapped_until_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    mapped: list[int] = []
    by_file = local_copy._map
    monkeypatch.setattr(local_copy, "_map", lambda handle: mapped.append(handle) or by_file(handle))
    operator, name = uuid.uuid4().hex[:16], local_copy.new_name(1)
    copy, table = local_copy.LocalCopy(operator, LABEL), SIDES[0][0]
    copy.write(name, 5, table)
    mapped.clear()
    reads = [copy.read(name, 5, lambda: pytest.fail("it is there")) for _ in range(3)]
    assert all(read == table and not was_fetched for read, was_fetched in reads)
    assert len(mapped) == 1
    (path,) = (local_folder(operator) / f"shard-{LABEL}").iterdir()
    os.utime(path, ns=(1, 1))
    copy.read(name, 5, lambda: pytest.fail("it is there"))
    assert len(mapped) == 2
    path.write_bytes(b"x" * path.stat().st_size)
    read, was_fetched = copy.read(name, 5, lambda: table)
    assert was_fetched
    assert read == table
    shutil.rmtree(local_folder(operator))


def test_no_copies_pile_up() -> None:
    copied = Copied()
    copied.run()
    head = from_blob(copied.shard.tester.peekValueState("head", LABEL)[0])
    logs = json.loads(head.schema.metadata[b"facts"])["logs"]
    listed = {*head.column("name").to_pylist(), *(stored[0] for stored, _ in logs)}
    assert listed <= {path.name for path in copied.files}
    gone = len(copied.files) - len(listed)
    assert gone <= 4, "those of one batch may wait for the next"


@pytest.mark.parametrize("state", ["segments", "histories"])
def test_a_damaged_state_store_is_an_error_that_names_shard_and_blob(state: str) -> None:
    copied = Copied()

    def damage(copied: Copied) -> None:
        shutil.rmtree(copied.folder)
        stored = copied.shard.tester.peekMapState(state, LABEL)
        name, part = next(iter(stored))
        blob = bytearray(stored[name, part][0])
        blob[len(blob) // 2] ^= 1
        copied.name = name  # type: ignore[attr-defined]
        copied.shard.tester.updateMapState(state, LABEL, {**stored, (name, part): (bytes(blob),)})

    with pytest.raises(hg.SpecError, match="checksum is") as raised:
        copied.run(damage)
    assert f"table {copied.name} of shard {LABEL}" in str(raised.value)  # type: ignore[attr-defined]


def test_a_blob_that_is_missing_in_the_state_store_is_named() -> None:
    def damage(copied: Copied) -> None:
        shutil.rmtree(copied.folder)
        stored = copied.shard.tester.peekMapState("segments", LABEL)
        copied.shard.tester.updateMapState("segments", LABEL, dict(list(stored.items())[1:]))

    with pytest.raises(hg.SpecError, match=r"table \S+ of shard 0 .* part 1 of 1 is missing"):
        Copied().run(damage)


def test_a_checkpoint_of_before_checksums_is_taken_up() -> None:
    def as_before(copied: Copied) -> None:
        head = from_blob(copied.shard.tester.peekValueState("head", LABEL)[0])
        facts = json.loads(head.schema.metadata[b"facts"])
        facts["logs"] = [(stored[:2], count) for stored, count in facts["logs"]]
        old = head.drop_columns("checksum").replace_schema_metadata({"facts": json.dumps(facts)})
        blob = b"HG" + (6).to_bytes(6, "little") + to_blob(old)[8:]
        copied.shard.tester.updateValueState("head", LABEL, (blob,))

    rows, rebuilt = Copied().run(as_before)
    assert rows == wanted()
    assert rebuilt == [0, 0, 1, 0]


class TestFolders:
    """Where local files are, and how long."""

    def test_spark_says_where(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        first, second = tmp_path / "blockmgr-1", tmp_path / "blockmgr-2"
        second.mkdir()
        monkeypatch.setenv(local_files.LOCAL_DIRS, f"{first},{second}")
        folder = local_folder("operator")
        assert folder == second / "headgate" / "operator-tested", "the first is not there"
        assert is_ours(folder)
        assert is_ours(folder.parent)

    def test_what_others_have_put_there_is_put_aside(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv(local_files.LOCAL_DIRS, str(tmp_path))
        trap = tmp_path / "trap"
        trap.mkdir()
        (tmp_path / "headgate").symlink_to(trap)
        folder = local_folder("operator")
        folder.rmdir()
        folder.mkdir(mode=0o755)
        (folder / "planted").touch()
        again = local_folder("operator")
        assert again == folder == tmp_path / "headgate" / "operator-tested"
        assert (list(again.iterdir()), list(trap.iterdir())) == ([], [])

    def test_what_a_killed_process_left_goes_when_the_next_starts(self, tmp_path: Path) -> None:
        """Its own folder, and that of a worker whose executor was killed."""
        script = (
            "import os, sys; from headgate.spark.state.local_files import local_folder\n"
            "(local_folder('operator') / 'copy').write_text('x')\n"
            "os.kill(os.getpid(), 9)"
        )
        spark = tmp_path / "blockmgr-dead"
        spark.mkdir()
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        left = []
        for more in ({}, {local_files.LOCAL_DIRS: str(spark)}):
            # The shell is the worker's daemon, and ends with it.
            line = f'{sys.executable} -c "{script}"; true'
            subprocess.run(["/bin/sh", "-c", line], env={**environment, **more}, check=True)
            left.append([path.parent.parent for path in tmp_path.rglob("copy")])
        assert [len(folders) for folders in left] == [1, 1]
        assert left[1] == [spark / "headgate"], "the second has removed what the first left"
        mine = owned_folder(tmp_path / "headgate-mine")
        (mine / f"{local_files.ALIVE}{os.getpid()}").touch()
        others = owned_folder(tmp_path / "headgate-unmarked")
        forget_dead(tmp_path)
        assert not left[1][0].exists()
        assert mine.exists(), "its process lives"
        assert others.exists(), "nobody knows whose that is"

    def test_a_process_removes_its_folder_when_it_ends(self, tmp_path: Path) -> None:
        imports = "from headgate.spark.state.local_files import local_folder"
        script = f"{imports}; print(local_folder('operator'))"
        done = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "TMPDIR": str(tmp_path)},
            check=True,
            capture_output=True,
            text=True,
        )
        assert done.stdout.startswith(str(tmp_path))
        assert list(tmp_path.iterdir()) == []

    def test_a_ledger_passes_over_what_is_not_its_own(self) -> None:
        ledger = TaskLedger(uuid.uuid4().hex)
        ledger.add("join-1", 0.5)
        folder = ledger._folder()
        (folder / "join-1.77").mkdir()
        for name, text in (("78", "x"), ("79", "inf"), ("80", "nan"), ("81", ""), ("82", "-5")):
            (folder / f"join-1.{name}").write_text(text)
        (folder / "join-1.other").write_text("5")
        (folder / "join-1.83").symlink_to("/dev/zero")
        (folder / "join-1.84").write_text("0.25")
        assert ledger.total("join-1") == 0.75
        assert ledger.ended("join-1") > 0
