"""A what-if result as the quality curve that shared budgets are planned with."""

import numpy as np

from headgate.planner.quality_curve import QualityCurve
from headgate.sizing.what_if import WhatIf
from headgate.spec import SpecError

AUTO = "AUTO"


def measured_curve(found: WhatIf, policy: str, in_bytes: bool) -> QualityCurve:
    """Recall against memory under a policy, as it was measured; memory in rows or in bytes.

    Where "auto" was not tried itself, it is the best of the other policies at each size.
    """
    points = found.curve(policy)
    if not points and policy.upper() == AUTO:
        points = found.points
    if not points:
        raise SpecError(
            f"the what-if has not tried {policy.upper()}, but {', '.join(found.policies)}: ask for "
            f"it (policies=), or choose one of these for the join"
        )
    best: dict[float, float] = {0.0: 0.0}
    for point in points:
        amount = float(point.bytes if in_bytes else point.rows)
        best[amount] = max(best.get(amount, 0.0), point.recall)
    full = found.needs.bytes if in_bytes else found.needs.rows
    memory = np.array(sorted(amount for amount in best if amount < full))
    recall = np.minimum(np.maximum.accumulate([best[amount] for amount in memory]), 1.0)
    return QualityCurve(np.append(memory, full), np.append(recall, 1.0))
