"""Examples 3.3 and 3.4: AGE step by step, on streams of a row a second."""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from headgate.spec import Budget
from headgate.studies.study import Claim, ClaimFinding, Row, Study, StudyCell
from headgate.studies.trial import ProbeTrial, seconds, stream
from headgate.studies.vldb04.strategies import AGE, PAPER, RECENT, age_curve, strategy

P33, P34 = (1, 1, 2, 1), (3, 0, 2)
"""Matches a row makes by age 1, 2, …: the age curves of the two examples."""
STEADY_FROM, STEADY_UNTIL = 13, 37
"""Averages are taken over 24 time units, a multiple of every period there is, past the start."""


def example_streams(matches: Sequence[int]) -> ProbeTrial:
    """The i-th row comes at time i; what it makes by age k comes halfway between k - 1 and k."""
    left = np.arange(1.0, STEADY_UNTIL + 1)
    ages = np.repeat(np.arange(len(matches)) + 0.5, matches)
    keys = np.repeat(np.arange(len(left)), len(ages))
    times = np.add.outer(left, ages).ravel()
    order = np.argsort(times, kind="stable")
    return ProbeTrial(
        stream(np.arange(len(left)), left, "stored_at"),
        stream(keys[order], times[order], "probed_at"),
        window_s=len(matches),
    )


def measure_with(matches: Sequence[int], cell: StudyCell) -> Sequence[Row]:
    """Results in each time unit."""
    policy = strategy(cell["policy"], age_curve(1, matches))
    pairs = example_streams(matches).join(policy, Budget(rows=cell["memory"])).pairs
    made = np.bincount(np.floor(seconds(pairs, "probed_at")).astype(np.int64), minlength=1)
    return [{"time": time, "results": int(made[time])} for time in range(1, STEADY_UNTIL)]


def measure_33(cell: StudyCell) -> Sequence[Row]:
    """Example 3.3."""
    return measure_with(P33, cell)


def measure_34(cell: StudyCell) -> Sequence[Row]:
    """Example 3.4."""
    return measure_with(P34, cell)


def best_average(matches: Sequence[int], rows: int) -> float:
    """The most results a time unit that any strategy can make, by exhaustive search.

    All sets of ages that memory can hold, and for each the most that can have been made on the way
    to it; in the long run the most grows by the same amount every period.

    Examples
    --------
    >>> best_average((1, 1), rows=1)
    1.0
    """
    most: dict[tuple[int, ...], int] = {(): 0}
    totals = []
    for _ in range(STEADY_UNTIL - 1):
        after: dict[tuple[int, ...], int] = {}
        for stored, made in most.items():
            held = [age for age in (0, *(age + 1 for age in stored)) if age < len(matches)]
            for size in range(min(rows, len(held)) + 1):
                for kept in combinations(held, size):
                    total = made + sum(matches[age] for age in kept)
                    after[kept] = max(after.get(kept, 0), total)
        most = after
        totals.append(max(most.values()))
    steady = STEADY_UNTIL - STEADY_FROM
    return (totals[-1] - totals[-1 - steady]) / steady


def average(results: pd.DataFrame, policy: str, rows: int) -> float:
    """Results a time unit once the strategy has settled."""
    own = results[(results["policy"] == policy) & (results["memory"] == rows)]
    return float(own.loc[own["time"] >= STEADY_FROM, "results"].mean())


def _averages(expected: float, policy: str, rows: int) -> Callable[[pd.DataFrame], ClaimFinding]:
    def check(results: pd.DataFrame) -> ClaimFinding:
        found = average(results, policy, rows)
        return ClaimFinding(abs(found - expected) < 1e-9, f"{found:.4g} a time unit")

    return check


def _begins(expected: Sequence[int]) -> Callable[[pd.DataFrame], ClaimFinding]:
    def check(results: pd.DataFrame) -> ClaimFinding:
        own = results[(results["policy"] == AGE) & (results["memory"] == results["memory"].min())]
        found = own["results"].head(len(expected)).tolist()
        return ClaimFinding(found == list(expected), " ".join(str(made) for made in found))

    return check


def _is_best(
    matches: Sequence[int], memory: Sequence[int]
) -> Callable[[pd.DataFrame], ClaimFinding]:
    def check(results: pd.DataFrame) -> ClaimFinding:
        pairs = [(average(results, AGE, rows), best_average(matches, rows)) for rows in memory]
        shown = "; ".join(f"{found:.4g} of {best:.4g}" for found, best in pairs)
        return ClaimFinding(all(abs(found - best) < 1e-9 for found, best in pairs), shown)

    return check


def _best_age(matches: Sequence[int], expected: int) -> Callable[[pd.DataFrame], ClaimFinding]:
    def check(results: pd.DataFrame) -> ClaimFinding:
        curve = age_curve(1, matches)
        found = curve.best_age / curve.width
        return ClaimFinding(found == expected, f"k_opt = {found:g}")

    return check


EXAMPLE_33 = Study(
    name="vldb04-ex3.3",
    title="AGE on p = (1, 1, 2, 1) with one cell of memory, and with two",
    paper=PAPER,
    place="Example 3.3",
    grid={"policy": (AGE, RECENT), "memory": (1, 2)},
    measure=measure_33,
    claims=(
        Claim("k-opt", "C(k)/k is greatest at k_opt = 3", _best_age(P33, 3)),
        Claim(
            "results",
            "Results from time 1 on, M1 = 1: 1 1 2 1 1 2 1",
            _begins((1, 1, 2, 1, 1, 2, 1)),
        ),
        Claim(
            "four-every-three",
            "AGE makes 4 results every 3 time units (1.333 a unit)",
            _averages(4 / 3, AGE, 1),
        ),
        Claim("staggered", "Two cells, staggered, make twice that", _averages(8 / 3, AGE, 2)),
        Claim("optimal", "No strategy makes more (exhaustive search)", _is_best(P33, (1, 2))),
    ),
)
EXAMPLE_34 = Study(
    name="vldb04-ex3.4",
    title="AGE on a curve with a minimum, p = (3, 0, 2), with two cells of memory",
    paper=PAPER,
    place="Example 3.4",
    grid={"policy": (AGE, RECENT), "memory": (2,)},
    measure=measure_34,
    claims=(
        Claim("k-opt", "k_opt = 1", _best_age(P34, 1)),
        Claim(
            "results",
            "Results from time 1 on: 3 3 5 3 5 3 5",
            _begins((3, 3, 5, 3, 5, 3, 5)),
        ),
        Claim("four-a-unit", "AGE makes 4 results a time unit", _averages(4, AGE, 2)),
        Claim(
            "three-when-kept-alike",
            "Keeping every row M1 = 2 time units makes only 3",
            _averages(3, RECENT, 2),
        ),
        Claim("optimal", "No strategy makes more (exhaustive search)", _is_best(P34, (2,))),
    ),
)
STUDIES = (EXAMPLE_33, EXAMPLE_34)
