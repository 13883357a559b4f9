"""What is left skipped for want of processor time.

Two things can be: an arrival need not look for partners, and it need not be stored. Which arrivals
are not stored is decided beforehand (`pace.py`), as it costs or saves work for as long as they
would have waited. Whether an arrival probes is decided when it comes: every arrival earns its part
of the time the step has, work is paid for, and who finds nothing left does not probe. So a step
does about the work it may do, whatever the stored rows turn out to bring.

What a probe that is left out would have met must not be forgotten where recall is told: a few of
them are made all the same, for the watched rows alone, and count for all.
"""

import numpy as np

from headgate.compiling import inlined
from headgate.kernel.layout import Arrays, Skip
from headgate.policies.chance import draw_one

NOT_PROBED = int(Skip.PROBE)
LOOKS = 1 / 16
"""Of the probes left out, the share that is made for the watched rows."""
SALT: np.uint64 = np.uint64(0x5851F42D4C957F2D)
"""Makes these coins others than those of the same seed that decide who is watched or kept."""


@inlined
def leaves_out(arrays: Arrays, row: int) -> bool:
    """Whether the arrival does not probe; `terms.missing` says if it looks all the same."""
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


@inlined
def pay(arrays: Arrays, seconds: float) -> None:
    """Take work off the credit."""
    arrays.terms[0].credit -= seconds


@inlined
def take_back(arrays: Arrays) -> None:
    """Undo what an arrival earned that will be processed again."""
    terms = arrays.terms[0]
    if terms.paced:
        terms.credit -= terms.earns - terms.arriving_costs
