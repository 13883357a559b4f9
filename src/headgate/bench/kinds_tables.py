"""The page of kinds of join: what a filter saves, what early release is worth, recall by policy."""

from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown

from headgate.bench.kinds_bench import (
    MEMORIES,
    ROWS,
    FilterGain,
    ReleaseGain,
    measure_filter,
    measure_release,
)
from headgate.bench.kinds_recall import POLICIES, KindRecall, measure_recall
from headgate.bench.kinds_recall import ROWS as ROWS_OF_RECALL
from headgate.bench.kinds_recall import SEEDS as SEEDS_OF_RECALL

PAGE = Path("out/kinds.md")
"""Where the page is written."""

_HEAD = """\
# Kinds of join, measured

After this page you know how much of its result each kind of join makes within a budget, and what
the filter of given-up keys and early release add to it.

Written by `headgate bench --part kinds` on {day}. Windows are of 60 s, 500 rows of each side come
in a second. Keys are even or Zipf (exponent 1) over 30,000; in the third stream a row has a key of
its own, and 70 % are answered after 5 s on average.
"""
_FILTER = """\
## What the filter of given-up keys saves

A left join of {rows:,} rows a side, rows of both sides wait, within {shares} of what the exact join
stores. "in truth" are the left rows without a partner. Of these, "certain" come out as unmatched.
"undecided" are the left rows given up without an answer. There is no filter; or one that takes 2 %
of the budget, as Headgate has it; or one that tells every key apart and costs nothing, the most
that any filter could save.
"""
_RELEASE = """\
## What early release is worth to a semi join

Recall within a tenth of the memory that the inner join takes, {rows:,} rows a side, rows of both
sides wait: with left rows kept after their first match, as in an inner join, and with left rows let
go at it.
"""
_RECALL = """\
## Recall of each kind by policy

Recall of the kind's own result within a tenth of what its exact join stores, {rows:,} rows a side;
the mean of seeds {seeds}, which nothing was tuned on.
"""


def show_kinds(console: Console) -> None:
    """Measure, print the tables, and write them as a page."""
    with console.status("measuring what the filter of given-up keys saves") as status:
        gains = list(measure_filter())
        status.update("measuring what early release is worth")
        releases = list(measure_release())
        recalls = []
        for found in measure_recall():
            recalls.append(found)
            status.update(f"measuring recall: {found.stream}, {found.waits}, {found.how}")
    page = kinds_page(gains, releases, recalls)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page)
    console.print(Markdown(page))
    console.print(f"written to {PAGE}")


def kinds_page(
    gains: Iterable[FilterGain], releases: Iterable[ReleaseGain], recalls: Iterable[KindRecall]
) -> str:
    """The page, given all that was measured."""
    seeds = ", ".join(map(str, SEEDS_OF_RECALL))
    *some, last = (f"{share:.0%}".replace("%", " %") for share in MEMORIES)
    shares = f"{', '.join(some)} and {last}"
    parts = [
        _HEAD.format(day=date.today()),
        _FILTER.format(rows=ROWS, shares=shares),
        _filter_table(gains),
        _RELEASE.format(rows=ROWS),
        _release_table(releases),
        _RECALL.format(rows=ROWS_OF_RECALL, seeds=seeds),
        _recall_table(recalls),
    ]
    return "\n".join(parts)


def _filter_table(gains: Iterable[FilterGain]) -> str:
    rows = []
    for gain in gains:
        for size, undecided in gain.undecided.items():
            counts = gain.memory, gain.truly_unmatched, gain.certain[size], undecided
            rows.append((gain.stream, gain.policy, size, *_counts(counts)))
    numbers = ("memory, rows", "in truth", "certain", "undecided")
    return _table(("keys", "policy", "filter"), numbers, rows)


def _release_table(releases: Iterable[ReleaseGain]) -> str:
    rows = []
    for each in releases:
        shares = _shares((each.without, each.released))
        rows.append((each.stream, each.policy, *_counts([each.memory]), *shares))
    return _table(("stream", "policy"), ("memory, rows", "without release", "with it"), rows)


def _recall_table(recalls: Iterable[KindRecall]) -> str:
    rows = []
    for each in recalls:
        shares = _shares([each.recall[policy] for policy in POLICIES])
        rows.append((each.stream, each.waits, each.how, *_counts([each.memory]), *shares))
    return _table(("stream", "windows", "how"), ("memory, rows", *POLICIES), rows)


def _counts(counts: Iterable[int]) -> tuple[str, ...]:
    return tuple(f"{count:,}" for count in counts)


def _shares(shares: Iterable[float]) -> tuple[str, ...]:
    return tuple(f"{share:.3f}" for share in shares)


def _table(words: Sequence[str], numbers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rules = ["---"] * len(words) + ["--:"] * len(numbers)
    lines = [[*words, *numbers], rules, *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
