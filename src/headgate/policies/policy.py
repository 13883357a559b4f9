"""What a policy is: it says how much a row is worth keeping, and nothing else.

Scores come in a few kinds (`policies/kinds`), each with a structure in which finding the row worth
least is cheap at any budget. A policy picks the kind by its base class and fills in one method.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from headgate.spec import RowWindow, SpecError, TimeWindow, Window

if TYPE_CHECKING:
    from headgate.policies.kinds.kind import Kind


class RanksBy(StrEnum):
    """What a policy goes by, of the ways that have a formula for what more memory brings."""

    AGE = "age"
    FREQUENCY = "frequency"
    RECENCY = "recency"
    RESIDENCE = "residence"
    NEITHER = "neither"


class Arrivals(NamedTuple):
    """What a policy may know of arriving rows, an entry a row."""

    time: np.ndarray  # int64, microseconds
    side: np.ndarray  # uint8, 0 left, 1 right
    sequence: np.ndarray  # int64, counts the rows of a side
    weight: np.ndarray  # float64, what `Policy.weigh` made of the key
    importance: np.ndarray  # float64, what a pair of the row is worth; ones where all count alike


@dataclass(frozen=True)
class Policy(ABC):
    """Base of all policies; see `policies/kinds`."""

    name: ClassVar[str]
    kind: ClassVar["type[Kind]"]
    """How rows of such scores are ranked; set by the base class that a policy derives from."""
    ranks_by: ClassVar[RanksBy] = RanksBy.NEITHER
    by_lot: ClassVar[bool] = False
    """Whether who stays is a matter of chance alone."""
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
    """Whether it learns from what became of the rows it kept; see `CurveScore`."""
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

    def recalling(self, memory: str) -> "Policy":
        """The policy with what it has learned so far, as it was told to be remembered."""
        return self

    def coin_seed(self, seed: int) -> int:
        """The seed of the coins that a join flips, which has this one."""
        return seed

    @property
    def sampler(self) -> "Sampler | None":
        """The policy, where it draws a random sample."""
        return None

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
        return self.observes or self.kind.keeps_history

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

    @property
    def sampler(self) -> "Sampler":
        """Itself."""
        return self

    @abstractmethod
    def inverse_chance(self, threshold: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """One over the chance that a row with that weight, or its match, is above the threshold."""


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
