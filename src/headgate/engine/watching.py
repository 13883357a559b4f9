"""Watched rows: what they meet, stored or not."""

import numpy as np

from headgate.compiling import inlined
from headgate.engine.layout import Desk, Watch
from headgate.engine.worth import pair_worth

OPEN = int(Watch.OPEN)
FINISHED = int(Watch.FINISHED)
GHOST = int(Watch.GHOST)
MET, TAKEN_BACK = np.int64(1), np.int64(-1)


@inlined
def note_met(desk: Desk, partner: int, probe: int, count: int) -> None:
    """Count that a watched row met an arrival."""
    link = desk.links[partner]
    row = desk.rows[partner]
    missing = desk.terms[0].missing
    if missing:
        count *= missing
    worth = count * pair_worth(desk, probe, partner)
    row.met += worth * desk.terms[0].stands_for
    if link.alive and not missing:
        row.made += worth
    age = max(desk.rows[probe].time - row.time, 0) // desk.sides[link.side].bucket_us
    desk.ages[link.side, min(age, desk.ages.shape[1] - 1)] += count
