"""Work skipped to stay within the CPU budget.

An arrival may skip its probe, its storing, or both. Which arrivals are not stored is planned ahead
(`pace.py`), since storing a row causes work throughout its window. Whether an arrival probes is
decided on arrival: each arrival earns its part of the step's CPU time as credit, work is paid from
it, and an arrival that finds no credit does not probe. So a step does about the work it is allowed,
however many pairs the stored rows turn out to make.

The recall estimate must still count the matches of skipped probes: a few of these are made anyway,
against the watched rows only, and stand for all.
"""

import numpy as np

from headgate.compiling import compiled
from headgate.kernel.layout import Arrays, Skip
from headgate.policies.chance import draw_one

NOT_PROBED = int(Skip.PROBE)
LOOKS = 1 / 16
"""Share of the skipped probes that are still made, against the watched rows only."""
SALT: np.uint64 = np.uint64(0x5851F42D4C957F2D)
"""Separates these random draws from those of the same seed that choose watched or stored rows."""


@compiled
def leaves_out(arrays: Arrays, row: int) -> bool:
    """Whether the arrival skips its probe; sets `terms.missing` if it still probes watched rows."""
    terms = arrays.terms[0]
    own = arrays.links[row]
    left_out = own.skip & NOT_PROBED != 0
    if terms.paced:
        terms.credit += terms.earns - terms.arriving_costs
        left_out = left_out or terms.credit < 0.0
    if left_out and terms.looks > 0.0:
        coin = draw_one(terms.seed ^ SALT, own.side, arrays.rows[row].sequence)
        terms.missing = np.int64(1.0 / terms.looks) if coin < terms.looks else np.int64(0)
    return bool(left_out)


@compiled
def pay(arrays: Arrays, seconds: float) -> None:
    """Pay for work from the credit."""
    arrays.terms[0].credit -= seconds


@compiled
def take_back(arrays: Arrays) -> None:
    """Take back the credit of an arrival that will be processed again."""
    terms = arrays.terms[0]
    if terms.paced:
        terms.credit -= terms.earns - terms.arriving_costs
