"""What watched rows meet by class of row does not depend on where steps are cut."""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from headgate.kernel.watched import Watching
from headgate.policies import Fifo
from tests.checks.arrivals import Case
from tests.checks.dense import DENSITIES
from tests.checks.generated import MEETINGS, cases, cuts, deliveries
from tests.checks.runs import Part, run
from tests.thoroughness import examples

EVERY_ROW = Watching(5, 1.0, 3, meetings=MEETINGS)
STORED_ROWS = Watching(5, 0.0, 3, meetings=MEETINGS._replace(stored=1.0))


def meetings(case: Case, parts: list[Part] | None, watching: Watching) -> list[Counter[object]]:
    """Meetings, and waiting, of all steps together."""
    steps = run(case, parts, watching=watching).steps
    return [sum((Counter(step.meetings[at]) for step in steps), Counter()) for at in (0, 1)]


@examples(30)
@given(data=st.data())
def test_meetings_are_the_same_wherever_steps_are_cut(data: st.DataObject) -> None:
    case = data.draw(cases(Fifo, time_windows=True))
    assert meetings(case, data.draw(cuts(case)), EVERY_ROW) == meetings(case, None, EVERY_ROW)


@examples(30)
@given(data=st.data())
def test_stored_rows_tell_what_watched_ones_do(data: st.DataObject) -> None:
    case = data.draw(cases(Fifo, time_windows=True))
    terms = replace(case.terms, policy=data.draw(st.sampled_from(DENSITIES)), combine=0, changes=())
    case = replace(case, terms=terms)
    parts = data.draw(cuts(case))
    ample = case.with_ample_memory()
    assert meetings(ample, parts, STORED_ROWS) == meetings(ample, None, EVERY_ROW)
    assert meetings(case, parts, STORED_ROWS) == meetings(case, None, STORED_ROWS)
    late = data.draw(deliveries(case))
    assert meetings(case, late, STORED_ROWS) == meetings(case, late, STORED_ROWS)
