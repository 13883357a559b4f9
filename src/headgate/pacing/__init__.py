"""Processor budgets: how much work a step may do."""
