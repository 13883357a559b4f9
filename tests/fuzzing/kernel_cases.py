"""Cases for the kernel: against its twin, against brute force, and against itself.

A seed generates one join of at most forty rows, and compares it in several ways, each of which
takes a millisecond or two. A few seeds have hundreds of rows.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from headgate.kernel import step as step_module
from headgate.kernel.step import Step
from headgate.kernel.twin.twin import Twin
from headgate.policies import ALL_POLICIES, Fifo, Heeb, Lru, Policy, Random
from headgate.sampling import ALL_SAMPLERS
from headgate.spec import How, TimeWindow
from headgate.spec.budget import UNLIMITED
from headgate.spec.importance.combine import Combine
from tests.checks.arrivals import NULL, Case, exact_pairs
from tests.checks.bumpy import Bumpy
from tests.checks.generated import (
    MANY_ROWS,
    cases,
    cuts,
    deliveries,
    one_by_one,
    watchings,
)
from tests.checks.runs import EVERY_ROW, KEYS, count_pairs, pairs_of, run
from tests.checks.test_every_policy import assert_counted, assert_within_budget
from tests.checks.test_kinds_of_join import (
    assert_as_ruled,
    assert_exact,
    assert_no_wrong_row,
    outcome,
)
from tests.fuzzing.seeded_draw import SeededDraw

EVERYONE = (*ALL_POLICIES, *ALL_SAMPLERS, Heeb, Bumpy)
KINDS = tuple(how for how in How if how != How.INNER)
LATER = (1, 1000, 86_400_000_000, 1 << 50)


def whole(data: SeededDraw, policy: type[Policy], passed: Counter[str]) -> None:
    """All at once: as the twin, no wrong pair, all losses counted, within budget; cut anywhere,
    or in blocks of few pairs, the pairs are the same."""
    case = data.draw(cases(policy))
    keep_late, watching = data.rng.random() < 0.5, data.draw(watchings)
    found = run(case, None, keep_late, Step, watching)
    assert found == run(case, None, keep_late, Twin, watching)
    passed["twin_whole"] += 1
    assert_within_budget(case, case.terms, found.steps[-1])
    passed["within_budget"] += 1
    assert_counted(case, found, keep_late)
    passed["losses_counted"] += 1
    exact = exact_pairs(case)
    assert not Counter(found.pairs) - Counter(exact)
    passed["part_of_brute_force"] += 1
    plain = pairs_of(case)
    if not keep_late:
        assert plain == found.pairs
        passed["unwatched"] += 1
    assert _in_blocks(case, data.rng.randint(1, 8)) == plain
    passed["in_blocks"] += 1
    assert pairs_of(case, data.draw(cuts(case))) == plain
    passed["cut_anywhere"] += 1
    _without_limits(data, case, exact, passed)


def _without_limits(
    data: SeededDraw, case: Case, exact: list[tuple[int, int]], passed: Counter[str]
) -> None:
    """With memory for all, nothing is missing: in order or not, with sides swapped or cut."""
    case = case.with_ample_memory()
    assert sorted(pairs_of(case)) == exact
    passed["ample"] += 1
    assert count_pairs(case) == len(exact)
    passed["ample_counted"] += 1
    if not all(isinstance(window, TimeWindow) for window in case.windows):
        return
    assert sorted(pairs_of(case, data.draw(deliveries(case)), keep_late=True)) == exact
    passed["ample_out_of_order"] += 1
    if not case.terms.policy.samples and isinstance(case.terms.policy, Fifo | Random | Lru):
        assert sorted((a, b) for b, a in pairs_of(_swapped(case))) == exact
        passed["swapped"] += 1


def fixed_ranking(data: SeededDraw, policy: type[Policy], passed: Counter[str]) -> None:
    """Where the ranking depends on order alone: more room never loses a pair; later by the same
    amount, or with other names for keys, all is the same."""
    case = data.draw(cases(data.rng.choice((Fifo, Random)), time_windows=True))
    case = replace(case, terms=replace(case.terms, fairness=0.0, combine=Combine.NONE, changes=()))
    plain = pairs_of(case)
    assert plain == run(case, None, False, Twin).pairs
    passed["twin_pairs"] += 1
    room = data.rng.randint(0, 3)
    before: Counter[tuple[int, int]] = Counter()
    for _ in range(3):
        pairs = Counter(pairs_of(_with_rows(case, room)))
        assert not before - pairs
        before, room = pairs, room + data.rng.randint(1, 3)
    passed["more_budget"] += 2
    by = data.rng.choice(LATER)
    later = tuple(row._replace(time=row.time + by) for row in case.arrivals)
    assert pairs_of(replace(case, arrivals=later)) == plain
    passed["shifted"] += 1
    names = data.rng.sample(range(KEYS), KEYS)
    renamed = tuple(
        row if row.key == NULL else row._replace(key=names[row.key]) for row in case.arrivals
    )
    assert pairs_of(replace(case, arrivals=renamed)) == plain
    passed["renamed"] += 1
    for _ in range(2):
        assert pairs_of(case, data.draw(cuts(case))) == plain
        passed["cut_anywhere"] += 1


def in_parts(data: SeededDraw, policy: type[Policy], passed: Counter[str]) -> None:
    """Out of order, in several steps, with a watermark that may have passed rows to come."""
    case = data.draw(cases(policy))
    ahead = data.rng.randint(0, 9)
    parts = [p._replace(watermark=p.watermark + ahead) for p in data.draw(deliveries(case))]
    keep_late, watching = data.rng.random() < 0.5, data.draw(watchings)
    found, plain = (run(case, parts, keep_late, kind, watching) for kind in (Step, Twin))
    assert found == plain
    passed["twin_in_parts"] += 1
    for step in found.steps:
        assert_within_budget(case, case.terms, step)
    passed["within_budget"] += 1


def many_rows(data: SeededDraw, policy: type[Policy], passed: Counter[str]) -> None:
    """With hundreds of rows stored: as the twin."""
    case = data.draw(cases(policy, time_windows=True, scale=MANY_ROWS))
    assert run(case, None, False, Step) == run(case, None, False, Twin)
    passed["twin_of_many_rows"] += 1


def other_kinds(data: SeededDraw, policy: type[Policy], passed: Counter[str]) -> None:
    """Outer, semi and anti joins: as the twin, no wrong row, however cut; exact with memory for
    all; undecided is what must be."""
    case = _of_kind(data, data.draw(cases(Fifo if policy.samples else policy)))
    keep_late = data.rng.random() < 0.5
    found = run(case, None, keep_late, Step)
    assert found == run(case, None, keep_late, Twin)
    passed["twin_of_other_kinds"] += 1
    assert_no_wrong_row(case, found)
    passed["no_wrong_row"] += 1
    if not keep_late:
        split = run(case, data.draw(cuts(case)))
        assert outcome(split, case) == outcome(found, case)
        passed["other_kinds_cut"] += 1
    ample = case.with_ample_memory()
    assert_exact(ample, run(ample))
    passed["other_kinds_ample"] += 1
    if data.rng.random() < 0.1:
        assert_as_ruled(case, run(case, one_by_one(case)))
        passed["undecided_as_ruled"] += 1


def watched_all(data: SeededDraw, policy: type[Policy], passed: Counter[str]) -> None:
    """Who is watched meets all it would have met, so that recall is what it is."""
    case = data.draw(cases(policy, time_windows=True))
    case = replace(case, terms=replace(case.terms, combine=Combine.NONE, changes=()))
    found = run(case, None, keep_late=True, watching=EVERY_ROW)
    partners = Counter(i for pair in exact_pairs(case) for i in pair)
    for row, (_, met, _) in found.steps[-1].watched.items():
        assert met <= partners[row]
    passed["met_by_brute_force"] += 1
    ample_case = case.with_ample_memory()
    ample = run(ample_case, None, keep_late=True, watching=EVERY_ROW)
    for row, (_, met, _made) in ample.steps[-1].watched.items():
        assert met == found.steps[-1].watched[row][1], f"row {row}"
    passed["watched_all"] += 1


def _in_blocks(case: Case, pairs: int) -> list[tuple[int, int]]:
    """The pairs, where the kernel has room for so many at once."""
    kept = step_module.PAIRS_AT_ONCE
    step_module.PAIRS_AT_ONCE = pairs
    try:
        return pairs_of(case)
    finally:
        step_module.PAIRS_AT_ONCE = kept


def _swapped(case: Case) -> Case:
    """The same rows and windows with left for right."""
    where = case.terms.where
    terms = replace(
        case.terms,
        windows=case.windows[::-1],
        where=None if where is None else where.mirrored(),
    )
    arrivals = tuple(row._replace(side=1 - row.side) for row in case.arrivals)
    return replace(case, arrivals=arrivals, terms=terms)


def _with_rows(case: Case, rows: int) -> Case:
    """The same join with room for so many rows a side."""
    terms = replace(case.terms, most_rows=(rows, rows), most_bytes=(UNLIMITED, UNLIMITED))
    return replace(case, terms=terms)


def _of_kind(data: SeededDraw, case: Case) -> Case:
    how = data.rng.choice(KINDS)
    terms = replace(
        case.terms,
        how=how,
        filter_slots=data.rng.choice((1, 2, 3, 64)),
        shows_undecided=any(how.outer) and data.rng.random() < 0.5,
    )
    return replace(case, terms=terms)


Check = Callable[[SeededDraw, type[Policy], Counter[str]], None]
CHECKS: tuple[Check, ...] = (
    *(whole,) * 4,
    *(fixed_ranking,) * 2,
    *(other_kinds,) * 3,
    *(in_parts,) * 2,
    watched_all,
)
MANY = 100
"""Of so many seeds, one is of many rows: it takes as long as all others."""


def run_case(seed: int) -> Counter[str]:
    """Run the cases of a seed; how many passed, by name. Raises where one fails."""
    data = SeededDraw(f"kernel {seed}")
    check, policy = data.rng.choice(CHECKS), data.rng.choice(EVERYONE)
    if seed % MANY == 0:
        check = many_rows
    passed: Counter[str] = Counter()
    try:
        check(data, policy, passed)
    except Exception as error:
        error.add_note(f"kernel seed {seed}: {check.__name__}, {policy.name}, after {passed}")
        raise
    return passed
