"""Joins that want more processor time than there is, and what plans make of them."""

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import minimize

from headgate.models.skipping import (
    Rows,
    SkippingPlan,
    Workload,
)
from tests.thoroughness import examples

Strategy = Callable[[Workload], SkippingPlan]
EXACTLY = 1e-9
many = examples(25)
few = examples(15)


def some(most: float) -> st.SearchStrategy[float]:
    """Something within a few powers of ten."""
    return st.floats(most / 1e4, most)


def amounts(most: float) -> st.SearchStrategy[float]:
    """Nothing, or something."""
    return st.just(0.0) | some(most)


@st.composite
def workloads(
    draw: st.DrawFn,
    look: st.SearchStrategy[float] = st.just(0.0),  # noqa: B008 - a constant
    amount: Callable[[float], st.SearchStrategy[float]] = amounts,
    classes: int = 6,
    budget: tuple[float, float] = (0.0, 1.2),
) -> Workload:
    """Any workload; its budget is a share of what the whole join costs."""
    n = draw(st.integers(1, classes))
    rates = st.lists(amount(100.0), min_size=n, max_size=n)
    join = Workload(
        draw(rates),
        draw(rates),
        windows=(draw(amount(10.0)), draw(amount(10.0))),
        update=draw(amount(1.0)),
        produce=draw(amounts(1.0)),
        budget=0.0,
        look=draw(look),
        chance=draw(st.sampled_from((1.0, 0.25))),
    )
    # Between nothing and a billionth, a budget has too few digits to be kept to a billionth.
    share = draw(st.floats(*budget).map(lambda share: share if share > 1e-9 else 0.0))
    return join.within(share * join.exact_cost)


def not_behind(one: SkippingPlan, other: SkippingPlan, by: float = EXACTLY) -> bool:
    return one.output >= other.output * (1 - by)


def tried(join: Workload, shares: np.ndarray, rows: Rows = None) -> float:
    """Output of what is looked at and stored of it, (4, classes); −1 if that is not allowed."""
    probe = (shares[0], shares[1])
    insert = (shares[0] * shares[2], shares[1] * shares[3])
    stored = join.stored(insert)
    used = np.array(stored) if isinstance(rows, tuple) else np.array([sum(stored)])
    fits = rows is None or np.all(used <= np.array(rows) * (1 + 1e-6))
    fits = fits and join.cost(probe, insert) <= join.budget * (1 + 1e-6)
    return join.output(probe, insert) if fits else -1.0


def searched(join: Workload, starts: int, rows: Rows = None) -> float:
    """The best output a general solver finds from many starts."""
    scale, n = max(join.exact_output, 1e-9), join.classes

    def parts(flat: np.ndarray) -> np.ndarray:
        return flat.reshape(4, n)

    def left_over(flat: np.ndarray) -> np.ndarray:
        look, stored = parts(flat)[:2], parts(flat)[:2] * parts(flat)[2:]
        over = [(join.budget - join.cost(tuple(look), tuple(stored))) / max(join.budget, 1e-9)]
        if rows is not None:
            used = np.array(join.stored(tuple(stored)))
            limits = np.atleast_1d(np.array(rows, float))
            unit = np.maximum(limits, 1e-9)
            over.extend((limits - (used if isinstance(rows, tuple) else used.sum())) / unit)
        return np.array(over)

    def loss(flat: np.ndarray) -> float:
        look, stored = parts(flat)[:2], parts(flat)[:2] * parts(flat)[2:]
        return -join.output(tuple(look), tuple(stored)) / scale

    random = np.random.default_rng(5)
    best = 0.0
    for start in range(starts):
        at = random.random(4 * n) if start % 2 else random.integers(0, 2, 4 * n).astype(float)
        found = minimize(
            loss,
            at,
            method="SLSQP",
            bounds=[(0, 1)] * (4 * n),
            constraints={"type": "ineq", "fun": left_over},
            options={"maxiter": 200},
        )
        best = max(best, tried(join, np.clip(parts(found.x), 0, 1), rows))
    return best
