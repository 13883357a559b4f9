"""The parts of a profile: statistics of each side and of their matches."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Both(Generic[T]):
    """A value for the left side and one for the right.

    Examples
    --------
    >>> rates = Both(2.5, 40.0)
    >>> rates.left, rates[1]
    (2.5, 40.0)
    """

    left: T
    right: T

    def __getitem__(self, side: int) -> T:
        return (self.left, self.right)[side]

    def __iter__(self) -> Iterator[T]:
        return iter((self.left, self.right))


@dataclass(frozen=True)
class SideFacts:
    """Rows of one side: how many, over what time, and how many can never match."""

    rows: int
    null_keys: int
    null_times: int
    first_us: int | None
    """The earliest time, in microseconds since 1970; None where no row has one."""
    last_us: int | None
    row_bytes: float
    """What a row takes when stored, on average: payload and bookkeeping."""
    compared_bytes: float | None = None
    """The same with no other columns than keys and time; None in profiles of earlier versions."""

    @property
    def timed(self) -> int:
        """Rows that have a time."""
        return self.rows - self.null_times

    @property
    def span_us(self) -> int:
        """Time from the first row to the last."""
        if self.first_us is None or self.last_us is None:
            return 0
        return self.last_us - self.first_us


@dataclass(frozen=True)
class Skew:
    """How unevenly the rows of one side spread over its keys."""

    keys: int
    """Different keys."""
    listed: int
    """Heavy keys that the profile's `frequencies` name; the others are only counted."""
    zipf: float
    """The Zipf exponent under which two rows share a key as often as they do here; 0 is even."""
    top: dict[int, float]
    """The share of the rows that the 1, 10, 100, … heaviest keys have."""


@dataclass(frozen=True)
class Pairs:
    """Matches: counted, or estimated from a sample of the keys."""

    count: float
    error: float
    """Standard error of the count; 0 where every key was examined."""
    share: float
    """The share of the keys that was sampled."""
    heavy: int
    """Heavy keys that were always included."""
    rows: Both[int]
    """Rows of those keys."""

    @property
    def sampled(self) -> bool:
        """Whether this is an estimate."""
        return self.share < 1.0

    def __str__(self) -> str:
        if not self.sampled:
            return f"{self.count:,.0f}"
        return f"{self.count:,.0f} ± {self.error:,.0f}"


@dataclass(frozen=True)
class StoredFacts:
    """Rows and bytes that the exact join would hold."""

    peak: Both[float]
    """Rows of each side at the moment when they are most together."""
    mean: Both[float]
    """Rows of each side on average: rate times window."""
    bytes: float
    """Bytes at the peak: payload and bookkeeping."""

    @property
    def rows(self) -> float:
        """Rows of both sides at the peak."""
        return self.peak.left + self.peak.right


@dataclass(frozen=True)
class Explains:
    """How well each model, fitted to the first half of the time, predicts the second half.

    Gains are in nats per match, over a model in which every row matches at one constant rate: a
    gain of 0.69 makes each match of the second half twice as likely as that model does. A loss
    (negative) means that what the model learned no longer held.
    """

    better: str | None
    """"age", "frequency", "neither" (no notable gain), or None where it could not be determined."""
    by: float
    """Gain of the better model over the other, in nats per match."""
    age: float
    frequency: float
    matches: int
    """Matches of the second half on which the models were judged."""
    recall: dict[str, float] = field(default_factory=dict)
    """What each model's policy, and RANDOM, reached on the second half at `budget_rows`."""
    budget_rows: int = 0
    """A tenth of what the exact join holds there."""
    why_not: str = ""
    """Why it could not be determined."""
