"""Counts the matches of watched rows, stored or not."""

import numpy as np

from headgate.compiling import compiled
from headgate.kernel.ages_by_row import note_age
from headgate.kernel.layout import LEFT, Arrays, Fate, WatchState
from headgate.kernel.meetings import note_meeting
from headgate.policies.structures.pair_worth import pair_worth

OPEN = int(WatchState.OPEN)
FINISHED = int(WatchState.FINISHED)
GHOST = int(WatchState.GHOST)
MATCHED = int(Fate.MATCHED)
MET, TAKEN_BACK = np.int64(1), np.int64(-1)


@compiled
def note_met(arrays: Arrays, partner: int, probe: int, count: int) -> None:
    """Count a match of a watched row with an arrival."""
    link = arrays.links[partner]
    row = arrays.rows[partner]
    missing = arrays.terms[0].missing
    if missing:
        count *= missing
    note_meeting(arrays, partner, probe, count)
    worth = count * pair_worth(arrays, probe, partner)
    before = row.met
    row.met += worth * arrays.terms[0].stands_for
    if link.alive and not missing:
        row.made += worth
    if arrays.terms[0].frees_left and link.side == LEFT:
        # Only a first partner brings anything, or takes it away: ages are those of first matches.
        met = before if count > 0 else row.met
        if met > 0.0 or link.fate & MATCHED:
            return
    age = max(arrays.rows[probe].time - row.time, 0) // arrays.sides[link.side].bucket_us
    bucket = min(age, arrays.ages.shape[1] - 1)
    arrays.ages[link.side, bucket] += count
    note_age(arrays.by_row, partner, bucket, count)
