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
