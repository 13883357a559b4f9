"""The streams and sampling schemes under test: every scheme on every stream."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from headgate.api.window_join import WindowJoin
from headgate.engine.outcome import Outcome
from headgate.models import AgeCurves, Frequencies, KeyFrequencies
from headgate.spec import Budget, Sample
from headgate.spec.budget import AMPLE
from headgate.spec.quantity import SECOND_US
from headgate.studies.streams import Streams, aging, zipf

EQ, PPS, WRONG, UNIFORM = "EQ-CLUSTER", "PPS-CLUSTER", "PPS-CLUSTER, wrong model", "UNIFORM"
UNIFORM_WRONG = "UNIFORM, wrong model"
SCHEMES = (EQ, PPS, WRONG, UNIFORM)
ZIPF, EVEN, AGES = "Zipf keys", "even keys", "by age"
STREAMS = (ZIPF, EVEN, AGES)
SECONDS, WINDOW_S, MATCHES = 60, 10, 4
BUDGET = Budget(rows=60)
"""About a third of what the exact joins store."""
FACTOR = 3.0
"""By how much the wrong model's frequencies are off, half of them up and half of them down."""


@dataclass(frozen=True, eq=False)
class Sampled:
    """Two streams with something to aggregate on either side, and what is known of them."""

    streams: Streams
    frequencies: Frequencies
    rates: tuple[float, float]
    ages: AgeCurves | None

    def run(self, scheme: str, seed: int, budget: Budget = BUDGET) -> Outcome:
        """A sample; another one for another seed."""
        model: dict[str, object] = {"rates": self.rates}
        by_pair = scheme in (UNIFORM, UNIFORM_WRONG)
        if by_pair and self.ages is not None:
            model["ages"] = self.ages
        elif scheme != EQ:
            wrong = scheme in (WRONG, UNIFORM_WRONG)
            model["frequencies"] = wrong_by(self.frequencies) if wrong else self.frequencies
        goal = Sample("uniform" if by_pair else "cluster")
        request: WindowJoin = self.streams.request("auto", budget, goal=goal, seed=seed, **model)
        return request.run(*self.streams.tables)

    @property
    def exact(self) -> pa.Table:
        """The whole result."""
        return self.streams.join("fifo", AMPLE).pairs


@lru_cache(maxsize=4)
def sampled(stream: str) -> Sampled:
    """The stream of that name; always the same, since only the sampling is on trial."""
    if stream == AGES:
        streams = aging(400, SECONDS, WINDOW_S, ["rising"], seed=3, matches=MATCHES)
    else:
        keys, exponent = (60, 1.0) if stream == ZIPF else (100, 0.0)
        streams = zipf(600, SECONDS, 1, keys=keys, exponent=exponent, window=WINDOW_S)
    frequencies = streams.frequencies()
    rates = tuple(table.num_rows / SECONDS for table in streams.tables)
    random = np.random.default_rng(5)
    sides = []
    for table, names in zip(streams.tables, (("lid", "x"), ("rid", "y")), strict=True):
        rows = table.num_rows
        more = {names[0]: np.arange(rows), names[1]: random.normal(100, 100, rows)}
        for name, column in more.items():
            table = table.append_column(name, pa.array(column))
        sides.append(table)
    shape = (np.arange(40) + 0.5) ** 2
    curves = AgeCurves.of_buckets((WINDOW_S * SECOND_US, 0), (MATCHES * shape / shape.sum(), (0,)))
    return Sampled(
        Streams(sides[0], sides[1], streams.windows),
        frequencies,
        (rates[0], rates[1]),
        curves if stream == AGES else None,
    )


def wrong_by(model: Frequencies, factor: float = FACTOR) -> Frequencies:
    """Every other frequency too high by a factor, the rest too low."""

    def off(side: KeyFrequencies) -> KeyFrequencies:
        up = np.arange(len(side.share)) % 2 == 0
        return KeyFrequencies(side.columns, side.share * np.where(up, factor, 1 / factor))

    return Frequencies(off(model.left), off(model.right))
