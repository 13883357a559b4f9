"""Compares every policy at several memory sizes with the exact join, in process, on one input."""

from collections.abc import Iterator
from dataclasses import dataclass

from headgate.api.window_join import WindowJoin
from headgate.demo.shop import ShopStream
from headgate.engine.outcome import Outcome
from headgate.policies import ALL_POLICIES, Learned, Policy, make_policy
from headgate.spec import Budget, Side
from headgate.spec.budget import AMPLE

AUTO = Learned("auto")
PERCENTS = (5, 10, 20, 50)
"""Memory sizes compared, in percent of the rows the exact join stores."""


@dataclass(frozen=True)
class Result:
    """Recall and memory of one policy at one memory size."""

    label: str
    percent: int
    recall: float
    peak_rows: int


@dataclass(frozen=True)
class ExactJoin:
    """Memory and result of the exact join."""

    pairs: int
    peak_rows: int

    def budget(self, percent: float) -> Budget:
        """A budget of that share of the exact join's stored rows, at least one row."""
        return Budget(rows=max(1, round(self.peak_rows * percent / 100)))


def shop_join(budget: Budget, policy: str | Policy = "auto") -> WindowJoin:
    """The join of the demo: orders with the clicks on their product in the ten minutes before."""
    return WindowJoin(
        on="product",
        left=Side(time="clicked_at", window="10 minutes"),
        right=Side(time="ordered_at", window="0 seconds"),
        budget=budget,
        policy=policy,
    )


def contenders() -> dict[str, Policy]:
    """The policies to compare, by the name the table prints; those that need a model learn it."""
    named: dict[str, Policy] = {f"{AUTO.label} *": AUTO}
    for policy in ALL_POLICIES:
        made = make_policy(policy.name)
        named[f"{made.label} *" if policy.model else made.label] = made
    return named


def run_exact(stream: ShopStream) -> ExactJoin:
    """Run the join with unlimited memory."""
    stats = run_with(stream, AMPLE, "fifo").stats
    return ExactJoin(stats.pairs, stats.peak_rows)


def compare(
    stream: ShopStream, exact: ExactJoin, percents: tuple[int, ...] = PERCENTS
) -> Iterator[Result]:
    """Run every policy at every memory size."""
    for label, policy in contenders().items():
        for percent in percents:
            outcome = run_with(stream, exact.budget(percent), policy)
            yield Result(label, percent, outcome.recall, outcome.stats.peak_rows)


def run_with(stream: ShopStream, budget: Budget, policy: str | Policy) -> Outcome:
    """Run the join of the demo in process."""
    # A budget in rows ignores the other columns, and results are built faster without them.
    return shop_join(budget, policy).run(
        stream.clicks.select(["product", "clicked_at"]),
        stream.orders.select(["product", "ordered_at"]),
    )
