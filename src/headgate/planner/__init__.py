"""From a profile, a budget and a goal to a plan: one rule a file, and what comes of them."""

from headgate.planner.draft import Draft, Expectation
from headgate.planner.plan import Plan, make_plan

__all__ = ["Draft", "Expectation", "Plan", "make_plan"]
