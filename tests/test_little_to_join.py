"""Inputs with little or nothing to join, under every policy and goal: an answer, never a crash."""

from collections import Counter
from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.spec.budget import AMPLE
from headgate.studies.streams import Streams, keyed
from tests.thoroughness import spread
from tests.ways import WAYS

ROWS = 2_400
"""A side: more than it takes before what was learned is first asked for."""
BUDGET = 50
NOTHING = np.empty(0, np.int64)
WINDOWS = ((0, 0), (30, 0), (30, 30))


class Rows(NamedTuple):
    """Rows of a side: keys, and seconds from the start."""

    keys: np.ndarray
    seconds: np.ndarray


def all_rows() -> Rows:
    return Rows(np.arange(ROWS) % 40, np.arange(ROWS) // 20)


SIDES: dict[str, tuple[Rows, Rows]] = {
    "no left rows": (Rows(NOTHING, NOTHING), all_rows()),
    "no right rows": (all_rows(), Rows(NOTHING, NOTHING)),
    "no rows": (Rows(NOTHING, NOTHING), Rows(NOTHING, NOTHING)),
    "one row each": (Rows(np.array([1]), np.array([1])), Rows(np.array([1]), np.array([1]))),
    "one row at the end": (all_rows(), Rows(np.array([7]), np.array([ROWS // 20 - 1]))),
    "keys that never meet": (all_rows(), Rows(all_rows().keys + 100, all_rows().seconds)),
    "one key": (Rows(np.zeros(60, np.int64), np.arange(60)),) * 2,
    "one time": (Rows(np.arange(300) % 40, np.zeros(300, np.int64)),) * 2,
    "one side after the other": (all_rows(), Rows(all_rows().keys, all_rows().seconds + 1_000)),
}


@cache
def streams_of(case: str, windows: tuple[int, int]) -> Streams:
    left, right = SIDES[case]
    streams = keyed((left.keys, right.keys), (left.seconds, right.seconds), windows)
    tables = [
        table.append_column("worth", pa.array(np.arange(table.num_rows) % 3 + 1.0)).append_column(
            name, pa.array(np.arange(table.num_rows))
        )
        for table, name in zip(streams.tables, ("lid", "rid"), strict=True)
    ]
    return Streams(tables[0], tables[1], windows)


def ids(pairs: pa.Table) -> Counter:
    return Counter(zip(*(pairs.column(name).to_pylist() for name in ("lid", "rid")), strict=True))


@cache
def exact(case: str, windows: tuple[int, int]) -> Counter:
    return ids(streams_of(case, windows).join("fifo", AMPLE).pairs)


@pytest.mark.parametrize(("way", "case"), spread(WAYS, SIDES, apart=3))
def test_a_join_answers_where_there_is_little_to_join(way: str, case: str) -> None:
    asked = {"policy": "auto", **WAYS[way]}
    for windows in WINDOWS:
        streams = streams_of(case, windows)
        outcome = streams.request(budget=hg.Budget(rows=BUDGET), **asked).run(*streams.tables)
        assert ids(outcome.pairs) <= exact(case, windows), windows
        assert outcome.stats.peak_rows <= BUDGET
        assert 0 <= outcome.recall <= 1


@pytest.mark.parametrize("case", SIDES)
@pytest.mark.parametrize("kind", ["auto", "cluster"])
def test_a_sample_is_planned_or_refused_with_the_reason(kind: str, case: str) -> None:
    for windows in WINDOWS:
        streams = streams_of(case, windows)
        join = streams.request("auto", hg.Budget(rows=BUDGET), goal=hg.Sample(kind))
        profile = hg.profile(*streams.tables, on="key", left=join.left, right=join.right)
        if any(windows) and profile.trace is not None and not exact(case, windows):
            with pytest.raises(hg.SpecError, match="nothing to sample"):
                join.plan(profile)
            continue
        planned = join.plan(profile)
        assert planned.explain()
        assert ids(planned.join.run(*streams.tables).pairs) <= exact(case, windows)
