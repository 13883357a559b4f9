"""How much memory a join needs: recall against memory for every policy, and the answer in words."""

from headgate.sizing.findings import Memory, Point, WhatIf

__all__ = ["Memory", "Point", "WhatIf"]
