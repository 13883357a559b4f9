"""What a join's result is, by brute force over the rows of a workload."""

from collections import Counter
from typing import Any

from tests.simulation.workload import Row, Workload

Pair = tuple[int | None, int | None]
"""Numbers of a left and a right row; None where there is none."""


def joined_rows(workload: Workload) -> tuple[list[Row], list[Row]]:
    """The rows of both sides that are not late, and have a time: no watermark passes others."""
    left, right = (
        [
            row
            for number, row in workload.rows(side)
            if row.second is not None and not workload.is_late(number, row)
        ]
        for side in (0, 1)
    )
    return left, right


def exact_result(workload: Workload) -> Counter[Pair] | None:
    """The whole result; None for windows in rows, which follow the order of arrival."""
    asked = workload.asked
    if asked.counted:
        return None
    left, right = joined_rows(workload)
    pairs = [(a.number, b.number) for a in left for b in right if _match(a, b, workload)]
    met = ({pair[0] for pair in pairs}, {pair[1] for pair in pairs})
    if asked.how == "semi":
        return Counter((number, None) for number in met[0])
    alone_left: list[Pair] = [(row.number, None) for row in left if row.number not in met[0]]
    alone_right: list[Pair] = [(None, row.number) for row in right if row.number not in met[1]]
    if asked.how == "anti":
        return Counter(alone_left)
    found: Counter[Pair] = Counter(pairs)
    if asked.how in ("left", "full"):
        found.update(alone_left)
    if asked.how in ("right", "full"):
        found.update(alone_right)
    return found


def as_pairs(rows: list[tuple[Any, ...]], columns: list[str], certain: bool) -> Counter[Pair]:
    """Result rows as pairs of row numbers: those that are certain, or those that are not."""
    places = [columns.index(n) if n in columns else None for n in ("left_id", "right_id")]
    flag = columns.index("certain") if "certain" in columns else None
    return Counter(
        tuple(None if place is None else row[place] for place in places)
        for row in rows
        if (flag is None or bool(row[flag])) == certain
    )


def _match(left: Row, right: Row, workload: Workload) -> bool:
    asked = workload.asked
    if left.key is None or left.key != right.key:
        return False
    apart = (right.second or 0) - (left.second or 0)
    within = -asked.windows[1] <= apart <= asked.windows[0]
    return within and (not asked.band or -1 <= right.value - left.value <= 2)
