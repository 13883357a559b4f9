"""JoinGroup: several joins that share one budget."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from headgate.api.window_join import WindowJoin
from headgate.planner.budget_allocation import (
    BudgetAllocation,
    alloc,
    checked_weights,
    in_whole,
    prop,
)
from headgate.planner.expected_curves import (
    AGE,
    FREQUENCY,
    NEITHER,
    Aggregate,
    better_model,
    error_curve,
    recall_curve,
)
from headgate.planner.quality_curve import Measure, QualityCurve
from headgate.planner.shares import BudgetShare, as_section, as_text
from headgate.policies import Age, Life, Policy, Prob, Random
from headgate.profiles.profile import Profile
from headgate.sizing.measured_curve import measured_curve
from headgate.sizing.what_if import WhatIf
from headgate.spec import Budget, Sample, SpecError
from headgate.spec.budget import RESERVE

if TYPE_CHECKING:
    from headgate.spark import DataFrame
    from headgate.spark.join.shared_streams import SharedStreams

Known = Profile | WhatIf | QualityCurve
"""The accepted sources of knowledge about a join's streams."""
FIT_FOR_A_FOLDER = re.compile(r"\w[\w-]*")
LEAST_BYTES = 4096
"""The least that a join gets, in bytes, so that it can store a row."""
FIXED = {Age.name: AGE, Prob.name: FREQUENCY, Life.name: FREQUENCY, Random.name: NEITHER}
"""The model that each policy uses."""


@dataclass(frozen=True)
class GroupPlan:
    """How a group's budget is divided, and the quality to expect. Print it for a table.

    Attributes
    ----------
    budget
        The budget of the whole group.
    measure
        "recall" or "error".
    joins
        The joins, each with its part of the budget, ready to run.
    shares
        For each join: its part, the quality expected, the quality under PROP, and why.
    worst, worst_under_prop
        The lowest recall over weight, or the greatest error times weight; and the same under PROP,
        which divides memory in proportion to what each exact join needs.

    Examples
    --------
    >>> import headgate as hg
    >>> side, none = hg.Side("at", "1 minute"), hg.Side("seen", "0 seconds")
    >>> join = hg.WindowJoin(on="id", left=side, right=none, budget=hg.Budget(rows=1))
    >>> curve = hg.QualityCurve([0, 1000], [0.0, 1.0])
    >>> group = hg.JoinGroup(budget=hg.Budget(rows=1000), joins={"ads": join, "orders": join})
    >>> plan = group.plan({"ads": curve, "orders": curve})
    >>> plan.joins["ads"].budget, round(plan.worst, 2)
    (Budget(rows=500), 0.5)
    """

    budget: Budget
    measure: str
    joins: dict[str, WindowJoin]
    shares: dict[str, BudgetShare]
    worst: float
    worst_under_prop: float

    def __str__(self) -> str:
        return as_text(
            self.budget, Measure(self.measure), self.shares, self.worst, self.worst_under_prop
        )

    def _repr_html_(self) -> str:
        from headgate.report.section_html import as_html

        return as_html(as_section(str(self), self.budget, Measure(self.measure), self.shares))

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}: {join.budget}" for name, join in self.joins.items())
        return f"GroupPlan({parts}; {self.measure} {self.worst:.3g} at worst)"


@dataclass(frozen=True)
class JoinGroup:
    """Several joins that share one budget, divided to make the worst of them as good as possible.

    Joins differ in how much recall they gain from memory, so an even or proportional split starves
    some and wastes memory on others. The group divides it so that all reach the same recall, or
    error.

    Parameters
    ----------
    budget
        The budget of all joins together, in rows or in memory.
    joins
        The joins by name. Each one's part of the group's budget replaces its own, of which only
        the split between sides and the monitor's share are kept.
    weights
        The relative quality to aim for; 1 by default. A join of weight 2 should have twice the
        recall, or half the error, of one of weight 1.
    measure
        "recall", or "error": that of an average over a sampled join.
    aggregates
        For "error": what is aggregated over each join.

    Examples
    --------
    >>> import headgate as hg
    >>> side, none = hg.Side("at", "1 minute"), hg.Side("seen", "0 seconds")
    >>> join = hg.WindowJoin(on="id", left=side, right=none, budget=hg.Budget(rows=1))
    >>> group = hg.JoinGroup(
    ...     budget=hg.Budget(rows=550), joins={"ads": join, "orders": join}
    ... )
    >>> print(group.plan({
    ...     "ads": hg.QualityCurve([0, 1000], [0.0, 1.0]),
    ...     "orders": hg.QualityCurve([0, 100, 1000], [0.0, 0.9, 1.0]),
    ... }))
    2 joins share 550 rows so that the lowest recall is as high as can be
      join    weight    memory  of exact  recall  under PROP
      ads          1  495 rows    49.5 %   0.495       0.275
      orders       1   55 rows     5.5 %   0.495       0.919
    Lowest recall 0.495; in proportion to what each needs (PROP) it would be 0.275.

    References
    ----------
    Srivastava and Widom, Memory-Limited Execution of Windowed Stream Joins, VLDB 2004, section 5.
    """

    budget: Budget
    joins: Mapping[str, WindowJoin]
    weights: Mapping[str, float] = field(default_factory=dict)
    measure: str = "recall"
    aggregates: Mapping[str, Aggregate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.budget, Budget):
            raise SpecError(f"budget={self.budget!r} is not accepted: give a Budget")
        if (self.budget.rows is None) == (self.budget.memory is None) or self.budget.cpu:
            raise SpecError(
                f"a group shares rows or memory, and its budget is {self.budget}: give one of "
                f"rows= and memory=, and cpu= to the joins themselves"
            )
        if not self.joins:
            raise SpecError("a group needs joins: give joins={name: WindowJoin, ...}")
        for name, join in self.joins.items():
            if not isinstance(join, WindowJoin):
                raise SpecError(f"joins[{name!r}] is {join!r}: give a WindowJoin")
            join.check_inner("a group")
        object.__setattr__(self, "joins", dict(self.joins))
        object.__setattr__(self, "weights", checked_weights(self.joins, self.weights))
        object.__setattr__(self, "measure", Measure.of(self.measure).value)
        self._check_measure()

    def _check_measure(self) -> None:
        by_error = self.measure == Measure.ERROR.value
        for name, join in self.joins.items():
            sampled = isinstance(join.goal, Sample)
            if by_error != sampled:
                raise SpecError(
                    f'measure="{self.measure}" and the goal of {name!r} is {join.goal!r}: errors '
                    f"are those of samples (goal=hg.Sample(...)), recall that of other goals"
                )
            if by_error and not isinstance(self.aggregates.get(name), Aggregate):
                raise SpecError(
                    f'measure="error" must know what is aggregated over {name!r}: give '
                    f"aggregates={{{name!r}: hg.Aggregate(mean=, deviation=, window=)}}"
                )

    def plan(self, profiles: Mapping[str, Known]) -> GroupPlan:
        """Divide the budget among the joins.

        Parameters
        ----------
        profiles
            For each join the profile of its streams; or, if more is known, the result of `whatif`,
            or a `QualityCurve` of recall or error against memory, in the unit of the budget.
        """
        self._check_named(profiles)
        curves, why = {}, {}
        for name in self.joins:
            curves[name], why[name] = self._curve(name, profiles[name])
        memory = self._whole
        ours, theirs = (
            in_whole(
                curves, scheme(curves, memory, self.weights), memory, self.weights, self._least
            )
            for scheme in (alloc, prop)
        )
        return GroupPlan(
            self.budget,
            self.measure,
            {name: self.join_within(name, int(ours.memory[name])) for name in self.joins},
            {name: self._share(name, curves[name], why[name], ours, theirs) for name in self.joins},
            ours.worst,
            theirs.worst,
        )

    def stream(
        self,
        streams: "Mapping[str, tuple[DataFrame, DataFrame]]",
        *,
        folder: "str | os.PathLike[str]",
        profiles: Mapping[str, Known] | None = None,
        shards: int | None = None,
        watermark: bool = True,
    ) -> "SharedStreams":
        """Join pairs of streaming DataFrames within one budget, rebalanced as the streams drift.

        Start a query on each returned DataFrame, in this process. Each query reports its figures
        with every batch; when another division would be better for the worst join, the limits
        change without a restart. A join that loses memory evicts rows first; only then does
        another join receive it, so together they never store more than the budget. `progress`
        shows the metrics of every batch, with the ``limit`` in force.

        Parameters
        ----------
        streams
            For each join its left and right stream, as `WindowJoin.stream` takes them.
        folder
            Where limits are published: a local folder that Spark reaches under the same path. Keep
            it between runs, like a checkpoint.
        profiles
            What is known of the streams in advance, as for `plan`; by default all start equal.
        shards, watermark
            As for `WindowJoin.stream`, for each join.
        """
        from headgate.spark.join.shared_streams import share

        if self.measure != Measure.RECALL.value:
            raise SpecError(
                f"a running group is rebalanced by recall, and this one uses "
                f"{self.measure}: run the joins of group.plan(...) instead"
            )
        self._check_named(streams, "streams")
        unfit = [name for name in self.joins if not FIT_FOR_A_FOLDER.fullmatch(name)]
        if unfit:
            raise SpecError(
                f"{unfit[0]!r} cannot name a folder and metrics: name the join with letters, "
                f"digits, _ and - only"
            )
        if profiles is None:
            begin = dict.fromkeys(self.joins, self._whole // len(self.joins))
        else:
            begin = {name: part.memory for name, part in self.plan(profiles).shares.items()}
        place = Path(folder).absolute()
        return share(
            self.join_within,
            streams,
            self._whole,
            weights=self.weights,
            begin=begin,
            folder=place,
            shards=shards,
            watermark=watermark,
        )

    def join_within(self, name: str, memory: int) -> WindowJoin:
        """Return a join limited to this many rows or bytes of the group's budget."""
        join = self.joins[name]
        rows, size = (memory, None) if self.budget.rows is not None else (None, memory)
        own = join.budget
        return join.within(
            Budget(rows=rows, memory=size, split=own.split, monitor=own.monitor, cpu=own.cpu)
        )

    @property
    def _whole(self) -> int:
        whole = self.budget.rows if self.budget.rows is not None else self.budget.memory
        assert whole is not None  # checked at construction
        return whole

    @property
    def _least(self) -> int:
        """The least that any join may be given, in rows or bytes."""
        return 1 if self.budget.rows is not None else LEAST_BYTES

    def _check_named(self, given: Mapping[str, object], what: str = "profiles") -> None:
        if set(given) != set(self.joins):
            raise SpecError(
                f"{what} are given for {', '.join(map(repr, given)) or 'none'} and the joins "
                f"are {', '.join(map(repr, self.joins))}: give one for each join"
            )

    def _share(
        self,
        name: str,
        curve: QualityCurve,
        why: str,
        ours: BudgetAllocation,
        theirs: BudgetAllocation,
    ) -> BudgetShare:
        return BudgetShare(
            weight=self.weights[name],
            memory=int(ours.memory[name]),
            quality=ours.quality[name],
            exact_memory=curve.full,
            prop_memory=int(theirs.memory[name]),
            prop_quality=theirs.quality[name],
            why=why,
        )

    def _curve(self, name: str, known: Known) -> tuple[QualityCurve, str]:
        """Return a join's quality against memory, and the source of that estimate."""
        join = self.joins[name]
        if isinstance(known, QualityCurve):
            if known.measure.value != self.measure:
                raise SpecError(
                    f"the curve of {name!r} is of {known.measure.value} and the group compares "
                    f"{self.measure}: give a curve of {self.measure}"
                )
            return known, ""
        if isinstance(known, WhatIf) and self.measure == Measure.RECALL.value:
            label = "auto" if join.policy.asked_name == "auto" else join.policy.label
            return measured_curve(known, label, self.budget.memory is not None), "as measured"
        if not isinstance(known, Profile):
            raise SpecError(
                f"profiles[{name!r}] is {known!r}: give what hg.profile(...) found"
                + (", or hg.whatif(...)" if self.measure == Measure.RECALL.value else "")
                + ", or a QualityCurve"
            )
        self._check_same_streams(name, known)
        in_bytes = self.budget.memory is not None
        if self.measure == Measure.ERROR.value:
            model, why = better_model(known)
            by_cluster = join.goal.kind != "uniform" if isinstance(join.goal, Sample) else True
            curve = error_curve(known, model, self.aggregates[name], by_cluster, in_bytes)
        else:
            model, why = _model(name, join.policy, known)
            curve = recall_curve(known, model, join.budget.shares, in_bytes)
        # The monitor's part of the budget holds no rows, nor does the reserve for dead ones.
        usable = 1 - join.monitor_share(live=False)
        if in_bytes:
            usable *= 1 - RESERVE
        return QualityCurve(curve.memory / usable, curve.quality, curve.measure), why

    def _check_same_streams(self, name: str, profile: Profile) -> None:
        join = self.joins[name]
        asked = (profile.keys, *(side.window.span for side in profile.sides))
        if asked != (join.keys, *(window.span for window in join.windows)):
            raise SpecError(
                f"the profile of {name!r} is of other keys or windows than the join: profile with "
                f"the join's own (on=, left=, right=)"
            )
        if not all(isfinite(rate) and rate > 0 for rate in profile.rates):
            raise SpecError(f"the profile of {name!r} has no rates: profile more of the streams")


def _model(name: str, policy: Policy, profile: Profile) -> tuple[str, str]:
    """Choose the model of quality against memory for a policy, and say why."""
    wanted = policy.asked_name
    if wanted == "auto":
        return better_model(profile)
    if wanted in FIXED:
        return FIXED[wanted], f"policy {policy.label}"
    raise SpecError(
        f"there is no formula for the recall of policy {policy.label} of {name!r}: give what "
        f"hg.whatif(...) found for {name!r} instead of a profile, or choose AGE, PROB or auto"
    )
