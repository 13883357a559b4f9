"""The history log: how often and when stored rows matched, for policies that score by it."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from headgate.kernel.rows import Rows


def with_history(rows: Rows, logs: Iterable[pa.Table], side: int) -> Rows:
    """A side's rows with what the parts of a log, oldest first, say of them."""
    recent = recent_matches(rows)
    # Within a batch rows may arrive in any order, so sequences need not ascend.
    order: np.ndarray | None = None
    for log in logs:
        order = np.argsort(rows.sequence, kind="stable") if order is None else order
        mine = log.column("side").to_numpy() == side
        sequence = log.column("sequence").to_numpy()[mine]
        found = np.searchsorted(rows.sequence, sequence, sorter=order)
        at_hand = found < len(order)
        at = np.zeros(len(found), np.int64)
        at[at_hand] = order[found[at_hand]]
        at_hand[at_hand] = rows.sequence[at[at_hand]] == sequence[at_hand]
        rows.matches[at[at_hand]] = log.column("matches").to_numpy()[mine][at_hand]
        rows.touched[at[at_hand]] = log.column("touched").to_numpy()[mine][at_hand]
        recent[at[at_hand]] = log.column("recent").to_numpy()[mine][at_hand]
    return rows._replace(recent=recent)


def has_history(rows: Rows) -> np.ndarray:
    """Which rows have changed since they arrived."""
    changed: np.ndarray = (
        (rows.matches > 0) | (rows.touched != rows.time) | (recent_matches(rows) > 0)
    )
    return changed


def changed_since(before: Rows, now: Rows) -> np.ndarray:
    """Which stored rows differ from the state, which holds the rows stored before."""
    count = len(before.time)
    differs = has_history(now)
    differs[:count] = (
        (now.matches[:count] != before.matches)
        | (now.touched[:count] != before.touched)
        | (recent_matches(now)[:count] != recent_matches(before))
    )
    return differs


def history_table(rows: list[Rows], which: list[np.ndarray]) -> pa.Table:
    """The entries of a log: of each side's rows, some."""
    return pa.table(
        {
            "side": np.repeat(np.array([0, 1], np.int8), [int(w.sum()) for w in which]),
            "sequence": np.concatenate([r.sequence[w] for r, w in zip(rows, which, strict=True)]),
            "matches": np.concatenate([r.matches[w] for r, w in zip(rows, which, strict=True)]),
            "touched": np.concatenate([r.touched[w] for r, w in zip(rows, which, strict=True)]),
            "recent": np.concatenate(
                [recent_matches(r)[w] for r, w in zip(rows, which, strict=True)]
            ),
        }
    )


def recent_matches(rows: Rows) -> np.ndarray:
    """Decayed matches of rows; none where they are not kept."""
    return np.zeros(len(rows.time)) if rows.recent is None else rows.recent
