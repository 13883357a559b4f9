"""Metrics are declared once; what is documented and counted follows from it."""

from dataclasses import dataclass, fields
from pathlib import Path

import pytest

import headgate as hg
from headgate.kernel.layout import Count
from headgate.metrics import LAST, MAX, RATIO, SUM, metric, metrics_of, names_of
from headgate.metrics.metric_groups import (
    JOIN_SUMS,
    LOOKUP_SUMS,
    ExpectedFigures,
    JoinCounts,
    LookupCounts,
    Qualities,
    ShardFigures,
)
from headgate.metrics.metrics_page import page
from headgate.planner.live_curve import EXACT, FULL, PASSED, TIMES

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "metrics.md"
EVERY = metrics_of(*JOIN_SUMS, Qualities, ExpectedFigures, ShardFigures, LookupCounts)


@dataclass(frozen=True)
class Hops:
    """Made up for a test."""

    hops: int = metric("rows", "Rows passed on.", LAST)


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run `make docs`"


def test_a_metric_that_is_declared_is_on_the_page() -> None:
    line = "| `hops` | rows | Rows passed on. | last |"
    assert line in page(join=(*JOIN_SUMS, Hops)).splitlines()
    assert line not in page().splitlines()


@pytest.mark.parametrize("told", EVERY, ids=lambda told: told.name)
def test_every_metric_is_told(told: object) -> None:
    assert isinstance(told, type(EVERY[0]))
    assert told.meaning.endswith(".")
    assert told.batches in (SUM, LAST, MAX, RATIO)


def test_names_occur_once() -> None:
    for groups in ((*JOIN_SUMS, Qualities, ExpectedFigures), LOOKUP_SUMS):
        names = names_of(*groups)
        assert len(set(names)) == len(names)


def test_stats_have_the_metrics_of_their_group() -> None:
    assert tuple(entry.name for entry in fields(hg.Stats)) == names_of(JoinCounts)
    assert tuple(entry.name for entry in fields(hg.LookupStats)) == names_of(LookupCounts)


def test_all_that_the_kernel_counts_is_a_metric() -> None:
    assert {count.name.lower() for count in Count} <= set(names_of(JoinCounts))


def test_what_is_expected_of_memory_is_declared() -> None:
    expected = (EXACT, FULL, PASSED, *(f"expected_{name}" for name in TIMES))
    assert names_of(ExpectedFigures) == expected


def test_stretches_combine_as_declared() -> None:
    first = hg.Stats(pairs=2, stored_rows=5, peak_rows=9, lifetimes=1.5)
    later = hg.Stats(pairs=3, stored_rows=4, peak_rows=7, lifetimes=2.0)
    both = hg.Stats(pairs=5, stored_rows=4, peak_rows=9, lifetimes=3.5)
    assert first.then(later) == both
