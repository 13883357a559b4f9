"""Cases for the kernel: against its twin, against brute force, and against itself.

Each is small, and takes some milliseconds.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from headgate.kernel.step import Step
from headgate.kernel.twin.twin import Twin
from headgate.policies import ALL_POLICIES, Fifo, Heeb, Policy, Random
from headgate.sampling import ALL_SAMPLERS
from headgate.spec import How, TimeWindow
from headgate.spec.budget import UNLIMITED
from headgate.spec.importance.combine import Combine
from tests.checks.arrivals import Case, exact_pairs
from tests.checks.bumpy import Bumpy
from tests.checks.generated import cases, cuts, deliveries, one_by_one, watchings
from tests.checks.runs import EVERY_ROW, run
from tests.checks.test_every_policy import assert_counted, assert_within_budget
from tests.checks.test_kinds_of_join import assert_as_ruled, assert_no_wrong_row
from tests.fuzzing.seeded_draw import SeededDraw

EVERYONE = (*ALL_POLICIES, *ALL_SAMPLERS, Heeb, Bumpy)
KINDS = tuple(how for how in How if how != How.INNER)


def twin_whole(data: SeededDraw, policy: type[Policy]) -> None:
    """All at once: the twin does the same; no wrong pair, all losses counted, within budget."""
    case = data.draw(cases(policy))
    keep_late, watching = data.rng.random() < 0.5, data.draw(watchings)
    whole = run(case, None, keep_late, Step, watching)
    assert whole == run(case, None, keep_late, Twin, watching)
    assert_within_budget(case, case.terms, whole.steps[-1])
    assert_counted(case, whole, keep_late)
    assert not Counter(whole.pairs) - Counter(exact_pairs(case))


def twin_in_parts(data: SeededDraw, policy: type[Policy]) -> None:
    """Out of order, in several steps, with a watermark that may have passed rows to come."""
    case = data.draw(cases(policy))
    ahead = data.rng.randint(0, 9)
    parts = [p._replace(watermark=p.watermark + ahead) for p in data.draw(deliveries(case))]
    keep_late, watching = data.rng.random() < 0.5, data.draw(watchings)
    found, plain = (run(case, parts, keep_late, kind, watching) for kind in (Step, Twin))
    assert found == plain
    for step in found.steps:
        assert_within_budget(case, case.terms, step)


def cut_anywhere(data: SeededDraw, policy: type[Policy]) -> None:
    """Cutting an input anywhere changes nothing."""
    case = data.draw(cases(policy))
    assert run(case, data.draw(cuts(case))).pairs == run(case).pairs


def ample(data: SeededDraw, policy: type[Policy]) -> None:
    """With memory for all, nothing is missing, in order or not."""
    case = data.draw(cases(policy)).with_ample_memory()
    exact = exact_pairs(case)
    assert sorted(run(case).pairs) == exact
    if all(isinstance(window, TimeWindow) for window in case.windows):
        assert sorted(run(case, data.draw(deliveries(case)), keep_late=True).pairs) == exact


def other_kinds(data: SeededDraw, policy: type[Policy]) -> None:
    """Outer, semi and anti joins: the twin does the same, and no row is wrong."""
    if policy.samples:
        policy = Fifo
    case = _of_kind(data, data.draw(cases(policy)))
    keep_late = data.rng.random() < 0.5
    whole = run(case, None, keep_late, Step)
    assert whole == run(case, None, keep_late, Twin)
    assert_no_wrong_row(case, whole)
    if data.rng.random() < 0.2:
        assert_as_ruled(case, run(case, one_by_one(case)))


def more_budget(data: SeededDraw, policy: type[Policy]) -> None:
    """Under a fixed ranking, more room never loses a pair."""
    case = data.draw(cases(data.rng.choice((Fifo, Random)), time_windows=True))
    case = replace(case, terms=replace(case.terms, fairness=0.0, combine=Combine.NONE, changes=()))
    small, more = data.rng.randint(0, 6), data.rng.randint(0, 4)
    unlimited = (UNLIMITED, UNLIMITED)
    lean, rich = (
        replace(case, terms=replace(case.terms, most_rows=(n, n), most_bytes=unlimited))
        for n in (small, small + more)
    )
    assert not Counter(run(lean).pairs) - Counter(run(rich).pairs)


def shifted(data: SeededDraw, policy: type[Policy]) -> None:
    """Later by the same amount, all is the same; for policies that know no calendar."""
    case = data.draw(cases(data.rng.choice((Fifo, Random)), time_windows=True))
    by = data.rng.choice((1, 1000, 86_400_000_000, 1 << 50))
    later = tuple(row._replace(time=row.time + by) for row in case.arrivals)
    changes = tuple(at + by for at in case.terms.changes)
    moved = replace(case, arrivals=later, terms=replace(case.terms, changes=changes))
    assert run(moved).pairs == run(case).pairs


def watched_all(data: SeededDraw, policy: type[Policy]) -> None:
    """Who is watched meets all it would have met, so that recall is what it is."""
    case = data.draw(cases(policy, time_windows=True))
    case = replace(case, terms=replace(case.terms, combine=Combine.NONE, changes=()))
    found = run(case, None, keep_late=True, watching=EVERY_ROW)
    partners = Counter(i for pair in exact_pairs(case) for i in pair)
    for row, (_, met, _) in found.steps[-1].watched.items():
        assert met <= partners[row]
    ample_case = case.with_ample_memory()
    whole = run(ample_case, None, keep_late=True, watching=EVERY_ROW)
    for row, (_, met, _made) in whole.steps[-1].watched.items():
        assert met == found.steps[-1].watched[row][1], f"row {row}"


def _of_kind(data: SeededDraw, case: Case) -> Case:
    how = data.rng.choice(KINDS)
    terms = replace(
        case.terms,
        how=how,
        filter_slots=data.rng.choice((1, 2, 3, 64)),
        shows_undecided=any(how.outer) and data.rng.random() < 0.5,
    )
    return replace(case, terms=terms)


Check = Callable[[SeededDraw, type[Policy]], None]
CHECKS: tuple[Check, ...] = (
    *(twin_whole, twin_in_parts, twin_in_parts, other_kinds, other_kinds),
    *(cut_anywhere, ample, more_budget, shifted, watched_all),
)


def run_case(seed: int) -> str:
    """Run the case of a seed; its name. Raises where it fails."""
    data = SeededDraw(f"kernel {seed}")
    check, policy = data.rng.choice(CHECKS), data.rng.choice(EVERYONE)
    try:
        check(data, policy)
    except Exception as error:
        error.add_note(f"kernel seed {seed}: {check.__name__}, {policy.name}")
        raise
    return check.__name__
