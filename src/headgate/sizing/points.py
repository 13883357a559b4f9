"""Chooses the policies and the memory sizes to try."""

import re
from collections.abc import Iterable, Sequence

from headgate.engine.request import Request
from headgate.policies import ALL_POLICIES, Greedy, Policy
from headgate.sizing.needs import Needs
from headgate.spec import Budget, MaxImportance, SpecError
from headgate.spec.quantity import parse_bytes
from headgate.trials.simulation import tried

PARTS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
"""Memory sizes tried by default, as shares of what the exact join holds."""
AUTO = "auto"
_PERCENT = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*")


def budgets_of(
    given: "Sequence[int | float | str] | int | str | None", needs: Needs, like: Budget
) -> tuple[Budget, ...]:
    """The budgets to try, ascending: integers are rows, strings sizes or percent of the needs.

    Examples
    --------
    >>> ample = Budget(rows=1)
    >>> [str(budget) for budget in budgets_of([500, "10 %", "1 MB"], Needs(1000, 1e5), ample)]
    ['100 rows', '500 rows', '1 MB']
    """
    if given is None:
        rows = sorted({max(round(part * needs.rows), 1) for part in PARTS})
        return tuple(budget_like(like, rows=count) for count in rows)
    asked = [given] if isinstance(given, int | float | str) else list(given)
    if not asked:
        raise SpecError("memory=[] leaves nothing to try: give rows, sizes or percent")
    found = {_parsed(one, needs, like) for one in asked}

    def rows_of(budget: Budget) -> float:
        if budget.rows is not None:
            return float(budget.rows)
        return (budget.memory or 0) / max(needs.row_bytes, 1.0)

    return tuple(sorted(found, key=rows_of))


def policies_of(
    given: "Iterable[str | Policy] | str | Policy | None", request: Request
) -> tuple[Policy, ...]:
    """The policies to try: those given, or all that can serve the join."""
    if given is None:
        names = [AUTO, *(policy.name for policy in ALL_POLICIES)]
        if not isinstance(request.goal, MaxImportance):
            names.remove(Greedy.name)  # where all rows count the same, it equals UNTIL-EXPIRY
        found = []
        for name in names:
            try:
                found.append(tried(request, name, request.budget).policy)
            except SpecError:
                continue  # it cannot serve this join
        return tuple({policy.label: policy for policy in found}.values())
    asked = [given] if isinstance(given, str | Policy) else list(given)
    if not asked:
        raise SpecError("policies=[] leaves nothing to try: give names or policies")
    return tuple(tried(request, policy, request.budget).policy for policy in asked)


def _parsed(given: object, needs: Needs, like: Budget) -> Budget:
    if isinstance(given, int) and not isinstance(given, bool) and given > 0:
        return budget_like(like, rows=given)
    if isinstance(given, str):
        percent = _PERCENT.fullmatch(given)
        if percent is not None and float(percent.group(1)) > 0:
            return budget_like(like, rows=max(round(float(percent.group(1)) / 100 * needs.rows), 1))
        if percent is None:
            return budget_like(like, memory=parse_bytes(given, "memory"))
    raise SpecError(
        f'memory={given!r} is not accepted: give rows (a whole number), a size ("64 MB"), or a '
        f'part of what the exact join holds ("10 %")'
    )


def budget_like(like: Budget, rows: int | None = None, memory: int | None = None) -> Budget:
    """A budget of another size, shared out and monitored like this one."""
    return Budget(rows=rows, memory=memory, split=like.split, monitor=like.monitor)
