"""The monitor: models of the streams, learned as a join runs within a share of its budget."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from headgate.learning.age_learner import AgeLearner, Fading
from headgate.learning.array_text import as_text, from_nibbles, from_text, nibbles
from headgate.learning.column_learner import ColumnLearner
from headgate.learning.density_learner import DensityLearner, Waiting
from headgate.learning.epoch import BUCKETS, FIRST, LEAST_ROWS, Epoch
from headgate.learning.evidence import Evidence
from headgate.learning.followed_keys import FollowedKeys
from headgate.learning.key_change import arrivals_worth
from headgate.learning.key_counts import Sketch, padded
from headgate.learning.key_tail import KeyTail
from headgate.learning.model_fit import ModelFit
from headgate.learning.room import Room
from headgate.learning.standing import Standing
from headgate.models import AgeCurves
from headgate.models.density_classes import SHAPE
from headgate.models.match_density import MatchDensity

HALF_LIFE_WINDOWS = 2.0
"""Half-life of what was learned, in windows."""
HALF_LIFE_STAYS = 3.0
"""Likewise for how often keys come, in times that all that is stored was replaced, where that is
sooner. What is hot changes within long windows; and where nothing changes, keys that are worth
storing come often enough in that time for counts to be good."""


STANDING_STAYS = 20.0
"""And for how other policies did, where that is later: rare pairs take time to tell them apart."""

EARLY = 1.0
"""Results count by this power of how much was known when they were made: early on, policies that
learn make less than they will."""

LEAST_SHARE = 2.0**-40
LOWER = 0.5**0.5
"""What is left of a share of rows or keys that is lowered at once: with half, room for watched rows
would stand half empty on average, and what they tell would be as much less."""


def lowered(share: float) -> float:
    """The next lower share; none where that is too little to tell anything."""
    return share * LOWER if share > LEAST_SHARE else 0.0


@dataclass
class Monitor:
    """Models of a running join, and the evidence for its recall.

    Models are those of the epochs before the present one, whose observations are in `epoch` and
    `fresh`.

    Parameters
    ----------
    spans
        The windows' lengths, each in its own unit; `by_rows` says which count rows.
    room
        How much it may keep.
    seed
        Which rows are watched.
    least_rows
        Arrivals of an epoch at least.
    """

    spans: tuple[int, int]
    by_rows: tuple[bool, bool]
    widths_us: tuple[int, int]
    room: Room
    seed: int = 0
    least_rows: int = LEAST_ROWS
    are_numbers: tuple[tuple[bool, ...], tuple[bool, ...]] = ((), ())
    """Of each side, whether the columns that tell what rows are worth are numbers."""
    share: float = 1.0
    """The probability with which arrivals are watched now."""
    passed: tuple[Evidence, Evidence] = (Evidence(), Evidence())
    """Of each side's watched rows whose window has passed."""
    alone: Evidence = field(default_factory=Evidence)
    """Likewise, of rows that have no partner, in joins that put them out."""
    counts: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))
    """Rows of each side per tracked key, older ones counting for less."""
    fresh: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))
    """Rows of this epoch per key: of those tracked, then of those that came first in it."""
    sketch: Sketch = field(default_factory=Sketch)
    """Rows of this epoch whose key is not tracked."""
    tail: KeyTail = field(default_factory=KeyTail)
    """Likewise, of the epochs before."""
    counted: float = 0.0
    """Event time in microseconds, forgotten like the counts."""
    lived: float = 0.0
    """Event time, forgotten like the age curves."""
    arrived: float = 0.0
    """Rows of both sides, forgotten alike."""
    importance: float = 1.0
    """The mean importance of the last epoch's arrivals."""
    fit: ModelFit = field(default_factory=ModelFit)
    followed: str = ""
    """The policy that is followed, by its name."""
    switched: int = 0
    """How often the choice of policy changed."""
    standing: Standing = field(default_factory=Standing)
    """Results of the policies on trial."""
    steady: float = 0.0
    """For how many stays the policy has been followed."""
    contested: bool = False
    """Whether it was chosen by how they do."""
    trial_left: float = 1.0
    """What is left, forgotten by windows, of when all policies were last tried."""
    tried: float = 0.0
    """The share of the arrivals that they are tried on; 0 before it begins."""
    pairs: int = 0
    lost: int = 0
    """Pairs made, and rows lost, since the beginning."""
    made: tuple[float, float] = (0.0, 0.0)
    """Rows of the result with a partner and without, since the beginning."""
    has_given_up: bool = False
    """Whether any row was ever given up for lack of room, also past its window."""
    is_resting: bool = False
    """Whether nothing is learned in this epoch; see `resting`."""
    woken_at: int = 0
    """Rows of both sides that had come when it last began to learn."""
    key_bytes: int = 0
    """The most that a key has taken so far."""
    follows_keys: bool = False
    """Whether it takes keys that are followed to tell recall."""
    followed_keys: FollowedKeys = field(init=False)
    epoch: Epoch = field(init=False)
    ages: AgeLearner = field(init=False)
    densities: DensityLearner = field(init=False)
    columns: ColumnLearner = field(init=False)

    def __post_init__(self) -> None:
        windows = tuple(
            0 if rows else span for span, rows in zip(self.spans, self.by_rows, strict=True)
        )
        self.ages = AgeLearner((windows[0], windows[1]), self.widths_us, BUCKETS)
        self.densities = DensityLearner((windows[0], windows[1]))
        self.columns = ColumnLearner((windows[0], windows[1]), self.are_numbers, self.seed)
        self.epoch = Epoch(until=int(FIRST * self.least_rows))
        self.followed_keys = FollowedKeys(self.spans, self.seed)

    def anew(self) -> "Monitor":
        """One that knows nothing yet, for the same join."""
        return Monitor(
            self.spans,
            self.by_rows,
            self.widths_us,
            self.room,
            seed=self.seed,
            least_rows=self.least_rows,
            are_numbers=self.are_numbers,
        )

    @property
    def finished(self) -> Evidence:
        """Of watched rows whose window has passed."""
        return self.passed[0] + self.passed[1]

    @property
    def knows_keys(self) -> bool:
        """Whether any key has been counted."""
        return len(self.counts) > 0 and self.counted > 0

    def curves(self) -> AgeCurves | None:
        """The age model, where windows are times and enough was seen."""
        return None if any(self.by_rows) else self.ages.curves()

    def density(self) -> MatchDensity | None:
        """The match density of rows, where windows are times and keys are counted or rows were
        followed by class."""
        if any(self.by_rows) or not (self.knows_keys or self.densities.knows):
            return None
        return self.densities.density()

    def may_follow(self, name: str) -> bool:
        """Whether a policy is on trial, or followed."""
        return name in self.standing.names or name == self.followed

    @property
    def rate(self) -> float:
        """Rows of both sides that come in a microsecond; 0 where that is not known."""
        return self.arrived / self.lived if self.lived > 0 else 0.0

    @property
    def room_now(self) -> Room:
        """The room that it keeps to in this epoch."""
        room = self.room.without_tail if self.tail.is_useless else self.room
        return room.needed(by_key=self.epoch.lean == "key") if self.epoch.lean else room

    @property
    def room_taken(self) -> Room:
        """The room that it takes now: more than it keeps to, as long as that is not free yet."""
        if self.epoch.spare:
            return self.room_now
        return self.room.without_tail if self.tail.is_useless else self.room

    def fading(self, stored: int) -> Fading | None:
        """By how much the matches of rows fade in the time that so many rows are replaced.

        None where windows are rows: then there are no ages.
        """
        if any(self.by_rows):
            return None
        return self.ages.fading(stored / self.rate) if self.rate else Fading(0.0, 0.0)

    @property
    def stay_us(self) -> float:
        """In what time all stored rows are replaced; 0 where that is not known."""
        return self.epoch.stored / self.rate if self.rate else 0.0

    def forget(
        self, windows: float, lived: float, arrived: int, stored: int, before: float = 1.0
    ) -> None:
        """Move on by so many windows, and so much event time, in which so many rows came.

        ``stored`` is how many rows are stored: it says how often they were replaced; ``before`` is
        the part of all rows that came before these.
        """
        factor = 0.5 ** (windows / HALF_LIFE_WINDOWS)
        of_keys = min(factor, 0.5 ** (arrived / max(stored, 1) / HALF_LIFE_STAYS))
        of_keys *= self._still_true(of_keys)
        of_standing = max(factor, 0.5 ** (arrived / max(stored, 1) / STANDING_STAYS))
        self.ages.forget(factor)
        self.densities.forget(factor)
        self.fit.forget(factor)
        self.tail.forget(windows, factor, self.seed, self.epoch.until)
        self.standing.forget(min(of_standing, before**EARLY))
        self.trial_left *= factor
        self.steady += arrived / max(stored, 1)
        self.counts = self.counts * of_keys
        self.counted = self.counted * of_keys + lived
        self.lived = self.lived * factor + lived
        self.arrived = self.arrived * factor + arrived

    def _still_true(self, discount: float) -> float:
        """How much of the earlier counts of keys is left, after a discount, where the epoch shows
        that other keys come now."""
        if not len(self.counts):
            return 1.0
        left = 1.0
        rows = max(len(self.counts), len(self.fresh))
        counts, fresh = discount * padded(self.counts, rows), padded(self.fresh, rows)
        for side in (0, 1):
            if self.spans[1 - side]:  # rows wait for them
                worth = arrivals_worth(counts[:, side], fresh[:, side])
                left = min(left, worth / max(float(counts[:, side].sum()), 1e-12))
        return left

    def take_in(self, epoch: Epoch) -> Waiting:
        """Add the observations of an epoch to the models, in the precision in which they are kept.

        Key counts are added by `key_counts.settle`. Returns what waits for more of its kind.
        """
        self.ages.add(epoch.matches, epoch.watched_us)
        self.fit.add(epoch.judged)
        self.tail.add(epoch.tail, epoch.watched_met)
        if epoch.made is not None and epoch.lost:
            # Before memory has run full, all policies make the same.
            self.standing.add(epoch.made)
        self.standing.made = _single(self.standing.made)
        return self.densities.take_in(Waiting(epoch.met, epoch.waited_us))

    def facts(self) -> str:
        """All but the counts, as text."""
        more: dict[str, Any] = (
            {"followed_keys": self.followed_keys.facts()} if self.follows_keys else {}
        )
        if self.densities.knows:
            learned = np.stack([self.densities.met, self.densities.spent_us])
            more["densities"] = as_text(learned, np.float32)
            more["densities_left"] = self.densities.left
        if self.columns.learns:
            more["columns"] = self.columns.facts()
        return json.dumps(
            {
                **more,
                "share": self.share,
                "room": asdict(self.room),
                "finished": [asdict(side) for side in self.passed],
                "alone": asdict(self.alone),
                "counted": self.counted,
                "lived": self.lived,
                "arrived": self.arrived,
                "importance": self.importance,
                "fit": asdict(self.fit),
                "followed": self.followed,
                "switched": self.switched,
                "contested": self.contested,
                "steady": self.steady,
                "tried": self.tried,
                "trial_left": self.trial_left,
                "standing": {
                    "names": self.standing.names,
                    "costs": self.standing.costs,
                    "by_importance": self.standing.by_importance,
                    "made": self.standing.made.tolist(),
                    "ahead_for": self.standing.ahead_for.tolist(),
                    "together": self.standing.together.tolist(),
                },
                "pairs": self.pairs,
                "lost": self.lost,
                "made": list(self.made),
                "has_given_up": self.has_given_up,
                "is_resting": self.is_resting,
                "woken_at": self.woken_at,
                "key_bytes": self.key_bytes,
                "ages": as_text(np.stack([self.ages.matches, self.ages.rows]), np.float32),
                "sketch": [self.sketch.least, as_text(nibbles(self.sketch.cells), np.uint8)],
                "tail": self.tail.facts(),
                "epoch": self.epoch.facts(),
            }
        )

    def recall_facts(self, text: str) -> None:
        """Restore what `facts` wrote."""
        given = json.loads(text)
        self.share, self.counted, self.lived = given["share"], given["counted"], given["lived"]
        self.arrived, self.followed = given["arrived"], given["followed"]
        self.switched, self.tried = given["switched"], given["tried"]
        self.importance = given.get("importance", 1.0)
        self.trial_left = given.get("trial_left", 1.0)
        self.contested, self.steady = given["contested"], given["steady"]
        standing = given["standing"]
        self.standing = Standing(
            tuple(standing["names"]), tuple(standing["costs"]), standing.get("by_importance", False)
        )
        if self.standing.names:
            self.standing.made = np.array(standing["made"])
            if "ahead_for" in standing:
                self.standing.ahead_for = np.array(standing["ahead_for"])
                self.standing.together = np.array(standing["together"])
        self.pairs, self.lost = given["pairs"], given["lost"]
        # Earlier versions never rested.
        matched, alone = given.get("made", (float(self.pairs), 0.0))
        self.made = (matched, alone)
        self.has_given_up = given.get("has_given_up", self.lost > 0)
        self.is_resting = given.get("is_resting", False)
        self.woken_at = given.get("woken_at", 0)
        self.fit = ModelFit(**given["fit"])
        if "epoch" not in given:
            self._recall_steps(given)
            return
        self.key_bytes, self.epoch = given["key_bytes"], Epoch.of(given["epoch"])
        left, right = (Evidence(**side) for side in given["finished"])
        self.passed, self.alone = (left, right), Evidence(**given.get("alone", {}))
        if not self.room.holds(given["room"]):
            self.epoch.until = 0  # the budget is smaller: what is kept must fit the new room
        if "followed_keys" in given:
            self.followed_keys.recall_facts(given["followed_keys"])
        else:
            self.followed_keys.counted = 0.0  # an earlier version followed none
        if "densities" in given:
            learned = from_text(given["densities"], np.float32, (2, *SHAPE)).astype(np.float64)
            self.densities.met, self.densities.spent_us = learned[0], learned[1]
            self.densities.left = given.get("densities_left", 1.0)
        if "columns" in given:
            self.columns.recall_facts(given["columns"])
        least, cells = given["sketch"]
        self.sketch = Sketch(from_nibbles(from_text(cells, np.uint8, (-1,))), least)
        if "tail" in given:  # earlier versions knew nothing of it
            self.tail = KeyTail.of(given["tail"])
        ages = from_text(given["ages"], np.float32, (2, 2, BUCKETS)).astype(np.float64)
        self.ages.matches, self.ages.rows = ages[0], ages[1]

    def follow_anew(self) -> None:
        """Forget how policies did, since another is asked for; what streams are like stays."""
        self.followed, self.steady, self.contested = "", 0.0, False
        self.standing, self.tried = Standing(), 0.0
        self.epoch.made, self.epoch.lean, self.epoch.spare = None, "", False
        self.epoch.until = 0  # what is kept must fit the room that the policy asks for

    def _recall_steps(self, given: dict[str, Any]) -> None:
        """What an earlier version wrote, which learned from step to step: an epoch begins."""
        self.ages.matches, self.ages.rows = np.array(given["matches"]), np.array(given["rows"])
        self.passed = (Evidence(**given["finished"]), Evidence())
        self.epoch.until = 0


def _single(values: np.ndarray) -> np.ndarray:
    """In single precision, which is more than is known, so that what is written is short."""
    return values.astype(np.float32).astype(np.float64)
