"""OPT-offline: the best result of any policy that knows the whole input in advance."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa

from headgate.policies.offline.course import LEFT, RIGHT, Course, Events, events_of_tables, meetings
from headgate.policies.offline.pair_benefit import Importance, benefit_of
from headgate.policies.offline.planned import Planned
from headgate.policies.offline.queues import plan_queues
from headgate.policies.offline.row_chains import ChainPlan, plan_chains
from headgate.spec import (
    Budget,
    Goal,
    Keys,
    MaxImportance,
    Predicate,
    Side,
    SpecError,
    Window,
)
from headgate.spec.budget import Split
from headgate.spec.window import parse_window


class JoinLike(Protocol):
    """The attributes of a join that planning needs; a `WindowJoin` has them."""

    @property
    def keys(self) -> Keys: ...
    @property
    def left(self) -> Side: ...
    @property
    def right(self) -> Side: ...
    @property
    def budget(self) -> Budget: ...
    @property
    def where(self) -> Predicate | None: ...
    @property
    def goal(self) -> Goal: ...


@dataclass(frozen=True, eq=False, repr=False)
class Opt(Planned):
    """Keep what an oracle would keep: no policy gets more results from the same memory.

    An evicted row never returns, so it takes one slot from its arrival to some later match. Slots
    passing from row to row form a flow, and the minimum-cost flow is the best plan. It is made by
    `plan` or `for_join` for one input, and the real join follows it within its budget.

    Attributes
    ----------
    value
        What the plan makes: pairs, or their importance.
    arcs
        Of the flow that was solved.
    windows
        The windows it was made for.

    Examples
    --------
    Room for one row. Key 8 has two partners to come, key 7 one:

    >>> left, right = Events([1, 2], [7, 8]), Events([3, 4, 5], [7, 8, 8])
    >>> windows = ("1 second", "0 seconds")
    >>> Opt.plan(left, right, windows, rows=1)
    Opt(value 2, of 5 rows)

    Where the pair of the first row matters most:

    >>> important = [9, 1], [9, 1, 1]
    >>> Opt.plan(left, right, windows, rows=1, importance=important)
    Opt(value 9, of 5 rows)

    References
    ----------
    Das, Gehrke, Riedewald, *Approximate Join Processing Over Data Streams*, SIGMOD 2003, section
    3; OPT-offline in Xie, Yang, Chen, SIGMOD 2005, sections 4 and 8. Rows arrive one at a time
    here, the left of two at one moment first, and an arrival meets what is stored before it is
    stored itself; the papers' arrive in pairs.
    """

    value: float = 0.0
    arcs: int = 0
    windows: tuple[Window, Window] | None = None

    name: ClassVar[str] = "opt-offline"

    @classmethod
    def plan(
        cls,
        left: Events,
        right: Events,
        windows: "tuple[Window | str, Window | str]",
        rows: int,
        split: Split = "pooled",
        importance: Importance | None = None,
    ) -> "Opt":
        """Find the best plan.

        A hundred thousand rows with ten matches each take some twenty seconds (`headgate bench
        --part offline`). The solver takes longer where few keys make most matches: then its time
        grows with the square of the stream's length.

        Parameters
        ----------
        left, right
            All rows of each side.
        windows
            How long rows of each side wait, in time or in rows; as `Side` takes them.
        rows
            How many rows fit.
        split
            As in `Budget`: ``"pooled"``, or the weights of each side's own part.
        importance
            What pairs are worth, where they do not count alike: a number for each left and for
            each right row, the lesser of which counts; or a function of the numbers of the pairs'
            left and right rows (two arrays) to an array, none negative. Whole numbers are taken
            exactly, others to a millionth of the greatest or better (see `Network.best_flow`).
            The flow is then as large as there are matches; without, as there are rows.
        """
        budget = Budget(rows=rows, split=split)
        parsed = (parse_window(windows[LEFT]), parse_window(windows[RIGHT]))
        course = Course.of(left, right, parsed)
        pools: list[tuple[tuple[int, ...], int]] = [((LEFT, RIGHT), rows)]
        if budget.shares is not None:
            # As the join splits them, fractions cut off.
            pools = [((side,), int(rows * share)) for side, share in enumerate(budget.shares)]
        plans = [
            plan_queues(course, sides, memory)
            if importance is None
            else _plan_pairs(course, sides, memory, importance)
            for sides, memory in pools
        ]
        end = np.maximum.reduce([plan.end for plan in plans])
        return cls(
            end[course.side == LEFT],
            end[course.side == RIGHT],
            value=sum(plan.gain for plan in plans),
            arcs=sum(plan.arcs for plan in plans),
            windows=parsed,
        )

    @classmethod
    def for_join(
        cls, join: JoinLike, left: pa.Table, right: pa.Table, importance: Importance | None = None
    ) -> "Opt":
        """The best plan for what a join will be given.

        Parameters
        ----------
        join
            A `WindowJoin` under any policy, with its budget in rows.
        left, right
            Arrow tables or pandas frames, as `WindowJoin.run` takes them.
        importance
            As in `plan`; rows are numbered as given, those without a time left out. Left out, it
            is what the join's goal says.

        Examples
        --------
        >>> import headgate as hg
        >>> at = pa.array([1, 2, 3, 4], pa.timestamp("us"))
        >>> left = pa.table({"key": [7, 8], "at": at[:2]})
        >>> right = pa.table({"key": [8, 7, 8], "at": at[1:]})
        >>> question = {
        ...     "on": "key",
        ...     "left": hg.Side(time="at", window="1 minute"),
        ...     "right": hg.Side(time="at", window="0 seconds"),
        ...     "budget": hg.Budget(rows=1),
        ... }
        >>> opt = Opt.for_join(hg.WindowJoin(**question, policy="fifo"), left, right)
        >>> opt
        Opt(value 2, of 5 rows)
        >>> hg.WindowJoin(**question, policy=opt).run(left, right)
        Outcome(2 pairs, recall 0.667, peak 1 rows)
        """
        if join.where is not None:
            raise SpecError(
                f"where={join.where!r} cannot be planned: OPT-offline knows equal keys alone"
            )
        if join.budget.rows is None or join.budget.memory is not None:
            raise SpecError(
                f"a budget of {join.budget} cannot be planned: OPT-offline needs all rows to be of "
                f"one size, give Budget(rows=...) alone"
            )
        if join.budget.monitor:
            raise SpecError(
                f"monitor={join.budget.monitor!r} takes a part of the budget, and the plan would "
                f"not fit: give monitor=0"
            )
        tables = (_as_arrow(left, "left"), _as_arrow(right, "right"))
        events = events_of_tables(tables, join.keys, (join.left, join.right))
        windows = (join.left.window, join.right.window)
        if importance is None and isinstance(join.goal, MaxImportance):
            if join.goal.fairness:
                raise SpecError(
                    f"fairness={join.goal.fairness} evicts rows by age, and a plan does not: "
                    f"give MaxImportance(...) without fairness"
                )
            importance = _of_goal(join.goal, tables, (join.left, join.right))
        return cls.plan(*events, windows, join.budget.rows, join.budget.split, importance)

    def check(self, windows: tuple[Window, Window]) -> None:
        """The plan is for the windows it was made for."""
        if self.windows is not None and windows != self.windows:
            raise SpecError(
                f"this plan was made for windows of {self.windows[0]} and {self.windows[1]}, and "
                f"the join's are {windows[0]} and {windows[1]}: plan again for these"
            )

    def __repr__(self) -> str:
        rows = len(self.ends_left) + len(self.ends_right)
        return f"Opt(value {self.value:,.6g}, of {rows:,} rows)"


def _plan_pairs(
    course: Course, sides: tuple[int, ...], memory: int, importance: Importance
) -> ChainPlan:
    row, partner = meetings(course, sides)
    benefit = benefit_of(course, row, partner, importance)
    return plan_chains(np.arange(course.events), row, partner, benefit, memory)


def _of_goal(
    goal: MaxImportance, tables: tuple[pa.Table, pa.Table], sides: tuple[Side, Side]
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """What a goal says of pairs, by the numbers of their rows with a time."""
    worth = [
        goal.evaluate(table.filter(table.column(side.time).is_valid()), which)
        for which, (table, side) in enumerate(zip(tables, sides, strict=True))
    ]

    def of_pairs(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return goal.pair(worth[LEFT][left], worth[RIGHT][right])

    return of_pairs


def _as_arrow(given: Any, which: str) -> pa.Table:
    if isinstance(given, pa.Table):
        return given
    if type(given).__module__.startswith("pandas") and hasattr(given, "columns"):
        return pa.Table.from_pandas(given, preserve_index=False)
    raise SpecError(
        f"the {which} side is a {type(given).__name__}: a plan takes Arrow tables or pandas frames"
    )
