"""Facts about Arrow columns the rest relies on: exact key codes, event times, row sizes, copies."""
