"""A step of a join that follows keys: who was preceded by a partner, and who came last."""

from typing import NamedTuple

import numpy as np

from headgate.kernel.given_up import hashes_of_codes
from headgate.kernel.key_draw import KeyDraw
from headgate.kernel.layout import NULL_KEY
from headgate.kernel.step_input import StepInput
from headgate.learning.followed_keys import FollowedKeys
from headgate.learning.keys_seen import Following, HashedRows, in_event_order, keyed_rows
from headgate.learning.result_rows import ResultRows


class FollowingStep(NamedTuple):
    """What a step needs to know of the followed keys.

    Parameters
    ----------
    draw
        The rows that are watched by their key.
    rule
        The keys that are followed.
    came
        The arrivals whose key is followed, in event order.
    preceded
        Of each side's arrivals: whether a row that it meets had come before it, stored or not;
        known where its key is followed.
    late_us
        The time up to which no row comes any more, where rows may come out of order.
    """

    draw: KeyDraw
    rule: Following
    came: HashedRows
    preceded: tuple[np.ndarray, np.ndarray]
    late_us: int | None

    @classmethod
    def of(cls, keys: FollowedKeys, result: ResultRows, given: StepInput) -> "FollowingStep | None":
        """For a step that is about to begin; None where no keys are followed."""
        if not result.by_key:
            return None
        hashes = hashes_of_codes(given.codes) if given.hashes is None else given.hashes
        draw = keys.rows(result.key_sides, hashes)
        rule = keys.entered(result.key_sides)
        keys.seen = keys.seen.limited(rule)
        left, right = given.arriving
        able = (left.code != NULL_KEY, right.code != NULL_KEY)
        rows = keyed_rows(
            (left.time[able[0]], right.time[able[1]]),
            (hashes[left.code[able[0]]], hashes[right.code[able[1]]]),
        )
        # Both draws are of the same blocks: they differ in how many keys they take.
        lots = draw.lots_at(rows.key, rows.time)
        entered = np.array(rule.sides)[rows.side] & (rule.lots(rows, lots) < rule.draw.share)
        asked = np.array(draw.sides)[rows.side] & (lots < draw.share)
        few = in_event_order(rows, np.flatnonzero(entered | asked))
        came = rows.where(few)
        found = np.zeros(len(rows.side), np.bool_)
        found[few] = keys.seen.precede(came, rule, entered[few], asked[few])
        preceded = (np.zeros(len(able[0]), np.bool_), np.zeros(len(able[1]), np.bool_))
        lefts = int(np.count_nonzero(able[0]))
        preceded[0][able[0]], preceded[1][able[1]] = found[:lefts], found[lefts:]
        late_us = given.watermark if given.keep_late else None
        return cls(draw, rule, came.where(entered[few]), preceded, late_us)

    def end(self, keys: FollowedKeys, clock: int, most: int) -> None:
        """After the step: note who came last."""
        seen = keys.seen.then(self.came)
        is_open = self.rule.is_open(seen.rows, clock)
        behind = np.ones(len(is_open), np.bool_)
        if self.late_us is not None:
            behind = seen.rows.time + np.array(self.rule.spans)[seen.rows.side] <= self.late_us
        keys.seen = seen.fitting(is_open, behind, most)
