"""What-if analysis of memory: recall against memory for every policy, as data and as text."""

from headgate.sizing.what_if import Memory, SizingPoint, WhatIf

__all__ = ["Memory", "SizingPoint", "WhatIf"]
