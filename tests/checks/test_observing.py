"""Policies that learn from what became of the rows they kept."""

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from headgate.kernel.step import Step
from headgate.kernel.terms import Terms
from headgate.kernel.twin.twin import Twin
from headgate.spec import TimeWindow
from tests.checks.arrivals import Arrival, Case
from tests.checks.bumpy import Observing
from tests.checks.generated import cases, deliveries
from tests.checks.runs import run
from tests.thoroughness import examples


@examples(100)
@given(data=st.data())
def test_kernel_and_plain_python_tell_a_policy_the_same(data: st.DataObject) -> None:
    case = data.draw(cases(Observing))
    parts = data.draw(deliveries(case))
    keep_late = data.draw(st.booleans())
    runs = [run(case, parts, keep_late, engine) for engine in (Step, Twin)]
    for kernel, plain in zip(*(each.steps for each in runs), strict=True):
        assert kernel == plain


def test_departures_say_what_became_of_rows() -> None:
    """A row is told of once, when it has left or its window has passed, with its matches, its
    offset on arrival, and how long it was stored within its window."""
    rows = [Arrival(0, 0, 1, 1, 0), Arrival(2, 1, 1, 1, 0), Arrival(9, 1, 3, 1, 0)]
    terms = Terms((TimeWindow(4), TimeWindow(0)), Observing(follows_time=False))
    case = Case(tuple(rows), replace(terms, most_rows=(5, 0)))
    told = json.loads(run(case).steps[-1].after.memory)["told"]
    side, offset, matches, stayed = told[-4:]
    assert (side, offset, matches, stayed) == ([0], [1], [1], [4])
