"""Trial runs of a policy within a budget, on all rows or on a sampled miniature."""
