"""Making the files that results are kept in; `make golden` does."""

import csv
import io
from collections.abc import Callable

import pyarrow.csv as arrow_csv

import headgate as hg
from tests.golden import cases


def joins() -> str:
    """Counts and result rows of every join, as CSV."""
    lines = [
        {"join": label, **cases.result(join, cases.read_stream())} for label, join in cases.joins()
    ]
    long_stream = cases.in_sides(cases.make_stream(20_000, 400, even=True))
    for label, join in cases.long_joins():
        lines.append({"join": label, **cases.result(join, long_stream)})
    text = io.StringIO()
    writer = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def profile() -> str:
    """A profile as printed."""
    return f"{_profile()}\n"


def plan() -> str:
    """Plans for memory that suffices and for less, explained."""
    budgets = (hg.Budget(rows=10_000), hg.Budget(rows=40), hg.Budget(memory="4 kB"))
    plans = [cases.join(budget).plan(_profile(), shards=1) for budget in budgets]
    sample = cases.join(budgets[1], goal=hg.Sample()).plan(_profile(), shards=1)
    return "\n\n".join(made.explain() for made in (*plans, sample)) + "\n"


def whatif() -> str:
    """A what-if in words."""
    found = hg.whatif(*cases.read_stream(), join=cases.join(hg.Budget(rows=40)), jobs=1)
    return f"{found}\n"


def _profile() -> hg.Profile:
    tables = cases.read_stream()
    return hg.profile(*tables, left=cases.LEFT, right=cases.RIGHT, on="customer")


RESULTS: dict[str, Callable[[], str]] = {
    "joins.csv": joins,
    "profile.txt": profile,
    "plan.txt": plan,
    "whatif.txt": whatif,
}
"""The files, and what is in them."""


def write() -> None:
    """Write all files anew."""
    arrow_csv.write_csv(cases.make_stream(), cases.STREAM)
    for name, make in RESULTS.items():
        (cases.FOLDER / name).write_text(make())


if __name__ == "__main__":
    write()
