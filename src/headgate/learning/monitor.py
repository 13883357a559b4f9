"""The monitor: models of the streams, learned as a join runs within a share of its budget."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from headgate.learning.age_learner import AgeLearner, Fading
from headgate.learning.model_fit import Fit
from headgate.learning.recall import Evidence
from headgate.learning.standing import Standing
from headgate.models import AgeCurves

BUCKETS = 120
HALF_LIFE_WINDOWS = 2.0
"""Half-life of what was learned, in windows."""
HALF_LIFE_STAYS = 3.0
"""Likewise for how often keys come, in times that all that is stored was replaced, where that is
sooner. What is hot changes within long windows; and where nothing changes, keys that are worth
storing come often enough in that time for counts to be good."""


STANDING_STAYS = 20.0
"""And for how other policies did, where that is later: rare pairs take time to tell them apart."""
LEAST_SHARE = 2.0**-40
MOST_WATCHED, MOST_KEYS = 4096, 1 << 16
"""More of them would tell little more, and all of them are written with every batch."""
MOST_ENTRIES = 1 << 30
MOST_TRIED = 1 << 14
WATCHED_A_ROW, KEYS_A_ROW, TRIED_A_ROW = 2, 4, 3
"""Watched rows, tracked keys, and rows that other policies are tried on, that count as a stored
row where only rows are limited; they have no payload, and less bookkeeping."""
WATCHED_BYTES, COUNTS_BYTES, TRIED_BYTES = 48, 16, 40
"""What a watched row, a tracked key, and a row that policies are tried on takes beside the key."""


@dataclass(frozen=True)
class Part:
    """A part of a budget, in rows or bytes or both."""

    rows: int | None = None
    bytes: int | None = None

    def holds(self, a_row: int, entry_bytes: int) -> int:
        """How many entries fit, so many of which count as a row."""
        by_rows = MOST_ENTRIES if self.rows is None else self.rows * a_row
        by_bytes = MOST_ENTRIES if self.bytes is None else self.bytes // entry_bytes
        return min(by_rows, by_bytes)

    def shrunk(self, share: float) -> "Part":
        """So much of it."""
        rows, size = self
        return Part(
            None if rows is None else int(rows * share), None if size is None else int(size * share)
        )

    def __iter__(self) -> Iterator[int | None]:
        return iter((self.rows, self.bytes))


@dataclass(frozen=True)
class Room:
    """The monitor's share of a budget, and the seed for its random choices.

    Examples
    --------
    >>> Room(watched=Part(rows=50), keys=Part(bytes=1000)).most_keys(key_bytes=9)
    40
    """

    watched: Part
    keys: Part
    seed: int = 0
    tried: Part = Part(rows=0)

    @property
    def rows(self) -> int:
        """Rows of a budget that it takes."""
        return sum(part.rows or 0 for part in (self.watched, self.keys, self.tried))

    @property
    def bytes(self) -> int:
        """Bytes of a budget that it takes."""
        return sum(part.bytes or 0 for part in (self.watched, self.keys, self.tried))

    def needed(self, by_key: bool) -> "Room":
        """What is needed of it once a policy has been settled on; by key, counts must be good."""
        keys = self.keys if by_key else self.keys.shrunk(0.2)
        return Room(self.watched.shrunk(0.5), keys, self.seed, self.tried.shrunk(0.5))

    def most_watched(self, key_bytes: int) -> int:
        """How many rows with keys of so many bytes may be watched at once."""
        return min(self.watched.holds(WATCHED_A_ROW, key_bytes + WATCHED_BYTES), MOST_WATCHED)

    def most_keys(self, key_bytes: int) -> int:
        """How many keys of so many bytes may be counted."""
        return min(self.keys.holds(KEYS_A_ROW, key_bytes + COUNTS_BYTES), MOST_KEYS)

    def most_tried(self, key_bytes: int) -> int:
        """How many rows with keys of so many bytes other policies may be tried on at once."""
        return min(self.tried.holds(TRIED_A_ROW, key_bytes + TRIED_BYTES), MOST_TRIED)


@dataclass(frozen=True)
class Candidates:
    """Rows of a side that may be watched: where each begins on its window's scale, in order.

    Parameters
    ----------
    drawn
        The number drawn for each row.
    marks
        Its time, or its place among the side's rows; ascending.
    span
        How long it is watched on that scale; None where rows stay till the end of the step.
    """

    drawn: np.ndarray
    marks: np.ndarray
    span: int | None

    def most_open(self, share: float) -> int:
        """How many would be watched at once, at most.

        Examples
        --------
        >>> rows = Candidates(np.zeros(4), np.array([1, 2, 9, 10]), span=3)
        >>> rows.most_open(1.0)
        2
        """
        marks = self.marks[self.drawn < share]
        if self.span is None or not len(marks):
            return len(marks)
        gone = np.searchsorted(marks, marks - self.span, side="left")
        return int((np.arange(1, len(marks) + 1) - gone).max())


@dataclass
class Monitor:
    """Models of a running join, and the evidence for its recall.

    Parameters
    ----------
    spans
        The windows' lengths, each in its own unit; `by_rows` says which count rows.
    room
        How much it may keep.
    seed
        Which rows are watched.
    """

    spans: tuple[int, int]
    by_rows: tuple[bool, bool]
    widths_us: tuple[int, int]
    room: Room
    seed: int = 0
    share: float = 1.0
    """The probability with which arrivals are watched now."""
    finished: Evidence = field(default_factory=Evidence)
    """Of watched rows whose window has passed."""
    counts: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))
    """Rows of each side per tracked key, older ones counting for less."""
    counted: float = 0.0
    """Event time in microseconds, forgotten like the counts."""
    lived: float = 0.0
    """Event time, forgotten like the age curves."""
    arrived: float = 0.0
    """Rows of both sides, forgotten alike."""
    fit: Fit = field(default_factory=Fit)
    followed: str = ""
    """The policy that was chosen last, by its name."""
    switched: int = 0
    """How often the choice of policy changed."""
    standing: Standing = field(default_factory=Standing)
    """Results of the policies on trial."""
    steady: float = 0.0
    """For how many stays the policy has been followed."""
    spared: Room | None = None
    """What the last step kept to, where that was less than its room."""
    contested: bool = False
    """Whether it was chosen by how they do."""
    tried: float = 0.0
    """The share of the arrivals that they are tried on; 0 before it begins."""
    pairs: int = 0
    lost: int = 0
    """Pairs made, and rows lost, since the beginning."""
    ages: AgeLearner = field(init=False)

    def __post_init__(self) -> None:
        windows = tuple(
            0 if rows else span for span, rows in zip(self.spans, self.by_rows, strict=True)
        )
        self.ages = AgeLearner((windows[0], windows[1]), self.widths_us, BUCKETS)

    @property
    def knows_keys(self) -> bool:
        """Whether any key has been counted."""
        return len(self.counts) > 0 and self.counted > 0

    def curves(self) -> AgeCurves | None:
        """The age model, where windows are times and enough was seen."""
        return None if any(self.by_rows) else self.ages.curves()

    @property
    def rate(self) -> float:
        """Rows of both sides that come in a microsecond; 0 where that is not known."""
        return self.arrived / self.lived if self.lived > 0 else 0.0

    def fading(self, stored: int) -> Fading | None:
        """By how much the matches of rows fade in the time that so many rows are replaced.

        None where windows are rows: then there are no ages.
        """
        if any(self.by_rows):
            return None
        return self.ages.fading(stored / self.rate) if self.rate else Fading(0.0, 0.0)

    def forget(self, windows: float, lived: float, arrived: int, stored: int) -> None:
        """Move on by so many windows, and so much event time, in which so many rows came.

        ``stored`` is how many rows are stored: it says how often they were replaced.
        """
        factor = 0.5 ** (windows / HALF_LIFE_WINDOWS)
        of_keys = min(factor, 0.5 ** (arrived / max(stored, 1) / HALF_LIFE_STAYS))
        of_standing = max(factor, 0.5 ** (arrived / max(stored, 1) / STANDING_STAYS))
        self.ages.forget(factor)
        self.fit.forget(factor)
        self.standing.forget(of_standing)
        self.steady += arrived / max(stored, 1)
        self.counts = self.counts * of_keys
        self.counted = self.counted * of_keys + lived
        self.lived = self.lived * factor + lived
        self.arrived = self.arrived * factor + arrived

    def choose_share(self, candidates: Sequence[Candidates], most: int) -> float:
        """The chance with which rows may be watched so that they fit their room at any time.

        Parameters
        ----------
        candidates
            Each side's rows, those watched so far and those to come.
        most
            How many there is room for.
        """
        share = min(1.0, 2 * self.share if self.share else LEAST_SHARE)
        while share >= LEAST_SHARE:
            if sum(side.most_open(share) for side in candidates) <= most:
                return share
            share /= 2
        return 0.0

    def facts(self) -> str:
        """All but the counts, as text."""
        return json.dumps(
            {
                "share": self.share,
                "finished": asdict(self.finished),
                "counted": self.counted,
                "lived": self.lived,
                "arrived": self.arrived,
                "fit": asdict(self.fit),
                "followed": self.followed,
                "switched": self.switched,
                "contested": self.contested,
                "steady": self.steady,
                "spared": None if self.spared is None else asdict(self.spared),
                "tried": self.tried,
                "standing": {
                    "names": self.standing.names,
                    "costs": self.standing.costs,
                    "made": _rounded(self.standing.made),
                },
                "pairs": self.pairs,
                "lost": self.lost,
                "matches": _rounded(self.ages.matches),
                "rows": _rounded(self.ages.rows),
            }
        )

    def recall_facts(self, text: str) -> None:
        """Restore what `facts` wrote."""
        given = json.loads(text)
        self.share, self.counted, self.lived = given["share"], given["counted"], given["lived"]
        self.arrived, self.followed = given["arrived"], given["followed"]
        self.switched, self.tried = given["switched"], given["tried"]
        self.contested, self.steady = given["contested"], given["steady"]
        if (spared := given["spared"]) is not None:
            parts = {name: Part(**spared[name]) for name in ("watched", "keys", "tried")}
            self.spared = Room(**parts, seed=spared["seed"])
        standing = given["standing"]
        self.standing = Standing(tuple(standing["names"]), tuple(standing["costs"]))
        if self.standing.names:
            self.standing.made = np.array(standing["made"])
        self.pairs, self.lost = given["pairs"], given["lost"]
        self.finished, self.fit = Evidence(**given["finished"]), Fit(**given["fit"])
        self.ages.matches, self.ages.rows = np.array(given["matches"]), np.array(given["rows"])


def _rounded(values: np.ndarray) -> list[list[float]]:
    """To six digits, which is more than is known, so that the text stays short."""
    return [[float(f"{value:.6g}") for value in row] for row in values]
