"""The join within a budget, run step by step on tables: coding, learning, pacing, results."""
