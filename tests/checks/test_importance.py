"""Rows that matter more than others, under scores that change all the time."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.kernel.layout import Count
from headgate.kernel.step import Step
from headgate.kernel.terms import Terms
from headgate.kernel.twin.twin import Twin
from headgate.models import AgeCurves
from headgate.policies import Age, Heeb, Life, Policy
from headgate.policies.importance_levels import importance_levels
from headgate.spec import TimeWindow
from headgate.spec.budget import UNLIMITED
from headgate.spec.importance.combine import Combine
from tests.checks.arrivals import Arrival, Case
from tests.checks.bumpy import Bumpy, Observing
from tests.checks.generated import cases, cuts, deliveries, watchings
from tests.checks.runs import run
from tests.thoroughness import examples

IMPORTANCES = (1.0, 0.0, 0.3, 1.0, 2.0, 2.1, 40.0)
KINDS = (Age, Life, Heeb, Bumpy, Observing)
every_kind = pytest.mark.parametrize("policy", KINDS, ids=lambda policy: policy.name)


@st.composite
def weighted(draw: st.DrawFn, policy: type[Policy]) -> Case:
    """Inputs whose rows matter differently, some not at all."""
    case = draw(cases(policy))
    # What pairs are worth is no matter here; `test_every_policy` has that.
    case = replace(case, terms=replace(case.terms, combine=Combine.NONE, changes=()))
    rows = len(case.arrivals)
    drawn = draw(st.lists(st.sampled_from(IMPORTANCES), min_size=rows, max_size=rows))
    return replace(case, importance=tuple(drawn))


@every_kind
@examples(40)
@given(data=st.data())
def test_in_order(policy: type[Policy], data: st.DataObject) -> None:
    """The kernel agrees with plain Python; a split input gives the same answer, whichever levels
    its parts have; only the ratios of importance matter."""
    case = data.draw(weighted(policy))
    keep_late, watching = data.draw(st.booleans()), data.draw(watchings)
    kernel, plain = (run(case, None, keep_late, kind, watching) for kind in (Step, Twin))
    assert kernel == plain
    if policy is Observing:
        return  # it learns from step to step, by what is stored
    whole, split = run(case), run(case, data.draw(cuts(case)))
    assert split.pairs == whole.pairs == kernel.pairs
    assert split.alive == whole.alive
    assert split.steps[-1].after == whole.steps[-1].after
    for side in (0, 1):
        for what in (Count.SHED, Count.REFUSED):
            assert split.count(what, side) == whole.count(what, side)
    importance = case.importance or ()
    doubled = replace(case, importance=tuple(2 * one for one in importance))
    alike = replace(case, importance=(1.0,) * len(importance))
    assert run(doubled) == whole
    assert run(alike) == run(replace(case, importance=None))


@every_kind
@examples(40)
@given(data=st.data())
def test_kernel_agrees_with_plain_python_out_of_order(
    policy: type[Policy], data: st.DataObject
) -> None:
    case = data.draw(weighted(policy))
    parts = data.draw(deliveries(case))
    keep_late = data.draw(st.booleans())
    runs = (run(case, parts, keep_late, kind) for kind in (Step, Twin))
    for kernel, plain in zip(*(each.steps for each in runs), strict=True):
        assert kernel == plain


def test_what_matters_more_stays() -> None:
    """Of rows that match as often at their age, those of least importance go; of equals, as ever,
    the eldest, since the score falls with age."""
    curves = AgeCurves.of_buckets((90, 90), ((9, 4, 1), (9, 4, 1)))
    rows = [Arrival(time, 0, 1, 1, 0) for time in range(8)]
    terms = Terms((TimeWindow(90), TimeWindow(90)), Age(curves), (4, UNLIMITED))
    case = Case(tuple(rows), terms, importance=(2, 1, 1, 2, 0.1, 0, 1, 1))
    assert run(case).alive == [0, 3, 6, 7]


@examples(60)
@given(
    importance=st.lists(st.floats(1e-30, 1e30) | st.sampled_from((0.0, 1.0)), max_size=60),
    cut=st.integers(0, 60),
)
def test_levels_round_each_importance_by_itself(importance: list[float], cut: int) -> None:
    given = np.array(importance, np.float64)
    level, weights = importance_levels(given)
    assert np.all(np.diff(weights) > 0)
    assert len(given) == 0 or set(level) == set(range(len(weights)))
    rounded = weights[level]
    np.testing.assert_allclose(rounded, given, rtol=0.0906)
    assert np.all(rounded[given == 1.0] == 1.0)
    parts = [weights[level] for level, weights in map(importance_levels, np.split(given, [cut]))]
    assert np.concatenate(parts).tolist() == rounded.tolist()


def test_levels_of_what_is_not_a_number_above_zero() -> None:
    level, weights = importance_levels(np.array([[np.nan, -1.0, 0.0], [np.inf, 1.0, 1e300]]))
    assert level.tolist() == [[0, 0, 0], [2, 1, 2]]
    assert weights[:2].tolist() == [0.0, 1.0]
    assert np.isfinite(weights[2])
