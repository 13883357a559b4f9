"""Real checkpoints that are damaged, full, read-only or used twice: never a wrong row.

Run by name; with ``-s`` the campaign prints what became of each kind of damage.
"""

import contextlib
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.golden.checkpoint_cases import FILES, READ_BEFORE, joined, run, write_files
from tests.golden.test_checkpoints import put_out_since
from tests.spark.own_processes import PATIENCE_SECONDS
from tests.spark.restart_cases import BATCHES, IDS, Lived, made_rows, partners
from tests.spark.restart_draws import each_case
from tests.spark.streams import multiset
from tests.spark.test_changed_queries import killed_inputs, run_exact
from tests.spark.test_restart import running
from tests.spark.version_queries import bring, started

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(3600)]

KIND = "auto"
LOGS = ("offsets", "commits", "sources", "metadata")
TOO_BUSY = "failed to connect back"
"""An error of Spark's where the machine is too busy to start a Python worker in ten seconds."""
AT_ONCE = 3
"""Checkpoints that are damaged side by side, each at a part of its files."""
ROOM = (0, 8, 24, 60, 100, 160, 240, 400)
"""Kilobytes that are left on the checkpoint's disk."""


def _flipped(part: float) -> Callable[[bytes], bytes]:
    def change(content: bytes) -> bytes:
        if not content:
            return b"\x10"
        place = min(int(part * len(content)), len(content) - 1)
        return content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :]

    return change


def _other_number(content: bytes) -> bytes:
    """The last number in it is one less, as long as before; another byte where there is none."""
    found = [each for each in re.finditer(rb"\d+", content) if int(each[0]) > 0]
    if not found:
        return _flipped(0.5)(content)
    least = str(int(found[-1][0]) - 1).zfill(len(found[-1][0])).encode()
    return content[: found[-1].start()] + least + content[found[-1].end() :]


ALTERED: dict[str, Callable[[bytes], bytes] | None] = {
    "missing": None,
    "cut": lambda content: content[: len(content) // 2],
    "emptied": lambda content: b"",
    "altered": _flipped(0.5),
    "altered at its end": _flipped(0.9),
    "another number": _other_number,
}


class Sound:
    """A checkpoint as a query has left it, put back before each damage."""

    def __init__(self, spark: SparkSession, folder: Path, more: int = 1) -> None:
        self.spark, self.folder, self._end = spark, folder / "query", READ_BEFORE + more
        self._kept = folder / "kept"
        write_files(self.folder, 0, READ_BEFORE)
        run(joined(spark, self.folder, KIND), self.folder)
        write_files(self.folder, READ_BEFORE, self._end)
        shutil.copytree(self.folder, self._kept)
        checkpoint = self._kept / "checkpoint"
        self.files = sorted(
            file.relative_to(self._kept) for file in checkpoint.rglob("*") if file.is_file()
        )
        self.wanted = self.outcome()
        assert isinstance(self.wanted, Counter), self.wanted

    def damage(self, name: Path, how: str) -> None:
        """Put all back, and damage a file."""
        shutil.rmtree(self.folder)
        shutil.copytree(self._kept, self.folder)
        file, change = self.folder / name, ALTERED[how]
        if change is None:
            file.unlink()
        else:
            file.write_bytes(change(file.read_bytes()))

    def outcome(self) -> Counter | str:
        """The rows of the last batches, or the error."""
        try:
            run(joined(self.spark, self.folder, KIND), self.folder)
            return multiset(put_out_since(self.spark, self.folder, READ_BEFORE, self._end))
        # Spark refuses what is wrong with its own files when the query is started, or while it
        # runs; where the sink's log lacks a batch, reading it fails.
        except (PySparkException, Py4JJavaError, OSError) as error:
            return str(error)


@pytest.fixture
def two_partitions(spark: SparkSession) -> Iterator[None]:
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    yield
    spark.conf.set("spark.sql.shuffle.partitions", "1")


@pytest.fixture
def files_through(spark: SparkSession) -> Iterator[Callable[[str], None]]:
    """Sets the class of Hadoop's through which Spark writes local files from now on."""
    name = "fs.AbstractFileSystem.file.impl"
    yield lambda which: spark.conf.set(name, f"org.apache.hadoop.fs.local.{which}")
    spark.conf.unset(name)


def damaged_in_turn(sound: Sound, first: int) -> Counter[str]:
    """What became of every damage at each file of a part of all files."""
    found: Counter[str] = Counter()
    for name in sound.files[first::AT_ONCE]:
        for how in ("missing", "altered") if name.suffix == ".crc" else ALTERED:
            sound.damage(name, how)
            got = sound.outcome()
            while isinstance(got, str) and TOO_BUSY in got:
                sound.damage(name, how)
                got = sound.outcome()
            kind = "Spark's logs" if name.parts[1] in LOGS else "state"
            became = "error" if isinstance(got, str) else "as before"
            if not isinstance(got, str) and got != sound.wanted:
                became = "other rows"
            sys.stdout.write(f"\ndamage: {name} {how}: {became}\n")
            found[f"{kind}: {became}"] += 1
    return found


@pytest.mark.usefixtures("two_partitions")
@pytest.mark.parametrize("files", ["RawLocalFs", "LocalFs"])
def test_damage_at_every_file_never_makes_a_wrong_row(
    spark: SparkSession, tmp_path: Path, files_through: Callable[[str], None], files: str
) -> None:
    """Every file of a checkpoint, in every way.

    What is altered in Spark's own logs may not be noticed, and is printed: nothing in the state
    says what a source has read, and the .crc files that LocalFs writes did not tell either.
    """
    files_through(files)
    sounds = [Sound(spark, tmp_path / str(number)) for number in range(AT_ONCE)]
    names = [str(name) for name in sounds[0].files]
    assert any("offsets/." in name for name in names) == (files == "LocalFs")
    assert all(len(sound.files) == len(names) for sound in sounds)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        found = sum(threads.map(damaged_in_turn, sounds, range(AT_ONCE)), Counter())
    sys.stdout.write(f"\n{files}: {sum(found.values())} injections: {dict(found)}\n")
    assert found["state: other rows"] == 0
    assert found["state: error"] > 30


@contextlib.contextmanager
def small_disk(place: Path, kilobytes: int) -> Iterator[Path]:
    """A file system of its own; only root can make one."""
    place.mkdir(parents=True)
    options = f"size={kilobytes}k"
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True
    )
    if made.returncode:
        pytest.skip(f"no file system can be made here: {made.stderr.decode().strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.usefixtures("two_partitions")
def test_a_query_goes_on_when_its_full_disk_has_room_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A batch may have been noted by one source and not by the other: Spark then cuts batches
    otherwise. So memory is ample here and no row is late, and all pairs must come, once each."""
    case = each_case("nothing", seed=86, killed=False)
    lived = Lived(case, made_rows(case.seed))
    wanted = Counter(pair[:2] for pair in partners(lived))
    failed = 0
    for number, room in enumerate(ROOM):
        folder = tmp_path / f"full-{number}"
        out = folder / "out"
        with small_disk(folder / "checkpoint", 20_000):
            bring(folder, lived, range(case.at), case.before)
            started(spark, folder, case.before, out).awaitTermination()
            bring(folder, lived, range(case.at, BATCHES), case.before)
            _fill(folder / "checkpoint" / "filler", room)
            with contextlib.suppress(PySparkException, Py4JJavaError):
                failed += 1
                started(spark, folder, case.before, out).awaitTermination()
                failed -= 1
            (folder / "checkpoint" / "filler").unlink()
            started(spark, folder, case.before, out).awaitTermination()
        got = multiset(spark.read.parquet(str(out)).select(*IDS))
        assert got == wanted, f"{room} kB were left"
    sys.stdout.write(f"\nfull disk: {failed} of {len(ROOM)} queries ended, all went on\n")
    assert failed >= 3
    assert wanted.total() > 500


def _fill(file: Path, room: int) -> None:
    """Take all room on a disk but some kilobytes."""
    free = shutil.disk_usage(file.parent).free - 1024 * room
    file.write_bytes(bytes(free))


@pytest.mark.usefixtures("two_partitions")
def test_a_read_only_checkpoint_is_an_error_and_stays_sound(
    spark: SparkSession, tmp_path: Path
) -> None:
    sound = Sound(spark, tmp_path, more=FILES - READ_BEFORE)
    folder = tmp_path / "fixed"
    write_files(folder, 0, READ_BEFORE)
    with small_disk(folder / "checkpoint", 20_000) as disk:
        run(joined(spark, folder, KIND), folder)
        write_files(folder, READ_BEFORE, FILES)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises((PySparkException, Py4JJavaError), match=r"(?i)read-only"):
            run(joined(spark, folder, KIND), folder)
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        run(joined(spark, folder, KIND), folder)
        assert multiset(put_out_since(spark, folder, READ_BEFORE)) == sound.wanted


@pytest.mark.usefixtures("two_partitions")
def test_of_two_programs_on_one_checkpoint_rows_come_out_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Two programs, started at the same time: whatever they do, what is in the sink is right."""
    folder = tmp_path / "query"
    folder.mkdir()
    killed_inputs(folder)
    with running("local[1]", folder, "lru") as one, running("local[1]", folder, "lru") as other:
        ended = [one.wait(PATIENCE_SECONDS), other.wait(PATIENCE_SECONDS)]
    alone = tmp_path / "alone"
    alone.mkdir()
    killed_inputs(alone)
    with running("local[1]", alone, "lru") as process:
        assert process.wait(PATIENCE_SECONDS) == 0
    got, want = (multiset(spark.read.parquet(str(each / "out"))) for each in (folder, alone))
    sys.stdout.write(f"\ntwo programs ended with {ended}, {got.total()} rows\n")
    if 0 not in ended:
        with running("local[1]", folder, "lru") as process:
            assert process.wait(PATIENCE_SECONDS) == 0
        got = multiset(spark.read.parquet(str(folder / "out")))
    assert got == want
    assert not got - run_exact(spark, folder)
