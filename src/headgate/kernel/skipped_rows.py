"""Choice of the arrivals that are not stored or do not probe, made before the step runs."""

from collections.abc import Sequence

import numpy as np

from headgate.kernel.layout import Skip
from headgate.kernel.pace import SKIP_SALT
from headgate.kernel.rows import Rows
from headgate.kernel.skipped_work import LOOKS
from headgate.kernel.terms import Terms
from headgate.policies.chance import uniform
from headgate.policies.policy import Arrivals


def most_at_once(terms: Terms, arriving: Sequence[Rows]) -> float:
    """How many rows can be stored if none is to be evicted within its window.

    Limited only where rows are equally likely to match throughout their window; otherwise storing
    them for a short time may be best.
    """
    if not (terms.policy.weighs_matches or terms.policy.by_lot):
        return np.inf
    sizes = np.concatenate([batch.size for batch in arriving])
    pools = (0,) if terms.pooled else (0, 1)
    rows = float(sum(terms.most_rows[pool] for pool in pools))
    held = float(sum(terms.most_bytes[pool] for pool in pools))
    return min(rows, held / max(float(sizes.mean()), 1.0)) if len(sizes) else rows


def skipped_parts(
    terms: Terms, groups: tuple[Rows, ...], arrivals: Arrivals, ends: np.ndarray
) -> np.ndarray:
    """The work skipped for each row, as `Skip`; empty where none is.

    One random draw per row decides both probing and storing, so that with equal shares a row is
    processed either fully or not at all.
    """
    told = any(group.effort is not None for group in groups)
    if terms.pace is None and not told:
        return np.empty(0, np.uint8)
    probe, store = np.ones(len(arrivals.time)), np.ones(len(arrivals.time))
    if terms.pace is not None:
        new = slice(ends[1], ends[3])
        came = Arrivals(*(column[new] if column.size else column for column in arrivals))
        store[new] = terms.pace.shares_stored(came, most_at_once(terms, groups[2:4]))
    for which in (2, 3):
        effort = groups[which].effort
        if effort is not None:
            own = slice(ends[which - 1], ends[which])
            probe[own] *= effort[0]
            store[own] *= effort[1]
    coin = uniform(terms.seed ^ SKIP_SALT, arrivals.side, arrivals.sequence)
    skipped: np.ndarray = Skip.PROBE * (coin >= probe) + Skip.STORE * (coin >= store)
    return skipped.astype(np.uint8)


def paced(terms: np.ndarray, given: Terms, arriving: int, watched: bool) -> np.ndarray:
    """The kernel's terms with the CPU credit for ``arriving`` rows."""
    terms["looks"] = LOOKS if watched else 0.0
    terms["stands_for"] = 1.0 / given.let_in
    if given.pace is not None and arriving:
        terms["paced"] = 1
        terms["earns"] = given.pace.seconds / arriving
        terms["arriving_costs"] = given.pace.costs.arrive
        terms["storing_costs"] = given.pace.costs.store
        terms["pairing_costs"] = given.pace.costs.pair
    return terms
