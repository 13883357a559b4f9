"""Residence priorities that are not computed at every decision: kernel and twin agree."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.kernel.layout import Count
from headgate.kernel.step import Step
from headgate.kernel.terms import Terms
from headgate.kernel.twin.twin import Twin
from headgate.policies import Ijoin
from headgate.spec import TimeWindow
from headgate.spec.budget import UNLIMITED
from headgate.spec.importance.combine import Combine
from tests.checks.arrivals import Arrival, Case
from tests.checks.generated import cases, deliveries
from tests.checks.runs import run
from tests.thoroughness import examples

SCHEMES = {
    "every third decision": Ijoin(recompute=3),
    "every third, told at first": Ijoin(
        maturity=timedelta(microseconds=1), recompute=3, initial=1e5
    ),
    "every fiftieth": Ijoin(maturity=timedelta(0), recompute=50),
    "when importance falls": Ijoin(recompute="adaptive", epsilon=0.2),
}
"""A cut is a decision to compute them all, so these are not checked for cuts."""


@pytest.mark.parametrize("scheme", SCHEMES)
@examples(50)
@given(data=st.data())
def test_kernel_agrees_with_plain_python(scheme: str, data: st.DataObject) -> None:
    case = data.draw(cases(Ijoin))
    case = replace(case, terms=replace(case.terms, policy=SCHEMES[scheme]))
    parts = data.draw(st.one_of(st.none(), deliveries(case)))
    keep_late = data.draw(st.booleans())
    runs = (run(case, parts, keep_late, kind) for kind in (Step, Twin))
    for kernel, plain in zip(*(each.steps for each in runs), strict=True):
        assert kernel == plain


@examples(20)
@given(data=st.data())
def test_fewer_computations_are_counted_as_fewer(data: st.DataObject) -> None:
    case = data.draw(cases(Ijoin))
    counts = []
    for policy in (Ijoin(recompute="successive"), Ijoin(recompute=50)):
        ran = run(replace(case, terms=replace(case.terms, policy=policy)))
        counts.append(sum(ran.count(Count.RECOMPUTED, pool) for pool in (0, 1)))
    assert counts[1] <= counts[0]


@pytest.mark.parametrize("hot", [False, True])
def test_kernel_agrees_with_plain_python_where_most_rows_are_set_aside(hot: bool) -> None:
    """Enough rows that a bound is guessed, with few matches and with many."""
    rng = np.random.default_rng(5)
    time, rows = 0, []
    for _ in range(900):
        time += int(rng.integers(1, 4))
        key = int(rng.integers(0, 4)) if hot else int(rng.integers(0, 4)) * int(rng.random() < 0.1)
        null = not hot and key == 0 and rng.random() < 0.7
        rows.append(Arrival(time, int(rng.integers(0, 2)), -1 if null else key, 1, 0))
    windows = (TimeWindow(1000), TimeWindow(1000))
    terms = Terms(windows, Ijoin(), (130, UNLIMITED), combine=Combine.MIN)
    case = Case(tuple(sorted(rows, key=lambda row: (row.time, row.side))), terms)
    kernel, plain = (run(case, engine=kind) for kind in (Step, Twin))
    assert kernel.count(Count.SHED, 0) > 50
    assert kernel.count(Count.RECOMPUTED, 0) > 10
    assert kernel == plain
