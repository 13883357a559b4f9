"""What-if analysis of memory: recall against memory for every policy, as data and as text."""

from headgate.sizing.findings import Memory, Point, WhatIf

__all__ = ["Memory", "Point", "WhatIf"]
