"""The planner: turns a profile, a budget and a goal into a plan by applying one rule per file."""
