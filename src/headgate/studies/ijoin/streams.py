"""The streams of section 5, by case.

The paper says of its data only that it resembles the real world. What decides which scheme is first
is whether values are correlated in time, so a case says so by its name: in *hot topics* one value
is in the news for a while, in both streams, then another; *independent* values have no memory. Each
comes with importance by value (a category matters) or by row (a source does).

A row of R comes every second and a row of S half a second later. At the 100 to 200 rows a second of
Table 5 ten rows of memory turn over in a tenth of a second, the two seconds to maturity admit one
row in fifty, and all schemes are alike; the paper's figures fit about a row a second.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa

from headgate.api.window_join import WindowJoin
from headgate.engine.outcome import Outcome
from headgate.policies import Policy
from headgate.policies.offline import Events
from headgate.spec import Budget, MaxImportance, Side, TimeWindow
from headgate.spec.quantity import SECOND_US
from headgate.studies.trial import START_US, timestamps

PAPER = "Kulkarni, Ravishankar: iJoin: Importance-aware Join Approximation over Data Streams"
SECONDS = 500
"""With some thousand decisions a run, as in Table 6."""
DOMAIN = 15
WINDOW_S = 25
RUNS = 10
"""Streams that a cell is measured on; runs differ by which values matter and are hot."""
BY_VALUE, BY_ROW, ALIKE = "by value", "by row", "alike"


@dataclass(frozen=True)
class Case:
    """How values and their importance are generated.

    Parameters
    ----------
    topic_s
        The shortest and the longest time that a topic is hot; none where nothing is.
    hot
        The chance that a row has the topic for its value, while others are drawn from all.
    skew
        The Zipf exponent of the values drawn from all.
    importance
        1 to 100: drawn for each value, for each row, or the same for all.
    """

    topic_s: tuple[float, float] | None = None
    hot: float = 0.5
    skew: float = 0.0
    importance: str = BY_VALUE

    def values(self, steps: int, domain: int, rng: np.random.Generator) -> np.ndarray:
        """The values of both streams, a row each."""
        weight = np.arange(1, domain + 1) ** -self.skew
        values = rng.choice(domain, (2, steps), p=weight / weight.sum())
        if self.topic_s is None:
            return values
        topic = np.concatenate(list(self._topics(steps, domain, rng)))[:steps]
        return np.where(rng.random((2, steps)) < self.hot, topic, values)

    def _topics(self, steps: int, domain: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        assert self.topic_s is not None
        topic, filled = int(rng.integers(domain)), 0
        while filled < steps:
            lasts = max(1, round(rng.uniform(*self.topic_s)))
            yield np.full(lasts, topic)
            filled += lasts
            topic = int((topic + rng.integers(1, domain)) % domain)

    def importances(self, values: np.ndarray, domain: int, rng: np.random.Generator) -> np.ndarray:
        """The importance of each row."""
        if self.importance == BY_VALUE:
            of_value: np.ndarray = rng.integers(1, 101, domain).astype(np.float64)[values]
            return of_value
        if self.importance == BY_ROW:
            return rng.integers(1, 101, values.shape).astype(np.float64)
        return np.full(values.shape, 50.0)


TOPIC_S = (10.0, 20.0)
HOT, HOT_BY_ROW = "hot topics", "hot topics, importance by row"
INDEPENDENT, INDEPENDENT_BY_ROW = "independent values", "independent, importance by row"
HOT_ALIKE, INDEPENDENT_ALIKE = "hot topics, all alike", "independent, all alike"
CASES = {
    HOT: Case(TOPIC_S),
    HOT_BY_ROW: Case(TOPIC_S, importance=BY_ROW),
    INDEPENDENT: Case(),
    INDEPENDENT_BY_ROW: Case(importance=BY_ROW),
    HOT_ALIKE: Case(TOPIC_S, importance=ALIKE),
    INDEPENDENT_ALIKE: Case(importance=ALIKE),
}


@dataclass(frozen=True, eq=False)
class Streams:
    """Two streams that were drawn, and their join.

    Parameters
    ----------
    values, importance
        Of R and of S, a row of the array each.

    Examples
    --------
    >>> streams = draw_streams(CASES[HOT], seed=1, seconds=100)
    >>> exact = streams.join("fifo", rows=None)
    >>> bool(exact.stats.importance > streams.join("fifo", rows=10).stats.importance)
    True
    """

    values: np.ndarray
    importance: np.ndarray

    @cached_property
    def tables(self) -> tuple[pa.Table, pa.Table]:
        """As the join takes them."""
        tables = []
        for side, time in enumerate(("r_at", "s_at")):
            columns = {"value": self.values[side], "imp": self.importance[side]}
            tables.append(pa.table({**columns, time: timestamps(self.seconds[side])}))
        return tables[0], tables[1]

    @cached_property
    def seconds(self) -> np.ndarray:
        """When rows of R and of S come."""
        return np.add.outer((0.0, 0.5), np.arange(self.values.shape[1]))

    @cached_property
    def events(self) -> tuple[Events, Events]:
        """As plans take them."""
        at = START_US + np.rint(self.seconds * SECOND_US).astype(np.int64)
        return Events(at[0], self.values[0]), Events(at[1], self.values[1])

    def join(
        self,
        policy: Policy | str,
        rows: int | None,
        window_s: float = WINDOW_S,
        fairness: float = 0.0,
        seed: int = 0,
    ) -> Outcome:
        """Run the join, each stream with half of the memory; by default without a memory limit."""
        window = TimeWindow(round(window_s * SECOND_US))
        ample = 4 * self.values.shape[1]
        return WindowJoin(
            on="value",
            left=Side(time="r_at", window=window),
            right=Side(time="s_at", window=window),
            budget=Budget(rows=ample if rows is None else rows, split=(1, 1), monitor=0),
            goal=MaxImportance(left="imp", right="imp", combine="min", fairness=fairness),
            policy=policy,
            seed=seed,
        ).run(*self.tables)


def draw_streams(case: Case, seed: int, seconds: int = SECONDS, domain: int = DOMAIN) -> Streams:
    """Draw both streams, a row of each a second."""
    rng = np.random.default_rng(seed)
    values = case.values(seconds, domain, rng)
    return Streams(values, case.importances(values, domain, rng))


@lru_cache(maxsize=4)
def runs_of(case: str, seed: int, domain: int = DOMAIN) -> tuple[Streams, ...]:
    """The streams that a cell is measured on."""
    return tuple(draw_streams(CASES[case], RUNS * seed + run, domain=domain) for run in range(RUNS))
