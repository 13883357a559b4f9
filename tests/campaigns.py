"""The record of campaigns: what was run, seeds, date and commit, and what failed."""

import csv
import datetime
import fcntl
import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

RECORD = Path(__file__).parent / "campaigns.json"
LESSONS = Path(__file__).parent / "campaign_lessons.json"
"""What simulation, kills and soaks found; each has a test of its own. Fuzzing has kept.json."""
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "campaigns.md"
MEASURED = PAGE.parents[1] / "measured"
MUTANTS = Path(__file__).parent / "mutants.json"
"""Which seed found which fault that was put into the code; written by tools/seed_mutants.py."""
HEADINGS = {
    "simulation": ("Simulated schedules", "schedules"),
    "fuzzing": ("Differential cases", "cases"),
    "kills": ("Kills of real queries", "kills"),
    "soak": ("Soaks", "arrivals"),
}
"""By kind, and what is counted."""
INTRODUCTION = """# Test campaigns

After this page you know how many generated joins, simulated failures and kills of real queries
were run, and which defects they found.

Written by `make simulate`, `make fuzz`, `make kill`, `make soak` and `make mutants` with
`PUBLISH=1`, from `tests/campaigns.json`. The commit is the last one that had changed `src`; a plus
after it means that files there had changed since. Runs of one commit are added up. A seed repeats
its case on any machine.
A *schedule* is a small streaming join on a simulated cluster with up to five faults; a
*case* is a generated join, or a damaged input, and one comparison of it. One seed of
fuzzing generates one join and compares it in several ways.
"""


def add_campaign(file: Path, kind: str, **facts: Any) -> None:
    """Add a campaign to a JSON file, from which the docs page is written.

    Runs of one kind and commit become one entry. Several processes may add at the same time.
    """
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M")
    entry = {"kind": kind, "date": now, "commit": commit(), **facts}
    with locked(file):
        known: list[dict[str, Any]] = json.loads(file.read_text() or "[]")
        for place, each in enumerate(known):
            if (each["kind"], each["commit"]) == (kind, entry["commit"]):
                known[place] = merged(each, entry)
                break
        else:
            known.append(entry)
        lines = ",\n".join(json.dumps(each) for each in known)
        file.write_text(f"[\n{lines}\n]\n")


def merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Two entries of one kind and commit as one.

    Examples
    --------
    >>> one = {"date": "1", "seeds": "0:10", "counts": {"cases": 7}, "failed": [], "seconds": 1.0}
    >>> other = one | {"date": "2", "seeds": "10:20, 50:60", "failed": ["50"]}
    >>> merged(one, other)["seeds"], merged(one, other)["counts"], merged(one, other)["failed"]
    ('0:20, 50:60', {'cases': 14}, ['50'])
    """
    counts = Counter(one["counts"])
    counts.update(other["counts"])
    spans = sorted(
        tuple(map(int, span.split(":")))
        for each in (one, other)
        for span in each["seeds"].split(", ")
    )
    joined: list[tuple[int, ...]] = []
    for first, end in spans:
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((first, end))
    return {
        **one,
        "date": other["date"],
        "seeds": ", ".join(f"{first}:{end}" for first, end in joined),
        "counts": dict(counts),
        "failed": [*one["failed"], *other["failed"]],
        "seconds": round(one["seconds"] + other["seconds"]),
    }


def page(known: list[dict[str, Any]]) -> str:
    """The docs page of all campaigns."""
    lines = [INTRODUCTION]
    for kind, (heading, what) in HEADINGS.items():
        lines += _table(heading, what, [each for each in known if each["kind"] == kind])
    lines += _curves()
    lines += _store_memory()
    lines += _mutants()
    kept = json.loads((Path(__file__).parent / "fuzzing" / "kept.json").read_text())
    lessons: list[list[str]] = json.loads(LESSONS.read_text())
    lines += ["", "## Defects found and fixed", "", "| found by | what it was |", "|---|---|"]
    lines += [f"| {found_by} | {lesson} |" for found_by, lesson in lessons]
    lines += [f"| fuzzing, seed `{seed}` | {lesson} |" for seed, lesson in kept.items()]
    return "\n".join(lines) + "\n"


IN_ROW = ("workloads", "seeds", "rounds")
"""Counts in the row of a run; all others are told below the table, of all runs together."""


def _table(heading: str, what: str, known: list[dict[str, Any]]) -> list[str]:
    """The runs of a kind, by commit."""
    if not known:
        return []
    total = sum(each["counts"].get(what, 0) for each in known)
    lines = [f"## {heading}", "", f"{total:,} {what} in all.", ""]
    lines += [
        "| last run (UTC) | commit | seeds | counts | CPU s | failed |",
        "|---|---|---|---|--:|---|",
    ]
    parts: Counter[str] = Counter()
    for each in known:
        main = {name: n for name, n in each["counts"].items() if name in (what, *IN_ROW)}
        counts = ", ".join(f"{count:,} {name}" for name, count in main.items())
        parts.update({name: n for name, n in each["counts"].items() if name not in main})
        failed = ", ".join(each["failed"]) or "none"
        seconds = "–" if each["seconds"] is None else f"{each['seconds']:,.0f}"
        lines.append(
            f"| {each['date']} | {each['commit']} | {each['seeds']} | {counts} "
            f"| {seconds} | {failed} |"
        )
    if parts:
        told = ", ".join(f"{name.replace('_', ' ')} {parts[name]:,}" for name in sorted(parts))
        lines += ["", f"By kind, over all of these runs: {told}."]
    return [*lines, ""]


GROWTH = """Growth is judged by the medians of the middle and the last third of a run. Until
2026-11-19 it was judged by their largest batches: by that, the process of the billion arrivals had
grown from 633 to 749 MB, in one batch; its medians by third are some 540, 550 and 585 MB, within
what the rule allows, and not proof that it is flat. Spark keeps the files of a hundred batches or
more in a checkpoint and then deletes many at once: the run of a hundred million arrivals ended
before, and the one in small batches shows it after 290. The open files that grew in the former were
mapped copies of state, see below; the latter was made after that was fixed."""


def _curves() -> list[str]:
    """The pictures of soaks."""
    lines = [GROWTH, ""]
    for file in sorted((PAGE.parents[1] / "images").glob("soak-*.png")):
        where = file.stem.removeprefix("soak-").replace("-", " ")
        title = where.capitalize().replace("spark", "Spark")
        lines += [f"![{title}: curves along the stream](../images/{file.name})", ""]
        lines += [f"Numbers: `docs/measured/{file.stem}.csv`.", ""]
    return lines


STORE_MEMORY = """## What Spark's figure of state-store memory counts

Spark reports `memoryUsedBytes` of its state stores, and it rises by half a megabyte every two
million rows or so. It is no leak. For each state store it adds up what RocksDB has for reading
tables, its memtables and its block cache. Memtables are written out when Spark takes a snapshot, by
default every ten batches. The block cache fills until it has
`spark.sql.streaming.stateStore.rocksdb.blockCacheSizeMB`, by default 8 MB in each partition's
store, and then drops what was not read for longest. So right after a snapshot the figure stays
below what the caches may have in all, 16 MB or 2 MB here. Two partitions, batches of 20,000 rows,
room for 200,000 rows; megabytes right after each snapshot, with caches of 8 MB and of 1 MB. The run
with 8 MB ended before its caches were full:

| arrivals | 8 MB each | 1 MB each |
|--:|--:|--:|
"""
"""From `python -m tests.soak --arrivals 0 --on-spark 1.5e6 --chunk 2e4 --percent 50 --block-cache 1
--name "Store cache 1 MB"`, and the same with 8."""


def _store_memory() -> list[str]:
    """Memory of the state stores after snapshots, for two sizes of their caches."""
    by_size = [_after_snapshots(MEASURED / f"soak-store-cache-{size}-mb.csv") for size in (8, 1)]
    arrivals = sorted({at for found in by_size for at in found})
    lines = [
        f"| {at:,} | " + " | ".join(f"{found[at]:.1f}" if at in found else "–" for found in by_size)
        for at in arrivals
    ]
    return [STORE_MEMORY + "\n".join(f"{line} |" for line in lines), ""]


def _after_snapshots(file: Path) -> dict[int, float]:
    """Megabytes where they fell by one or more, by arrivals so far."""
    with file.open() as lines:
        rows = [(int(row["arrivals"]), float(row["store_MB"])) for row in csv.DictReader(lines)]
    return {at: now for (_, before), (at, now) in pairwise(rows) if now < before - 1}


def _mutants() -> list[str]:
    """Which fault was found by which seed."""
    if not MUTANTS.exists():
        return []
    known: dict[str, dict[str, Any]] = json.loads(MUTANTS.read_text())
    found = sum(each["by"] is not None for each in known.values())
    lines = [
        "## Faults put into the code by hand",
        "",
        f"{found} of {len(known)} were found by simulation or fuzzing, without any other test.",
        "",
        "| fault | found by | seconds | commit |",
        "|---|---|--:|---|",
    ]
    for name, each in known.items():
        by = "not found" if each["by"] is None else each["by"].replace("|", "\\|")
        lines.append(f"| {name} | {by} | {each['seconds']:,} | {each['commit']} |")
    return [*lines, ""]


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Nobody else is inside at the same time, for this file."""
    with file.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def commit() -> str:
    """The last commit that changed `src`, with a plus where files there were changed since."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], capture_output=True, text=True, check=False
        ).stdout.strip()

    changed = git("status", "--porcelain", "--", "src")
    return git("log", "-1", "--format=%h", "--abbrev=10", "--", "src") + ("+" if changed else "")


if __name__ == "__main__":
    PAGE.write_text(page(json.loads(RECORD.read_text())))
