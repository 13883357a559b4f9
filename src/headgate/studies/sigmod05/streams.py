"""The synthetic streams of section 8, and the join that all algorithms run.

A step brings a row of R and, half a second later, a row of S. The paper's two come together; here
the S row of a step meets the R row of the same step only if that was stored.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.api.window_join import WindowJoin
from headgate.engine.outcome import Outcome
from headgate.models import ExponentialLife, LinearTrend, Noise, Process, RandomWalk
from headgate.policies import Policy
from headgate.policies.offline import Events
from headgate.spec import Budget, Side, TimeWindow
from headgate.spec.quantity import SECOND_US
from headgate.studies.trial import START_US, timestamps

PAPER = "Xie, Yang, Chen: On Joining and Caching Stochastic Streams, SIGMOD 2005"
STEPS, QUICK_STEPS = 5000, 1200
WARM_UP = 200
"""Steps before results count: four times the greatest cache."""
BOUND_R, BOUND_S = 10, 15
LIFETIME = (BOUND_R + BOUND_S) / 2
"""The paper's crude estimate of how many steps a row stays, where there is a trend."""
WINDOW_S = 30
"""An S row is met 26 steps after it came at the latest, R lagging by one; by more, up to 29."""
NO_WINDOW_S = 20 * STEPS
START = datetime.fromtimestamp(START_US / SECOND_US, UTC)


@dataclass(frozen=True)
class Setting:
    """How two streams are generated, and how long their rows may wait."""

    left: Process
    right: Process
    window_s: int = WINDOW_S

    @property
    def wanders(self) -> bool:
        """Whether there is no trend, and no window either."""
        return isinstance(self.left, RandomWalk)

    def survival(self, cache: int) -> ExponentialLife:
        """How long the paper takes rows to stay (sections 7.3 to 7.5)."""
        return ExponentialLife(cache) if self.wanders else ExponentialLife.of_lifetime(LIFETIME)


def trends(noise_r: Noise, noise_s: Noise, lag: int = 1) -> Setting:
    """Two lines of slope 1, R so many steps behind S."""
    return Setting(LinearTrend(1, -lag, noise_r), LinearTrend(1, 0, noise_s))


def normal_trends(sigma_r: float, sigma_s: float, lag: int = 1) -> Setting:
    """Two lines with bounded normal noise."""
    return trends(Noise.normal(sigma_r, BOUND_R), Noise.normal(sigma_s, BOUND_S), lag)


def walks() -> Setting:
    """Two walks of normal steps, both from 0 on."""
    walk = RandomWalk(0, Noise.normal(1))
    return Setting(walk, walk, NO_WINDOW_S)


TOWER, ROOF, FLOOR, WALK = "TOWER", "ROOF", "FLOOR", "WALK"
SETTINGS = {
    TOWER: normal_trends(1, 2),
    ROOF: normal_trends(3.3, 5),
    FLOOR: trends(Noise.uniform(BOUND_R), Noise.uniform(BOUND_S)),
    WALK: walks(),
}


@dataclass(frozen=True, eq=False)
class Streams:
    """Two streams that were drawn, and their join.

    Examples
    --------
    >>> from headgate.policies import Fifo
    >>> streams = draw_streams(SETTINGS[TOWER], steps=300, seed=1)
    >>> exact = streams.join(Fifo(), rows=300)
    >>> round(exact.recall, 3), exact.stats.pairs == streams.results(exact, after=0)
    (1.0, True)
    """

    setting: Setting
    r: np.ndarray
    s: np.ndarray

    @cached_property
    def tables(self) -> tuple[pa.Table, pa.Table]:
        """As the join takes them."""
        steps = np.arange(len(self.r))
        return (
            pa.table({"key": self.r, "r_at": timestamps(steps)}),
            pa.table({"key": self.s, "s_at": timestamps(steps + 0.5)}),
        )

    @property
    def windows(self) -> tuple[TimeWindow, TimeWindow]:
        """Of R rows and of S rows."""
        window = TimeWindow(self.setting.window_s * SECOND_US)
        return window, window

    @property
    def windows_in_steps(self) -> tuple[int, int]:
        """How many steps on R rows meet an S row at the latest, and S rows an R row."""
        return self.setting.window_s - 1, self.setting.window_s

    @cached_property
    def events(self) -> tuple[Events, Events]:
        """As plans take them."""
        codes = np.unique(np.concatenate([self.r, self.s]), return_inverse=True)[1]
        at = START_US + np.arange(len(self.r)) * SECOND_US
        steps = len(self.r)
        return Events(at, codes[:steps]), Events(at + SECOND_US // 2, codes[steps:])

    def join(self, policy: Policy, rows: int) -> Outcome:
        """Run the join, in a cache of so many rows for both streams together."""
        return WindowJoin(
            on="key",
            left=Side(time="r_at", window=self.windows[0]),
            right=Side(time="s_at", window=self.windows[1]),
            budget=Budget(rows=rows, monitor=0),
            policy=policy,
        ).run(*self.tables)

    def results(self, outcome: Outcome, after: int = WARM_UP) -> int:
        """How many result rows there are from a step on."""
        made_at = pc.max_element_wise(outcome.pairs["r_at"], outcome.pairs["s_at"])
        us = made_at.cast(pa.int64()).to_numpy()
        return int(np.count_nonzero(us >= START_US + after * SECOND_US))


def draw_streams(setting: Setting, steps: int, seed: int) -> Streams:
    """Draw both streams."""
    return Streams(
        setting,
        setting.left.simulate(steps, 2 * seed),
        setting.right.simulate(steps, 2 * seed + 1),
    )


@lru_cache(maxsize=2)
def streams_of(name: str, seed: int, quick: bool) -> Streams:
    """The streams of a configuration."""
    return draw_streams(SETTINGS[name], QUICK_STEPS if quick else STEPS, seed)
