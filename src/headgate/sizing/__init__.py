"""How much memory a join needs: recall against memory for every policy, and the answer in words."""

from headgate.sizing.found import Memory, Point, WhatIf

__all__ = ["Memory", "Point", "WhatIf"]
