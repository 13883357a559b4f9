"""The full, validated specification of a join, from which every way of running it starts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf

import pyarrow as pa

from headgate.engine.bound_columns import BoundColumns
from headgate.engine.definitions import Definitions, nothing_to_redefine
from headgate.engine.limits import Filters, room_for
from headgate.engine.shape import NO_RESULT, Shape
from headgate.engine.traits import named_columns
from headgate.kernel.index_choice import cheapest_indexes
from headgate.kernel.pace import USUAL_COSTS, Costs
from headgate.kernel.terms import Terms
from headgate.learning import Room
from headgate.learning.result_rows import ResultRows
from headgate.models.cost.calibration import load_calibration
from headgate.models.cost.structure import Pair
from headgate.pacing.pacer import Pacer
from headgate.policies import Policy
from headgate.spec import (
    Budget,
    Goal,
    How,
    Keys,
    MaxImportance,
    Predicate,
    Sample,
    Side,
    SpecError,
    Unmatched,
    Window,
)
from headgate.spec.budget import MONITOR
from headgate.spec.importance import Redefinition


@dataclass(frozen=True)
class Request:
    """Keys, sides, budget, goal, policy and predicate of a window join.

    ``suffix`` is appended to a right column whose name the left has too; ``seed`` is that of which
    rows are watched.
    """

    keys: Keys
    left: Side
    right: Side
    budget: Budget
    goal: Goal
    policy: Policy
    suffix: str
    where: Predicate | None = None
    seed: int = 0
    index: Pair | None = None
    rates: tuple[float, float] | None = None
    """Index of each window; None where the choice is open."""
    how: How = How.INNER
    unmatched: Unmatched = Unmatched.CERTAIN
    features: tuple[str, ...] = ()

    def check_inner(self, what: str) -> None:
        """Raise where the join is not inner, and ``what`` is made for inner joins alone."""
        if self.how != How.INNER:
            raise SpecError(
                f'{what} estimates pairs only, and this join has how="{self.how}", for which '
                f'the estimate would be wrong: give how="inner"'
            )

    @property
    def sides(self) -> tuple[Side, Side]:
        """Left, right."""
        return self.left, self.right

    def needed(self, side: int, names: Sequence[str]) -> list[str]:
        """Those of a side's columns that are read and stored: all that come out or are compared.

        A semi or anti join puts out no right columns. Where a column is missing or named twice, all
        are returned, for the errors that say so.

        Examples
        --------
        >>> import headgate as hg
        >>> at = hg.Side(time="at", window="1 minute")
        >>> join = hg.WindowJoin(on="k", left=at, right=at, budget=hg.Budget(rows=9), how="semi")
        >>> join.needed(0, ["k", "at", "price"]), join.needed(1, ["k", "note", "at"])
        (['k', 'at', 'price'], ['k', 'at'])
        """
        compared = {*(self.keys.left, self.keys.right)[side], self.sides[side].time}
        looked_at = {*self.features}
        if self.where is not None:
            compared.add((self.where.left, self.where.right)[side])
        if self.how.outputs[side] or not compared <= {*names} or len({*names}) < len(names):
            return list(names)
        return [name for name in names if name in compared | looked_at]

    def needed_columns(self, tables: tuple[pa.Table, pa.Table]) -> tuple[pa.Table, pa.Table]:
        """The tables with the columns that are `needed`."""
        left, right = (
            table.select(self.needed(side, table.column_names)) for side, table in enumerate(tables)
        )
        return left, right

    def bind(
        self,
        schemas: tuple[pa.Schema, pa.Schema],
        changes: Sequence[Redefinition] = (),
        compare: Callable[[Shape], Shape] | None = None,
        shows_result: bool = True,
    ) -> BoundColumns:
        """Resolve the join's columns in its inputs; raises where they are missing or do not fit.

        Parameters
        ----------
        schemas
            Of the left and of the right input.
        changes
            Redefinitions of what is important.
        compare
            Says in which types columns are compared, where that is not told by the schemas alone.
        shows_result
            Whether there are result rows, whose columns need names.
        """
        names = (schemas[0].names, schemas[1].names)
        suffix = self.suffix if shows_result else NO_RESULT
        shape = Shape.of(self.keys, self.sides, names, suffix, self.where, self.how)
        if shows_result:
            shape = shape.with_undecided(self.unmatched == Unmatched.ALL)
            shape = shape.sampled(self.drawn).weighed(self.importance_column)
        shape = shape.checked(self.where, schemas) if compare is None else compare(shape)
        if self.features:
            shape = replace(shape, features=named_columns(self.features, schemas))
        return BoundColumns(shape, schemas, self._definitions(schemas, changes))

    def _definitions(
        self, schemas: tuple[pa.Schema, pa.Schema], changes: Sequence[Redefinition]
    ) -> Definitions | None:
        """What is important, and from when on; None where all rows count alike."""
        if not isinstance(self.goal, MaxImportance):
            if changes:
                raise nothing_to_redefine(self.goal)
            return None
        definitions = Definitions.of(self.goal, changes)
        definitions.check(schemas)
        return definitions

    def monitor_share(self, live: bool) -> float:
        """The monitor's share of the budget, on a stream (``live``) or for bounded input."""
        if self.budget.monitor is not None:
            return self.budget.monitor
        if self.policy.learns:
            return MONITOR
        # A sample says how good it is by its weights.
        return MONITOR if live and not self.policy.samples else 0.0

    @property
    def drawn(self) -> tuple[str, ...]:
        """The columns a sample adds to the result; none where the goal is no sample."""
        sampler = self.policy.sampler
        if not isinstance(self.goal, Sample) or sampler is None:
            return ()
        names = (self.goal.weight, self.goal.cluster)
        return names if sampler.by_cluster else names[:1]

    @property
    def importance_column(self) -> str | None:
        """The column that says what result rows are worth; None where all count alike."""
        return self.goal.column if isinstance(self.goal, MaxImportance) else None

    def weighed(self, terms: Terms) -> Terms:
        """The terms with the kind of join, the goal's importance, and the seed for skipped work."""
        undecided = self.unmatched == Unmatched.ALL
        terms = replace(terms, seed=self.seed, how=self.how, shows_undecided=undecided)
        if not isinstance(self.goal, MaxImportance):
            return terms
        return replace(terms, combine=self.goal.code, fairness=self.goal.fairness)

    def filters(self, shards: int, live: bool) -> Filters | None:
        """The filters of given-up keys of one of ``shards`` shards; None for an inner join."""
        if self.how == How.INNER or not self.keys.left:
            return None
        return Filters.of(self.budget, self.windows, self.how, shards, live)

    @property
    def follows_keys(self) -> bool:
        """Whether recall is told by keys that are followed; see `ResultRows`."""
        return ResultRows.of_join(self.how, self.windows, where=self.where is not None).by_key

    def room(self, policy: Policy, shards: int, live: bool) -> Room | None:
        """What the monitor of one of ``shards`` shards may take; None where nothing is learned."""
        share = self.monitor_share(live)
        if not share:
            return None
        return room_for(
            self.budget,
            policy,
            shards,
            share,
            self.seed,
            self.windows,
            follows_keys=self.follows_keys,
        )

    def pacer(self, shards: int = 1) -> Pacer | None:
        """The pacer that keeps one of ``shards`` shards within its CPU budget; None without one.

        Costs come from this machine's calibration, if there is one.
        """
        if self.budget.cpu is None:
            return None
        costs, measured = USUAL_COSTS, load_calibration()
        if measured is not None:
            work = measured.work
            costs = Costs(work.arrive, work.update, work.produce)
        by_weight = self.policy.weighs_matches
        return Pacer(self.budget.cpu / shards, costs, self.windows, by_weight)

    def indexes(self, rates: tuple[float, float] | None, keys: int) -> Pair | None:
        """What windows are kept in: as asked, else the cheapest for so many rows a second and
        different keys, where that is known; None for the usual."""
        if self.index is not None or rates is None:
            return self.index
        most = inf if self.budget.rows is None else float(self.budget.rows)
        return cheapest_indexes(self.windows, rates, keys, self.where is None, most)

    @property
    def windows(self) -> tuple[Window, Window]:
        """The sides' windows."""
        return self.left.window, self.right.window
