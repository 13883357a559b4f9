"""Which policies are on trial: all, or those that may still turn out best.

A trial costs processor time, and a policy that is far behind needs none until streams change. It is
*paused*, and comes back with what the policy followed stores in miniature, as if the join went over
to it then.
"""

from dataclasses import replace

import numpy as np

from headgate.learning.rival_round import BothRows, RivalRows
from headgate.learning.standing import Standing

NOBODY = -1


def places_among(before: tuple[str, ...], after: tuple[str, ...], like: str) -> np.ndarray:
    """For each policy after, its place before; that of ``like`` where it was not there, or -1.

    Examples
    --------
    >>> places_among(("fifo", "prob"), ("prob", "lru"), like="fifo").tolist()
    [1, 0]
    """
    model = before.index(like) if like in before else NOBODY
    return np.array([before.index(name) if name in before else model for name in after], np.int64)


def regrouped(
    standing: Standing, names: tuple[str, ...], costs: tuple[float, ...], like: str
) -> Standing:
    """The results of policies of these names; those that were not tried have what ``like`` has."""
    places = places_among(standing.names, names, like)
    found = replace(standing, names=names, costs=costs)
    found.made = np.where((places >= 0)[:, None], standing.made[places], 0.0)
    found.ahead_for = np.where(places >= 0, standing.ahead_for[places], 0.0)
    found.together = np.where(places >= 0, standing.together[places], 0.0)
    return found


def ages_together(rows: BothRows, ages: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Of each rival, how old the rows that it stores are by more than they differ in age.

    It is 0 where rows of all ages are stored, as many of each, and nearly their age where all came
    at about the same time. ``ages`` are those of all rows of a side, in parts of its window.
    """
    found = np.zeros(len(rows[0].held))
    for rival in range(len(found)):
        own = np.concatenate([ages[side][rows[side].held[rival]] for side in (0, 1)])
        if len(own):
            young, old = np.quantile(own, (0.25, 0.75))
            found[rival] = max(young - (old - young), 0.0)
    return found


def regrouped_rows(
    rows: BothRows, before: tuple[str, ...], after: tuple[str, ...], like: str
) -> BothRows:
    """What the policies after store: those that were not tried, what ``like`` does."""
    places = places_among(before, after, like)
    left, right = (_chosen(side, places) for side in rows)
    return left, right


def _chosen(rows: RivalRows, places: np.ndarray) -> RivalRows:
    held = rows.held[places] & (places >= 0)[:, None]
    chosen = rows._replace(
        held=held,
        matches=rows.matches[places],
        touched=rows.touched[places],
        recent=rows.recent[places] if rows.recent.size else rows.recent,
        met=rows.met[places] if rows.met.size else rows.met,
    )
    anybody: np.ndarray = np.any(held, axis=0)
    return chosen.where(anybody)
