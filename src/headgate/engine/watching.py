"""Watched rows: what they meet, stored or not."""

from headgate.compiling import inlined
from headgate.engine.layout import Desk, Watch

OPEN = int(Watch.OPEN)
FINISHED = int(Watch.FINISHED)
GHOST = int(Watch.GHOST)


@inlined
def note_met(desk: Desk, partner: int, time: int, count: int) -> None:
    """Count that a watched row met an arrival of that time."""
    link = desk.links[partner]
    row = desk.rows[partner]
    row.met += count
    if link.alive:
        row.made += count
    age = max(time - row.time, 0) // desk.sides[link.side].bucket_us
    desk.ages[link.side, min(age, desk.ages.shape[1] - 1)] += count
