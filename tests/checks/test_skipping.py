"""Work skipped for want of processor time, × every policy that is no sample."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.kernel.layout import Count
from headgate.kernel.pace import Costs, Pace
from headgate.kernel.rows import Rows
from headgate.kernel.skipped_work import LOOKS
from headgate.kernel.step import Step
from headgate.kernel.step_input import StepInput
from headgate.kernel.terms import Terms
from headgate.kernel.twin.twin import Twin
from headgate.kernel.watched import Watching
from headgate.policies import ALL_POLICIES, Fifo, Policy
from headgate.spec import TimeWindow
from tests.checks.arrivals import Case, exact_pairs
from tests.checks.generated import cases, cuts, deliveries, watchings
from tests.checks.runs import run
from tests.thoroughness import examples

POLICIES = [policy for policy in ALL_POLICIES if not policy.is_offline and not policy.learns]
each_policy = pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
few_examples = examples(10)
SHARES = (0.0, 0.25, 0.5, 0.9, 1.0)


@st.composite
def paces(draw: st.DrawFn, policy: type[Policy]) -> Pace:
    """Costs are sums of powers of two, so that no order of adding them up matters."""
    eighths = st.integers(0, 16).map(lambda number: number / 8)
    return Pace(
        Costs(draw(eighths) / 8, draw(eighths), draw(eighths)),
        seconds=draw(st.sampled_from((0.0, 1.0, 4.0, 16.0, 64.0))),
        storing=draw(st.sampled_from((0.0, 1.0, 4.0, 16.0))),
        meets=(draw(eighths), draw(eighths)),
        chance=(draw(eighths), draw(eighths)),
        by_weight=policy.weighs_matches and draw(st.booleans()),
        waits=(1.0 + draw(eighths), 1.0 + draw(eighths)),
        span=draw(st.sampled_from((0.5, 4.0, 64.0))),
    )


@st.composite
def hurried(draw: st.DrawFn, policy: type[Policy]) -> Case:
    """A case with too little time, or with shares told for each row, or both."""
    case = draw(cases(policy))
    kind = draw(st.sampled_from(("pace", "shares", "both")))
    if kind != "shares":
        pace = replace(draw(paces(policy)), let_in=draw(st.sampled_from((1.0, 0.5))))
        case = replace(case, terms=replace(case.terms, pace=pace, seed=4))
    if kind != "pace":
        shares = st.tuples(st.sampled_from(SHARES), st.sampled_from(SHARES))
        told = draw(st.lists(shares, min_size=1, max_size=4))
        effort = tuple(told[i % len(told)] for i in range(len(case.arrivals)))
        case = replace(case, effort=effort)
    return case


@each_policy
@few_examples
@given(data=st.data())
def test_kernel_agrees_with_plain_python(policy: type[Policy], data: st.DataObject) -> None:
    case = data.draw(hurried(policy))
    parts, keep_late = data.draw(deliveries(case)), data.draw(st.booleans())
    watching = data.draw(watchings)
    runs = [run(case, parts, keep_late, engine, watching) for engine in (Step, Twin)]
    for kernel, plain in zip(*(each.steps for each in runs), strict=True):
        assert kernel == plain


@each_policy
@few_examples
@given(data=st.data())
def test_invents_no_pair_and_counts_every_loss(policy: type[Policy], data: st.DataObject) -> None:
    case = data.draw(hurried(policy))
    made = run(case, data.draw(cuts(case)))
    exact = exact_pairs(case)
    assert not set(made.pairs) - set(exact)
    causes = (Count.REFUSED, Count.SHED, Count.RETIRED, Count.UNPROBED, Count.UNSTORED)
    if not any(made.count(cause, side) for cause in causes for side in (0, 1)):
        assert sorted(made.pairs) == exact


@few_examples
@given(data=st.data())
def test_a_step_does_no_more_work_than_it_may(data: st.DataObject) -> None:
    """But for that of the last arrival that still had time."""
    case = data.draw(hurried(Fifo))
    pace = data.draw(paces(Fifo))
    case = replace(case, terms=replace(case.terms, pace=pace))
    step = run(case).steps[0]
    count = {what: sum(step.counts[what]) for what in Count}
    looked_at = len(case.arrivals) - count[Count.NULL_KEYS]
    most_pairs = max(
        (len([p for p in step.pairs if i in p]) for p in step.pairs for i in p), default=0
    )
    probing = pace.costs.pair * count[Count.PAIRS]
    storing = pace.costs.store * count[Count.ADMITTED]
    arriving = pace.costs.arrive * looked_at
    last = pace.costs.pair * most_pairs
    # Storing was decided beforehand; it is paid for by probing less.
    assert probing <= max(pace.seconds - arriving, 0.0) + last
    if count[Count.UNPROBED] == 0:
        assert probing + storing + arriving <= pace.seconds + last + storing


@few_examples
@given(data=st.data())
def test_shares_of_one_change_nothing(data: st.DataObject) -> None:
    case = data.draw(cases(Fifo))
    parts = data.draw(cuts(case))
    whole = replace(case, effort=((1.0, 1.0),) * len(case.arrivals))
    assert run(case, parts).steps == run(whole, parts).steps


@few_examples
@given(data=st.data())
def test_shares_of_nothing_do_nothing(data: st.DataObject) -> None:
    case = data.draw(cases(Fifo)).with_ample_memory()
    rows = len(case.arrivals)
    unprobed = run(replace(case, effort=((0.0, 1.0),) * rows))
    assert not unprobed.pairs
    assert unprobed.alive == run(case).alive
    unstored = run(replace(case, effort=((1.0, 0.0),) * rows))
    assert not unstored.pairs
    assert not unstored.alive


def test_watched_rows_know_of_the_probes_left_out() -> None:
    """What they met is told without bias, though few of those probes are made."""
    rows, keys = 40_000, 20
    time = np.arange(rows, dtype=np.int64) * 1000
    rng = np.random.default_rng(3)

    def side(share: float) -> Rows:
        code = rng.integers(0, keys, rows).astype(np.int32)
        batch = Rows.of_arrivals(time, code, np.ones(rows, np.int64), np.zeros(rows))
        return batch._replace(effort=np.array([[share], [1.0]]).repeat(rows, axis=1))

    terms = Terms((TimeWindow(200_000), TimeWindow(200_000)), Fifo(), seed=1)
    sides = (side(0.3), side(0.3))
    nothing = (Rows.empty(), Rows.empty())
    step = Step(StepInput(terms, nothing, sides, keys, watching=Watching(2, 0.2, 4)))
    pairs = sum(len(block.left) for block in step.pairs())
    whole = (sides[0]._replace(effort=None), sides[1]._replace(effort=None))
    exact = Step(StepInput(terms.exact(), nothing, whole, keys)).count_pairs()
    met, made = (
        sum(float(getattr(step.watched(side), name).sum()) for side in (0, 1))
        for name in ("met", "made")
    )
    assert 0 < LOOKS < 1
    assert made / met == pytest.approx(pairs / exact, rel=0.05)
    assert pairs / exact == pytest.approx(0.3, rel=0.03)
