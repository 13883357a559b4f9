"""The planner: turns a profile, a budget and a goal into a plan by applying one rule per file."""

from headgate.planner.draft import Draft, Expectation
from headgate.planner.plan import Plan, make_plan

__all__ = ["Draft", "Expectation", "Plan", "make_plan"]
