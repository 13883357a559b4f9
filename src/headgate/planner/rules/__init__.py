"""The planner's rules, one per file, in the order in which they are applied."""

from collections.abc import Callable

from headgate.planner.draft import Draft
from headgate.planner.planning_case import PlanningCase
from headgate.planner.rules.effort import plan_effort
from headgate.planner.rules.expectation import plan_expectation
from headgate.planner.rules.index import plan_index
from headgate.planner.rules.model import plan_model
from headgate.planner.rules.policy import plan_policy
from headgate.planner.rules.sampling import plan_sampling
from headgate.planner.rules.shards import plan_shards
from headgate.planner.rules.split import plan_split

Rule = Callable[[PlanningCase, Draft], Draft]

RULES: tuple[Rule, ...] = (
    plan_sampling,
    plan_policy,
    plan_model,
    plan_split,
    plan_index,
    plan_shards,
    plan_effort,
    plan_expectation,
)
"""Each decides one thing, given what those before it have decided."""

__all__ = ["RULES", "Rule"]
