"""The page to watch a join on: its history, what it shows, and what alerting reads of it."""
