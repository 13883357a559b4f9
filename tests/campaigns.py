"""The record of campaigns: what was run, seeds, date and commit, and what failed."""

import datetime
import json
import subprocess
from pathlib import Path
from typing import Any

RECORD = Path(__file__).parent / "campaigns.json"
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "campaigns.md"
FOUND_BY_SIMULATION = (
    "a limit published before a restart held, although the program's budget was now smaller",
    "an outer join with a monitor ended with an error where its first rows all had a null as key",
)
"""Each has a test of its own in tests/simulation."""


def add_campaign(file: Path, kind: str, **facts: Any) -> None:
    """Add a campaign to a JSON file, from which the docs page is written."""
    known: list[dict[str, Any]] = json.loads(file.read_text()) if file.exists() else []
    known.append(
        {
            "kind": kind,
            "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M"),
            "commit": _commit(),
            **facts,
        }
    )
    file.write_text(json.dumps(known, indent=1) + "\n")


def page(known: list[dict[str, Any]]) -> str:
    """The docs page of all campaigns."""
    lines = [
        "# What was tried to break it",
        "",
        "After this page you know how many generated joins, simulated faults and kills were run, "
        "and what they found.",
        "",
        "Written by `make simulate`, `make fuzz`, `make kill` and `make soak` with `PUBLISH=1`,",
        "from `tests/campaigns.json`.",
        "A plus behind a commit: sources had been changed since. A seed repeats its case on any",
        "machine. A *schedule* is a small streaming join on a simulated cluster with up to five",
        "faults; a *case* is a generated join, or a damaged input, and one comparison of it.",
        "",
        "| date (UTC) | what | seeds | counts | failed | commit |",
        "|---|---|---|---|---|---|",
    ]
    for each in known:
        counts = ", ".join(f"{count:,} {name}" for name, count in each["counts"].items())
        failed = ", ".join(each["failed"]) or "none"
        lines.append(
            f"| {each['date']} | {each['kind']} | {each['seeds']} | {counts} | {failed} "
            f"| {each['commit']} |"
        )
    kept = json.loads((Path(__file__).parent / "fuzzing" / "kept.json").read_text())
    lines += ["", "## What failed, and is mended", "", "| found by | what it was |", "|---|---|"]
    lines += [f"| simulation | {lesson} |" for lesson in FOUND_BY_SIMULATION]
    lines += [f"| fuzzing, seed `{seed}` | {lesson} |" for seed, lesson in kept.items()]
    return "\n".join(lines) + "\n"


def _commit() -> str:
    """The commit that is checked out, with a plus where files were changed since."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], capture_output=True, text=True, check=False
        ).stdout.strip()

    changed = git("status", "--porcelain", "--", "src")
    return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")


if __name__ == "__main__":
    PAGE.write_text(page(json.loads(RECORD.read_text())))
