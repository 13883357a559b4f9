"""What a step on Arrow tables learned, in a form that outlasts the step: keys as values.

Codes are valid within a step only, so what is learned by key is kept together with the join
columns.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from headgate.learning import Evidence, Monitor
from headgate.learning.cluster_sums import ClusterSums
from headgate.learning.result_rows import ResultRows
from headgate.learning.rival_round import BothRows
from headgate.learning.watched_rows import WatchedRows
from headgate.policies import Policy
from headgate.spec import How


@dataclass(frozen=True)
class LearnedState:
    """Learned state that one step hands to the next, apart from rows and progress.

    Parameters
    ----------
    monitor
        The models so far. A step changes it, so read it anew for every step.
    watched
        The watched rows whose window is open, left ones first.
    watched_columns
        Of each side's watched rows, the columns that decide what matches.
    tracked
        Marks of the keys the monitor counts, in its order.
    rivals, rival_columns
        Of each side, the rows that other policies are tried on, and the columns that decide what
        they match; None where none are.
    """

    monitor: Monitor
    watched: WatchedRows
    watched_columns: tuple[pa.Table, pa.Table]
    tracked: np.ndarray
    rivals: BothRows | None = None
    rival_columns: tuple[pa.Table, pa.Table] | None = None


@dataclass(frozen=True)
class LearnedStep:
    """What a step learned.

    Parameters
    ----------
    state
        For the next step.
    evidence, alone, clusters
        Of this step alone: on the recall of rows with a partner, of those without, and of what is
        told by the rows of followed keys.
    total, total_alone, total_clusters
        Of all steps so far.
    result
        What the rows of the join's result are.
    policy
        The policy that was followed.
    bytes
        What the monitor takes now.
    is_learning
        Whether the policy was chosen by what was learned.
    switched
        Whether it is another than before.
    """

    state: LearnedState
    evidence: Evidence
    alone: Evidence
    clusters: ClusterSums
    total: Evidence
    total_alone: Evidence
    total_clusters: ClusterSums
    result: ResultRows
    policy: Policy
    bytes: int
    is_learning: bool
    switched: bool = False

    @property
    def of_batch(self) -> tuple[Evidence, Evidence]:
        """Of this step alone: on the recall of rows with a partner, and of those without."""
        return self._parted(self.evidence, self.alone, self.clusters)

    @property
    def of_all(self) -> tuple[Evidence, Evidence]:
        """Of all steps so far."""
        return self._parted(self.total, self.total_alone, self.total_clusters)

    def _parted(
        self, matched: Evidence, alone: Evidence, clusters: ClusterSums
    ) -> tuple[Evidence, Evidence]:
        if self.result.how == How.SEMI:
            return matched + clusters.evidence, alone
        return matched, alone + clusters.evidence
