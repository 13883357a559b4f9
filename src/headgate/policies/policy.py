"""What a policy is: it says how much a row is worth keeping, and nothing else.

Scores come in a few kinds; the kernel keeps a structure for each, so that finding the row worth
least is cheap at any budget. A policy picks the kind by its base class and fills in one method.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from headgate.spec import RowWindow, SpecError, TimeWindow, Window


class Kind(IntEnum):
    """What a score depends on."""

    FIXED = 0
    AGE = 1
    VALUE = 2
    HISTORY = 3
    FLIPS = 4
    """Samples: which of the row's matches are chosen, by coins flipped in advance."""
    CURVE = 5
    """How far the row's value is from where the other stream has got to."""
    RESIDENCE = 6
    """What the row has brought of late, for how long it has been there: changes all the time."""


class Arrivals(NamedTuple):
    """What a policy may know of arriving rows, an entry a row."""

    time: np.ndarray  # int64, microseconds
    side: np.ndarray  # uint8, 0 left, 1 right
    sequence: np.ndarray  # int64, counts the rows of a side
    weight: np.ndarray  # float64, what `Policy.weigh` made of the key
    importance: np.ndarray  # float64, what a pair of the row is worth; ones where all count alike


class Piece(NamedTuple):
    """A stretch of ages, from ``age`` on, over which a score is linear."""

    age: float
    start: float  # score at that age
    slope: float  # change of score per microsecond


class Curves(NamedTuple):
    """The scores of a side's rows, looked up by frame, by class of age, and by offset."""

    table: np.ndarray  # float64 (frame, class, offset)
    lowest: int  # the first offset of the table; beyond it, on either end, a row is worth nothing
    grain: int  # an entry is for 2 ** grain offsets
    class_us: int  # how long an age class lasts; the last one goes on


class Departures(NamedTuple):
    """Rows that were stored for a while, an entry each, in the order they left."""

    side: np.ndarray  # uint8
    offset: np.ndarray  # int64: their value's, from where the other stream was when they came
    matches: np.ndarray  # int32: pairs they made
    stayed_us: np.ndarray  # int64: how long they were stored


class Frames(NamedTuple):
    """Where a stream has got to when each of its rows comes."""

    origin: np.ndarray  # int64: offsets are told from here
    frame: np.ndarray  # int32: which of the frames of `Curves.table` to look into


@dataclass(frozen=True)
class Policy(ABC):
    """Base of all policies; see the kinds below."""

    name: ClassVar[str]
    kind: ClassVar[Kind]
    weighs_keys: ClassVar[bool] = False
    weighs_matches: ClassVar[bool] = False
    """Whether what `weigh` makes of a key is how likely the other side's next row is to match."""
    model: ClassVar[str] = ""
    """Which model of the streams it is made from: "frequencies", "ages" or none."""
    samples: ClassVar[bool] = False
    """Whether it draws a random sample, whose pairs have weights; see `Sampler`."""
    learns: ClassVar[bool] = False
    """Whether it stands for another policy, with a model learned from the stream."""
    observes: ClassVar[bool] = False
    """Whether it learns from what became of the rows it kept; see `CurveScore.remember`."""
    takes_newcomers: ClassVar[bool] = False
    """Whether every arrival is stored; scores then say only who makes room for it."""
    weighs_importance: ClassVar[bool] = False
    """Whether scores of age, of value and of curves are in proportion to importance; fixed scores
    see to it themselves."""
    refuses_equals: ClassVar[bool] = False
    """Whether an arrival worth as little as the least stored row is refused; else the elder of the
    two goes."""
    caches: ClassVar[bool] = False
    """Whether it can rank rows of a table, which never expire, in the cache of a lookup."""
    is_offline: ClassVar[bool] = False
    """Whether it must know the whole stream beforehand."""

    def check(self, windows: tuple[Window, Window]) -> None:  # noqa: B027 - most serve any
        """Raise `SpecError` when the policy cannot serve a join with these windows."""

    def weigh(self, columns: Sequence[pa.ChunkedArray], side: int) -> np.ndarray:
        """A number for each row from its key columns; taken at arrival and kept with the row."""
        return np.zeros(len(columns[0]))

    def within(self, rows: int | None) -> "Policy":
        """The policy as it is followed with so many stored rows; None where bytes are the limit."""
        return self

    def in_cache(self, step: TimeWindow) -> "Policy":
        """The policy as the cache of a lookup follows it, where a reference takes so long."""
        return self

    def without_model(self) -> "Policy":
        """The policy less what only `weigh` needs, so that it is small to ship."""
        return self

    def for_shard(self, shard: int) -> "Policy":
        """The policy as one of several shards follows it; samples must not be alike in all."""
        return self

    @property
    def counts_keys(self) -> bool:
        """Whether it must be told how often keys come."""
        return False

    @property
    def tries_others(self) -> bool:
        """Whether other policies are tried in miniature, to follow the best."""
        return False

    @property
    def watches_ages(self) -> bool:
        """Whether it must be told at what age rows match."""
        return False

    @property
    def keeps_history(self) -> bool:
        """Whether what happened to stored rows must be kept with them."""
        return self.observes or self.kind in (Kind.HISTORY, Kind.FLIPS, Kind.RESIDENCE)

    @property
    def label(self) -> str:
        """The name as papers and figure legends print it."""
        return self.name.upper()


class Sampler(Policy):
    """A policy that keeps rows by chance, and can say by which.

    Scores are random, and the row of least score goes. Whether a row is still stored then depends
    on one thing: whether its score is above the *threshold*, the highest score given up since it
    came. Without the row itself the threshold would be the same, so the chance to be above it is
    known, and the inverse of that chance is an honest weight, however memory was used.
    """

    samples: ClassVar[bool] = True
    by_cluster: ClassVar[bool] = True
    """Whether all matches of a stored row are in the sample together."""

    @abstractmethod
    def inverse_chance(self, threshold: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """One over the chance that a row with that weight, or its match, is above the threshold."""


@dataclass(frozen=True)
class Flips(Sampler):
    """A sample of pairs: a coin for every match a row will make, flipped when it comes.

    A row is worth one over the least level of its chosen matches still to come.
    """

    kind: ClassVar[Kind] = Kind.FLIPS
    by_cluster: ClassVar[bool] = False

    @property
    @abstractmethod
    def share(self) -> float:
        """The chance of each match to be chosen, while memory lasts."""

    @property
    @abstractmethod
    def seed(self) -> int:
        """Of the coins."""

    @abstractmethod
    def most_matches(self, weight: np.ndarray) -> np.ndarray:
        """How many matches to flip coins for, from what `weigh` made of the key; int32."""


@dataclass(frozen=True)
class FixedScore(Policy):
    """A score that is known at arrival and stays."""

    kind: ClassVar[Kind] = Kind.FIXED

    @abstractmethod
    def score(self, arrivals: Arrivals) -> np.ndarray:
        """What each arriving row is worth."""


@dataclass(frozen=True)
class AgeScore(Policy):
    """A score of a row's age alone, linear in pieces."""

    kind: ClassVar[Kind] = Kind.AGE

    @abstractmethod
    def pieces(self, side: int, window: Window) -> tuple[Piece, ...]:
        """The score's pieces for rows of a side, the first from age 0."""


@dataclass(frozen=True)
class ValueScore(Policy):
    """A score of a row's key and of the window it has left: class weight times what remains."""

    kind: ClassVar[Kind] = Kind.VALUE
    weighs_importance: ClassVar[bool] = True

    @abstractmethod
    def class_weights(self) -> np.ndarray:
        """The weights of the classes, ascending; few, since a shed looks at each."""

    @abstractmethod
    def classify(self, arrivals: Arrivals) -> np.ndarray:
        """The class of each arriving row."""


@dataclass(frozen=True)
class HistoryScore(Policy):
    """A score of what happened to a row, reconsidered whenever it finds a partner.

    `rescore` is a compiled function of (matches, time of arrival or last match, row's time,
    parameter), made with `history_score`.
    """

    kind: ClassVar[Kind] = Kind.HISTORY
    rescore: ClassVar[Any]

    @property
    def parameter(self) -> float:
        """Passed on to `rescore`."""
        return 0.0


@dataclass(frozen=True)
class CurveScore(Policy):
    """A score of how far a row's value is from where the other stream has got to.

    `weigh` gives the value, a whole number. Each arrival of the other side says where that stream
    has got to: an *origin*, and a *frame* if the future looks different from different places. The
    score is then looked up by the value's offset from the origin; under a window that cuts the
    future short, also by age.
    """

    kind: ClassVar[Kind] = Kind.CURVE
    weighs_importance: ClassVar[bool] = True
    weighs_keys: ClassVar[bool] = True

    def recalling(self, memory: str) -> "CurveScore":
        """The policy with what it has learned so far."""
        return self

    def remember(self, arrivals: Arrivals, departures: Departures) -> str:
        """What it knows now, to be recalled: of the arrivals of a step, and who left in it."""
        return ""

    @abstractmethod
    def frames(self, arrivals: Arrivals) -> Frames:
        """Where the stream of each row has got to when the row comes."""

    @abstractmethod
    def curves(self, side: int, window: Window) -> Curves:
        """The scores of a side's rows."""


def require_times(windows: tuple[Window, Window], why: str) -> None:
    """Raise where a window is told in rows; ``why`` says which policy minds, and for what reason.

    Examples
    --------
    >>> require_times((TimeWindow(5), RowWindow(3)), 'policy "age" goes by age')
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: policy "age" goes by age, and a window is 3 rows: give windows \
in time, or choose another policy
    """
    for window in windows:
        if isinstance(window, RowWindow) and window.rows:
            raise SpecError(
                f"{why}, and a window is {window}: give windows in time, or choose another policy"
            )


class Residence(NamedTuple):
    """What the residence priority of a row is made of.

    Where a threshold or rate is negative, it follows from the expected *stay* of a row: the rows
    stored, divided by the rows that come in a unit of time.
    """

    maturity_us: int  # rows up to this age are not given up
    unproductive_us: int  # rows that have brought nothing for so long are penalised
    decay: float  # of matches, per second
    penalty: float  # per second without a match, in units of priority
    initial: float  # priority per importance, until first computed; NaN: what it is by then
    every: int  # decisions between two computations of all priorities; or AS_FITS, AS_NEEDED
    epsilon: float  # AS_NEEDED: the relative loss of importance that calls for computing them


AS_FITS, AS_NEEDED = 0, -1
"""Compute priorities every so many decisions that it costs next to nothing; or when the importance
produced has fallen."""


@dataclass(frozen=True)
class ResidenceScore(Policy):
    """A score of what a row has brought of late, divided by its age.

    It falls as time passes, for each row in its own way, so no order lasts: all are computed anew
    every so often.
    """

    kind: ClassVar[Kind] = Kind.RESIDENCE
    takes_newcomers: ClassVar[bool] = True

    @property
    @abstractmethod
    def residence(self) -> Residence:
        """The thresholds and rates."""
