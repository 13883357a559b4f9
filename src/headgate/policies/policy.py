"""Base class of policies: a policy scores rows, and the lowest score is evicted.

Scores come in a few kinds (`policies/kinds`), each with a structure that finds the lowest score
cheaply at any budget. A policy picks the kind by its base class and implements one method.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from headgate.spec import Brings, How, RowWindow, SpecError, TimeWindow, Window

if TYPE_CHECKING:
    from headgate.policies.kinds.kind import Kind
    from headgate.policies.learned import Learned


ONLY_PAIRS = (Brings.PAIRS, Brings.PAIRS)
"""What rows of both sides bring to an inner join."""
OBSERVED_ROWS = 1 << 8
"""Arrivals after which a policy that observes first learns from what it has seen."""


class RanksBy(StrEnum):
    """Criteria of policies for which a formula gives recall as a function of memory."""

    AGE = "age"
    FREQUENCY = "frequency"
    RECENCY = "recency"
    RESIDENCE = "residence"
    NEITHER = "neither"


class Arrivals(NamedTuple):
    """What a policy knows of arriving rows; each array has one entry per row."""

    time: np.ndarray  # int64, microseconds
    side: np.ndarray  # uint8, 0 left, 1 right
    sequence: np.ndarray  # int64, counts the rows of a side
    weight: np.ndarray  # float64, the key's weight by `Policy.weigh`
    importance: np.ndarray  # float64, importance of a pair of the row; ones where all count alike


@dataclass(frozen=True)
class Policy(ABC):
    """Base of all policies; see `policies/kinds`."""

    name: ClassVar[str]
    kind: ClassVar["type[Kind]"]
    """The kind of score; set by the base class that a policy derives from."""
    ranks_by: ClassVar[RanksBy] = RanksBy.NEITHER
    by_lot: ClassVar[bool] = False
    """Whether rows are kept purely at random."""
    weighs_keys: ClassVar[bool] = False
    weighs_matches: ClassVar[bool] = False
    """Whether `weigh` gives the probability that the other side's next row matches."""
    model: ClassVar[str] = ""
    """The model of the streams that it needs: "frequencies", "ages" or none."""
    samples: ClassVar[bool] = False
    """Whether it draws a random sample, whose pairs have weights; see `Sampler`."""
    learns: ClassVar[bool] = False
    """Whether it stands for another policy, with a model learned from the stream."""
    observes: ClassVar[bool] = False
    """Whether it learns from the matches and lifetimes of its stored rows; see `CurveScore`."""
    takes_newcomers: ClassVar[bool] = False
    """Whether every arrival is stored; scores then only choose the row to evict for it."""
    weighs_importance: ClassVar[bool] = False
    """Whether age, value and curve scores are multiplied by importance; fixed scores handle it
    themselves."""
    keeps_matched: ClassVar[bool] = False
    """Whether it keeps rows for the partners they met or will meet, whatever the kind of join."""
    goes_by_kind: ClassVar[bool] = False
    """Whether it ranks rows by what they bring to the join's own kind of result; see `serving`."""
    caches: ClassVar[bool] = False
    """Whether it can rank rows of a table, which never expire, in the cache of a lookup."""
    is_offline: ClassVar[bool] = False
    """Whether it needs the whole stream in advance."""

    def check(self, windows: tuple[Window, Window]) -> None:  # noqa: B027 - most serve any
        """Raise `SpecError` when the policy cannot serve a join with these windows."""

    def check_kind(self, how: How) -> None:
        """Raise `SpecError` when the policy makes no sense for a kind of join."""
        if how == How.ANTI and self.keeps_matched:
            raise SpecError(
                f'how="anti" with policy "{self.asked_name}", which keeps rows for their partners, '
                f'where rows without one are wanted: give "auto", "prob", "age" or "random"'
            )

    def weigh(self, columns: Sequence[pa.ChunkedArray], side: int) -> np.ndarray:
        """A weight for each row from its key columns, computed on arrival and stored with it."""
        return np.zeros(len(columns[0]))

    def serving(self, how: How, windows: tuple[Window, Window]) -> "Policy":
        """The policy that goes by what rows bring to a join of this kind (see `Brings`).

        By default the policy itself: it goes by something else, or by pairs whatever the kind.
        """
        return self

    def within(self, rows: int | None) -> "Policy":
        """The policy adapted to a budget of ``rows``; None where bytes are the limit."""
        return self

    def in_miniature(self, stay_us: float, importance: float, share: float) -> "Policy":
        """The policy for a small ``share`` of a join's rows.

        Rows of the whole join stay for ``stay_us`` microseconds and are worth ``importance``, on
        average.
        """
        return self

    def in_cache(self, step: TimeWindow) -> "Policy":
        """The policy adapted to the cache of a lookup, with one reference per ``step``."""
        return self

    def without_model(self) -> "Policy":
        """The policy without what only `weigh` needs, so that it is small to ship."""
        return self

    def for_shard(self, shard: int) -> "Policy":
        """The policy for one of several shards; samples must differ between shards."""
        return self

    def recalling(self, memory: str) -> "Policy":
        """The policy with what it learned in earlier steps, as `remember` wrote it."""
        return self

    def observed_until(self, memory: str) -> int:
        """Rows of both sides after which it learns from what it has observed, if it observes."""
        return int(json.loads(memory or "{}").get("until", OBSERVED_ROWS))

    def coin_seed(self, seed: int) -> int:
        """The seed of the coin flips in a join that has this seed."""
        return seed

    @property
    def sampler(self) -> "Sampler | None":
        """The policy itself if it is a sampler, else None."""
        return None

    @property
    def learned(self) -> "Learned | None":
        """The policy itself if it stands for a policy whose model is learned, else None."""
        return None

    @property
    def asked_name(self) -> str:
        """The name by which users ask for it."""
        return self.name

    def without_keys(self, windows: tuple[Window, Window]) -> "Policy":
        """The policy for a join that has no keys; one that ranks by key stays, and is refused."""
        return self

    def reference_weights(self, references: np.ndarray, room: int) -> np.ndarray | None:
        """Weights of all references of a lookup that are known in advance; None if not needed."""
        return None

    @property
    def refuses_equals(self) -> bool:
        """Whether an arrival that ties with the lowest stored score is refused; otherwise the older
        row is evicted."""
        return False

    @property
    def falls(self) -> bool:
        """Whether the score of a row that may come out without a partner falls when it has met one,
        or when that has become doubtful."""
        return False

    @property
    def counts_keys(self) -> bool:
        """Whether it needs key counts."""
        return False

    @property
    def tries_others(self) -> bool:
        """Whether other policies are tried on a small share of the rows, to follow the best."""
        return False

    @property
    def watches_ages(self) -> bool:
        """Whether it needs the ages at which rows match."""
        return False

    @property
    def watches_meetings(self) -> bool:
        """Whether it may need what rows meet by class of row, for their match density."""
        return False

    @property
    def keeps_history(self) -> bool:
        """Whether the match history of stored rows must be kept between steps."""
        return self.observes or self.kind.keeps_history

    @property
    def label(self) -> str:
        """The name as papers and figure legends print it."""
        return self.name.upper()


class Sampler(Policy):
    """A policy that keeps rows at random, with known inclusion probabilities.

    Scores are random, and the row of lowest score is evicted. A row is then still stored exactly if
    its score is above the *threshold*, the highest score evicted since it arrived. The threshold
    does not depend on the row itself, so the probability to be above it is known, and the inverse
    of that probability is an unbiased weight, however memory was used.
    """

    samples: ClassVar[bool] = True
    by_cluster: ClassVar[bool] = True
    """Whether all matches of a stored row are in the sample together."""

    @property
    def sampler(self) -> "Sampler":
        """Itself."""
        return self

    def follow(self, is_known: bool) -> "Sampler":
        """The sampler to follow, by whether key frequencies are known; itself if it learns none."""
        return self

    @abstractmethod
    def inverse_chance(self, threshold: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """The inverse of the probability that a row of that weight, or its match, is above the
        threshold."""


def require_times(windows: tuple[Window, Window], why: str) -> None:
    """Raise where a window counts rows; ``why`` names the policy and the reason.

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
