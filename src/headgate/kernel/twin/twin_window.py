"""Windows and pairs in plain Python: matching, expiry, and the importance of a pair."""

from collections.abc import Sequence

from headgate.kernel.layout import LEFT, RIGHT
from headgate.kernel.relation import Relation
from headgate.policies.kinds.plain_score import PlainRow
from headgate.spec.importance.combine import Combine


def age_order(row: PlainRow) -> tuple[int, int]:
    """Sort key of a side's rows by age, oldest first."""
    return row.mark, row.position


def past_order(row: PlainRow) -> tuple[int, int, int]:
    """Sort key for evicting rows past their window."""
    return row.side, row.mark, row.position


def is_past(row: PlainRow, seen: Sequence[int], clock: int) -> bool:
    """Whether no in-order arrival from now on can match the row."""
    if row.by_rows:
        return seen[row.side] > row.end
    # Left rows precede the right rows of a time, which can still match a left row then.
    return 2 * row.end + (1 if row.side == LEFT else 0) < clock


def are_partners(
    row: PlainRow, stored: PlainRow, where: Relation | None, seen: Sequence[int]
) -> bool:
    """Whether an arrival and a stored row are partners."""
    if stored.side == row.side or stored.code != row.code:
        return False
    left, right = (row, stored) if row.side == LEFT else (stored, row)
    if where is not None and not where.holds(left.value, right.value):
        return False
    if stored.by_rows:
        return seen[stored.side] <= stored.end
    return row.time <= stored.end and (row.by_rows or stored.time <= row.end)


def plain_pair_worth(combine: Combine, left: float, right: float) -> float:
    """The importance of a pair, from those of its rows.

    Examples
    --------
    >>> plain_pair_worth(Combine.MIN, 2.0, 5.0), plain_pair_worth(Combine.NONE, 2.0, 5.0)
    (2.0, 1.0)
    """
    return {
        Combine.NONE: 1.0,
        Combine.LEFT: left,
        Combine.RIGHT: right,
        Combine.MIN: min(left, right),
        Combine.PRODUCT: left * right,
        Combine.SUM: left + right,
        Combine.MAX: max(left, right),
    }[combine]


def oldest_of(rows: Sequence[PlainRow]) -> PlainRow:
    """The oldest of stored rows; under a row window, the first of its side."""
    sides = [[row for row in rows if row.side == side] for side in (LEFT, RIGHT)]
    firsts = [min(side, key=age_order) for side in sides if side]
    return min(firsts, key=lambda row: row.position)
