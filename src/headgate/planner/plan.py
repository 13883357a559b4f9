"""Plan: how a join should run within its budget, and the results to expect."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from headgate.engine.request import Request
from headgate.planner.draft import (
    Draft,
    Expectation,
    Model,
    Sampling,
    Shards,
    SkippedWork,
    SplitTried,
)
from headgate.planner.plan_page import as_html
from headgate.planner.plan_tree import as_tree, told
from headgate.planner.planning_case import PlanningCase
from headgate.planner.rules import RULES
from headgate.policies import Policy
from headgate.profiles.profile import Profile
from headgate.spec import Goal
from headgate.spec.budget import Split

Join = TypeVar("Join", bound=Request)


@dataclass(frozen=True, eq=False)
class Plan(Generic[Join]):
    """How a join will run and what to expect of it. Print `explain()`; run `join`.

    The expected recall is that of a run as long as the profiled one, on a stream of the same kind;
    it lies in the stated interval with 95 % confidence.

    Attributes
    ----------
    asked
        The join as requested.
    join
        The join configured as planned.
    policy, goal, split
        What was decided.
    model
        The model that ranks rows.
    rejected
        The policies tried and not chosen, with the recall they reached;
        best first.
    expect
        Recall with its interval, the error of a sample, CPU time, and what the exact join would
        need.
    splits, shards, sampling, effort
        Findings of the other rules; None or empty where the rule did not apply.
    notes
        Remarks on how the plan was made.

    Examples
    --------
    >>> import headgate as hg
    >>> from headgate.demo.auctions import auction_stream
    >>> stream = auction_stream(rows=16_000)
    >>> columns = dict(left_on="id", right_on="auction")
    >>> sides = dict(
    ...     left=hg.Side(time="opened_at", window="10 minutes"),
    ...     right=hg.Side(time="bid_at", window="0 seconds"),
    ... )
    >>> found = hg.profile(stream.auctions, stream.bids, **columns, **sides)
    >>> plan = hg.WindowJoin(**columns, **sides, budget=hg.Budget(rows=20)).plan(found)
    >>> print(plan.explain())
    MaxSubset within 20 rows (of ... bytes each)
    ├─ model    age: ... % of a left row's matches come at ages from ... to ...
    ├─ left     AGE, 20 rows, hash index
    ├─ right    not stored (window 0)
    ├─ shards   ...
    ├─ rejected ...
    ├─ expect   recall 0... ± 0...; FIFO would reach 0..., all rows would need ...
    └─ use      plan.join.stream(left, right), or run, or batch
    >>> plan.join.policy.label
    'AGE'
    """

    asked: Request
    join: Join
    profile: Profile
    _case: PlanningCase
    _draft: Draft

    @property
    def policy(self) -> Policy:
        """The eviction policy when memory is full."""
        return self._draft.policy

    @property
    def goal(self) -> Goal:
        """What the join maximises; for samples, including the scheme."""
        return self._draft.goal

    @property
    def split(self) -> Split:
        """How memory is shared between the sides."""
        return self._draft.split

    @property
    def model(self) -> Model:
        """The model that ranks rows."""
        assert self._draft.model is not None
        return self._draft.model

    @property
    def splits(self) -> tuple[SplitTried, ...]:
        """The splits that were tried."""
        return self._draft.splits

    @property
    def shards(self) -> Shards:
        """How evenly keys spread over shards."""
        assert self._draft.shards is not None
        return self._draft.shards

    @property
    def sampling(self) -> Sampling | None:
        """The sampling scheme; None where no sample is asked for."""
        return self._draft.sampling

    @property
    def effort(self) -> SkippedWork | None:
        """The work skipped; None without a CPU budget."""
        return self._draft.effort

    @property
    def expect(self) -> Expectation:
        """What to expect."""
        assert self._draft.expect is not None
        return self._draft.expect

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on how the plan was made."""
        return self._draft.notes

    @cached_property
    def rejected(self) -> dict[str, float]:
        """Policies tried and not chosen, with their recall."""
        chosen = self._draft.chosen
        others = [each for each in self._draft.tried if chosen and each.label != chosen.label]
        others.sort(key=lambda each: -each.recall.value)
        return {each.label: each.recall.value for each in others}

    def explain(self) -> str:
        """The plan as a tree."""
        return as_tree(self._case, self._draft)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"Plan({self.policy.label}, {self.explain().splitlines()[-1][3:].strip()})"

    def _repr_html_(self) -> str:
        """The plan in a notebook."""
        return as_html(*told(self._case, self._draft))

    def to_json(self) -> str:
        """The decisions and expectations as JSON text."""
        draft, expect = self._draft, self.expect
        given: dict[str, Any] = {
            "goal": repr(self.goal),
            "budget": str(self.asked.budget),
            "policy": self.policy.label,
            "model": {"name": self.model.name, "says": self.model.says, "rows": self.model.rows},
            "split": self.split,
            "index": None if draft.shown_index is None else [i.value for i in draft.shown_index],
            "shards": {"most": self.shards.most, "fullest": self.shards.fullest},
            "rejected": self.rejected,
            "splits": [{"split": one.split, "recall": one.recall} for one in self.splits],
            "sampling": None
            if draft.sampling is None
            else {"scheme": draft.sampling.scheme, "errors": draft.sampling.tried},
            "effort": None
            if draft.effort is None
            else {
                "recall": None if draft.effort.plan is None else draft.effort.plan.recall,
                "cores": draft.effort.takes,
                "whole_cores": draft.effort.whole,
            },
            "expect": {
                "recall": expect.recall,
                "low": expect.low,
                "high": expect.high,
                "basis": expect.basis,
                "error": expect.error,
                "cores": expect.cores,
                "exact_rows": expect.rows,
                "exact_bytes": expect.bytes,
            },
            "notes": list(self.notes),
        }
        return json.dumps(given)


def make_plan(
    request: Request,
    profile: Profile,
    shards: int | None,
    live: bool,
    build: Callable[[Draft], Join],
) -> Plan[Join]:
    """Apply every rule; ``build`` makes the join that follows their decisions."""
    case = PlanningCase(request, profile, shards, live)
    draft = Draft.of(request)
    for rule in RULES:
        draft = rule(case, draft)
    return Plan(request, build(draft), profile, case, draft)
