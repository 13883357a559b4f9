"""Measures what watching costs: processor time of the recorder, and memory of the page.

`python tools/watch_cost.py` prints both; with `--query` a stream runs in turns with and without.
"""

import argparse
import os
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

import headgate as hg
from headgate.watching.history import History
from headgate.watching.recorder import Recorder
from tests.watched_reports import join_report

WEEK_S, EVERY_S, READERS, SHARDS = 7 * 86_400, 30, 10, 8
READER = "reader"
WARM = 6
"""Batches before anything is measured."""


def recorder_cost(folder: Path, batches: int = 300) -> None:
    """Processor time for a report, from the text to the file."""
    recorder = Recorder(History(folder))
    reports = [join_report(b, time.time() + b, shards=SHARDS) for b in range(batches)]
    began = time.process_time()
    for report in reports:
        recorder.hear("reported", report)
    heard = time.process_time() - began
    recorder.stop()
    spent = time.process_time() - began
    size = sum(map(len, reports)) / batches
    print(
        f"recorder: {1000 * spent / batches:.2f} ms a batch of {SHARDS} shards ({size:,.0f} bytes)"
    )
    print(f"listener's own thread: {1e6 * heard / batches:.0f} µs a batch")


def fill_week(folder: Path) -> History:
    """A week of batches, one every half minute."""
    history = History(folder)
    recorder, first = Recorder(history), time.time() - WEEK_S
    for batch in range(WEEK_S // EVERY_S):
        recorder.hear("reported", join_report(batch, first + batch * EVERY_S, shards=SHARDS))
        while len(recorder._waiting) > 500:
            time.sleep(0.02)
    recorder.stop()
    return history


def read(port: int, seconds: int, taken: list[int]) -> None:
    """A reader: the page, a week of data, and then whatever is new."""
    for path in ("/", "/static/page.js", f"/data?join=0&seconds={seconds}"):
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", path, headers={"Host": "localhost"})
        taken.append(len(connection.getresponse().read()))
        connection.close()
    live = HTTPConnection("127.0.0.1", port, timeout=60)
    live.request("GET", "/live", headers={"Host": "localhost"})
    live.getresponse().read(10)
    time.sleep(8)
    live.close()


def follow(port: int) -> None:
    """A reader who takes all news, until the page ends."""
    live = HTTPConnection("127.0.0.1", port, timeout=600)
    live.request("GET", "/live", headers={"Host": "localhost"})
    for _ in live.getresponse():
        pass


def page_memory(folder: Path) -> None:
    """The memory of a page of its own with ten readers of a week."""
    began = time.process_time()
    history = fill_week(folder)
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    print(f"a week, {WEEK_S // EVERY_S:,} batches: file {size:.1f} MB", end=", ")
    print(f"written in {time.process_time() - began:.0f} s of processor time")
    started = subprocess.Popen(
        [sys.executable, "-m", "headgate", "watch", str(folder), "--port", "4199"],
        stdout=subprocess.DEVNULL,
    )
    try:
        time.sleep(6)
        process = psutil.Process(started.pid)
        before = process.memory_info().rss / 1e6
        taken: list[int] = []
        readers = [
            threading.Thread(target=read, args=(4199, WEEK_S, taken)) for _ in range(READERS)
        ]
        for reader in readers:
            reader.start()
        recorder, most = Recorder(history), before
        for batch in range(10):
            recorder.hear("reported", join_report(batch, time.time(), shards=SHARDS))
            time.sleep(0.5)
            most = max(most, process.memory_info().rss / 1e6)
        for reader in readers:
            reader.join()
        recorder.stop()
        used = process.cpu_times()
        print(f"page: {before:.0f} MB without readers, {most:.0f} MB at most with {READERS}")
        print(
            f"page: {used.user + used.system:.1f} s of processor time; a week is {max(taken):,} B"
        )
    finally:
        started.terminate()
        started.wait()


def cpu_of_all() -> float:
    """Processor time of this process, of Spark's and of its workers."""
    mine = psutil.Process()
    spent = 0.0
    for process in (mine, *mine.children(recursive=True)):
        try:
            used = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        # Workers that have ended count with the process that started them.
        spent += used.user + used.system + used.children_user + used.children_system
    return spent


def cpu_of_watching() -> float:
    """Processor time of this process's threads but the main one and the reader: recorder, page, and
    the thread on which Spark tells reports."""
    others = {
        thread.native_id
        for thread in threading.enumerate()
        if thread is not threading.main_thread() and thread.name != READER
    }
    found = psutil.Process().threads()
    return float(sum(each.user_time + each.system_time for each in found if each.id in others))


def spent_on_stream(session: Any, folder: Path, batches: int) -> tuple[float, float, float]:
    """Of a batch of 10,000 rows, after some to warm up: processor time, time, and processor time of
    watching it."""
    made = session.readStream.format("rate-micro-batch").option("rowsPerBatch", 5000)
    left, right = (
        made.load()
        .selectExpr("value % 500 AS key", f"timestamp AS {name}")
        .withWatermark(name, "0 seconds")
        for name in ("lt", "rt")
    )
    join = hg.WindowJoin(
        on="key",
        left=hg.Side(time="lt", window="20 seconds"),
        right=hg.Side(time="rt", window="20 seconds"),
        budget=hg.Budget(rows=20_000),
    )
    frame = join.stream(left, right, shards=2, watermark=False)
    query = frame.writeStream.format("noop").option("checkpointLocation", str(folder)).start()
    last, began = WARM + batches, (0.0, 0.0, 0.0)
    while True:
        done = (query.lastProgress or {"batchId": -1})["batchId"]
        if began[0] == 0 and done >= WARM:
            first, began = done, (time.monotonic(), cpu_of_all(), cpu_of_watching())
        if done >= last:
            break
        time.sleep(0.05)
    ends = (time.monotonic(), cpu_of_all(), cpu_of_watching())
    query.stop()
    clock, cpu, own = (
        (end - start) / (done - first) for start, end in zip(began, ends, strict=True)
    )
    return cpu, clock, own


def query_in_turns(rounds: int, batches: int = 20) -> None:
    """The same stream, watched by a page with one reader, and not, in turns."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spent: dict[bool, list[float]] = {False: [], True: []}
    with TemporaryDirectory() as place:
        session = hg.session(master="local[2]")
        for turn in range(2 * rounds):
            folder, watched = Path(place) / str(turn), turn % 2 == 1
            watch = hg.watch(session, folder=folder / "watch") if watched else None
            if watch is not None:
                port = int(watch.address.rpartition(":")[2])
                reading = threading.Thread(target=follow, args=(port,), daemon=True, name=READER)
                reading.start()
            cpu, clock, own = spent_on_stream(session, folder / "checkpoint", batches)
            if watch is not None:
                watch.stop()
            spent[watched].append(cpu)
            print(
                f"{'watched' if watched else 'not':>8}: {cpu:.3f} s of processor time a batch,",
                end=" ",
            )
            print(f"{clock:.3f} s by the clock; watching {1000 * own:.1f} ms", end=", ")
            print(f"{100 * own / cpu:.2f} %", flush=True)
        session.stop()
    middle = {watched: sorted(each)[len(each) // 2] for watched, each in spent.items()}
    print(f"middle of {rounds}: watched {middle[True]:.3f} s, not {middle[False]:.3f} s a batch")


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--query", type=int, default=0, metavar="ROUNDS")
    given = asked.parse_args()
    if given.query:
        query_in_turns(given.query)
    else:
        with TemporaryDirectory() as place:
            recorder_cost(Path(place) / "cost")
            page_memory(Path(place) / "week")
