"""Arrow column utilities: exact key codes, event times, row sizes, compact copies."""
