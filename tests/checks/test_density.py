"""Match density on windows of many ticks: the rows set aside as safe are evicted in their turn."""

import numpy as np
import pytest

from headgate.kernel.layout import Count
from headgate.kernel.rows import Rows
from headgate.kernel.step import Step
from headgate.kernel.step_input import StepInput
from headgate.kernel.terms import Terms
from headgate.kernel.twin.twin import Twin
from headgate.models.density_classes import AGES, GAPS, SHAPE
from headgate.models.match_density import MatchDensity
from headgate.policies import Density
from headgate.spec import TimeWindow
from headgate.spec.budget import UNLIMITED
from tests.checks.dense import bumpy_density
from tests.thoroughness import LONG

WINDOWS_US = (40_000, 25_000)
KEYS = 40


def falling_density() -> MatchDensity:
    """Scores that fall with age and with the time since the last match, as most streams' do."""
    rate = 4.0 ** np.arange(SHAPE[1])[:, None, None, None]
    met = 1.0 + np.arange(SHAPE[2])[:, None, None]
    gap = 0.6 ** np.arange(GAPS)[:, None]
    age = 1.0 - np.arange(AGES) / (AGES + 1)
    return MatchDensity(WINDOWS_US, np.broadcast_to(rate * met * gap * age, SHAPE))


DENSITIES = {
    "falling": falling_density(),
    "rising": MatchDensity(WINDOWS_US, 1.0 / falling_density().table),
    "any": bumpy_density(WINDOWS_US, 4, 1000),
    "flat": MatchDensity(WINDOWS_US, np.ones(SHAPE)),
}


def side_of(seed: int, rows: int, in_order: bool) -> Rows:
    """Rows over several windows, with pauses; few keys come often."""
    rng = np.random.default_rng(seed)
    gaps = rng.integers(0, 90, rows) * rng.choice([1, 1, 1, 1, 20], rows)
    time = 1_000_000 + np.cumsum(gaps)
    if not in_order:
        time = time - rng.integers(0, 8_000, rows)
    code = (KEYS * rng.random(rows) ** 3).astype(np.int32)
    weight = np.where(code % 7 == 6, 0.0, 30.0 / WINDOWS_US[0] / (1.0 + code))
    return Rows.of_arrivals(time, code, np.full(rows, 10, np.int64), weight)


@pytest.mark.parametrize("pooled", [True, False])
@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("shape", DENSITIES)
@pytest.mark.parametrize("seed", range(1, 6) if LONG else [1])
def test_long_windows_agree_with_plain_python(
    shape: str, seed: int, in_order: bool, pooled: bool
) -> None:
    terms = Terms(
        (TimeWindow(WINDOWS_US[0]), TimeWindow(WINDOWS_US[1])),
        Density(DENSITIES[shape]),
        (40, 0) if pooled else (30, 20),
        (UNLIMITED, 0) if pooled else (UNLIMITED, UNLIMITED),
        pooled=pooled,
    )
    sides = (side_of(2 * seed, 500, in_order), side_of(2 * seed + 1, 500, in_order))
    given = StepInput(terms, (Rows.empty(), Rows.empty()), sides, KEYS, keep_late=not in_order)
    step = Step(given)
    made = [pair for block in step.pairs() for pair in zip(*block[:2], strict=True)]
    plain = Twin(given)
    assert made == list(plain.pairs)
    assert step.counts.tolist() == np.array(plain.counts).tolist()
    assert step.counts[[Count.SHED, Count.REFUSED]].sum() > 100
