"""DENSITY: keep the rows that bring the most matches for the time they are kept."""

from dataclasses import dataclass
from typing import ClassVar

from headgate.models.match_density import MatchDensity
from headgate.policies.kinds.density_score import DensityScore
from headgate.policies.policy import RanksBy, require_times
from headgate.spec import SpecError, Window


@dataclass(frozen=True)
class Density(DensityScore):
    """Evict the row of least match density: expected further matches for the time it is kept.

    Looks at key rate, matches so far, time since the last of them, and age together; the density of
    each class of rows is learned from rows that are watched whether or not they are stored.

    Parameters
    ----------
    density
        The density of each class of rows.

    Examples
    --------
    >>> Density(MatchDensity.of_rates((1000, 1000))).label
    'DENSITY'

    References
    ----------
    Beckmann, Chen, Cidon, LHD: Improving Cache Hit Rate by Maximizing Hit Density, NSDI 2018, for
    the name and for classes of objects. Departs from it: the density is the best ratio over all
    times to stop, not that under the present evictions; and rows are followed after eviction, so
    classes that are never kept are known as well.
    """

    name: ClassVar[str] = "density"
    model: ClassVar[str] = "density"
    weighs_keys: ClassVar[bool] = True
    keeps_matched: ClassVar[bool] = True
    ranks_by: ClassVar[RanksBy] = RanksBy.NEITHER

    def __post_init__(self) -> None:
        if not isinstance(self.density, MatchDensity):
            raise SpecError(f"Density takes a MatchDensity model, not {self.density!r}")

    def check(self, windows: tuple[Window, Window]) -> None:
        """Require time windows, since ages are times."""
        require_times(windows, 'policy "density" ranks rows by how long they have waited')
