"""FEATURES: keep rows by what their columns and their age say of the matches to come."""

from dataclasses import dataclass
from typing import ClassVar

from headgate.models.class_ages import ClassAges
from headgate.policies.kinds.class_age_score import ClassAgeScore
from headgate.policies.policy import require_times
from headgate.spec import SpecError, Window


@dataclass(frozen=True)
class Features(ClassAgeScore):
    """Evict the row whose columns and age promise the fewest matches for the time it is kept.

    A small tree over the columns named in ``features=`` sorts rows into classes, and each class has
    a curve of match rates by age. Both are learned from watched rows, anew in every epoch.

    Parameters
    ----------
    ages
        The match rates of each class of rows, by age.

    Examples
    --------
    >>> Features(ClassAges.empty()).label
    'FEATURES'

    Orders wait for their payment, and few but those that are approved are ever paid:

    >>> import headgate as hg
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> rng = np.random.default_rng(1)
    >>> at = 1_000_000 + np.sort(rng.integers(0, 1_000_000_000, 40_000))
    >>> approved = rng.random(40_000) < 0.1
    >>> status = np.where(approved, "approved", rng.choice(["draft", "rejected"], 40_000))
    >>> paid_at = at[approved] + rng.integers(0, 60_000_000, approved.sum())
    >>> def stream(order, time, **columns):
    ...     return pa.table({"order": order, "at": pa.array(time, pa.timestamp("us")), **columns})
    >>> orders = stream(np.arange(40_000), at, status=status)
    >>> payments = stream(np.flatnonzero(approved), paid_at)
    >>> def recall(**how):
    ...     join = hg.WindowJoin(
    ...         on="order",
    ...         left=hg.Side(time="at", window="1 minute"),
    ...         right=hg.Side(time="at", window="0 seconds"),
    ...         budget=hg.Budget(rows=300),
    ...         **how,
    ...     )
    ...     return join.run(orders, payments).recall
    >>> recall() < 0.2 < 0.7 < recall(features=["status"])
    True

    References
    ----------
    Song, Berger, Li, Lloyd, Learning Relaxed Belady for Content Distribution Network Caching (LRB),
    NSDI 2020, for learning a row's future from its features while a cache runs. Departs from it:
    rows are followed whether or not they are stored, and the model is a table, so that an eviction
    takes no prediction.
    """

    name: ClassVar[str] = "features"
    model: ClassVar[str] = "features"
    keeps_matched: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.ages, ClassAges):
            raise SpecError(f"Features takes a ClassAges model, not {self.ages!r}")

    def check(self, windows: tuple[Window, Window]) -> None:
        """Require time windows, since ages are times."""
        require_times(windows, 'policy "features" ranks rows by how long they have waited')
