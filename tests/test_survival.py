"""How long rows are expected to stay, and what HEEB makes of it."""

import numpy as np
import pytest

from headgate.models import (
    ExponentialLife,
    FixedLife,
    Forever,
    InverseTime,
    Known,
    Now,
    Stationary,
    Survival,
    estimated_benefit,
)
from headgate.spec import SpecError

SURVIVALS: list[Survival] = [ExponentialLife(1.5), ExponentialLife(9), FixedLife(1), FixedLife(12)]


class TestSurvival:
    def test_lifetimes_are_kept(self) -> None:
        for mean in (1.5, 12.5, 300):
            life = ExponentialLife.of_lifetime(mean)
            assert life.lifetime == pytest.approx(mean)
            # The mean of a life that ends at each step with the same chance.
            assert life.at(np.arange(0, 20_000)).sum() == pytest.approx(mean)

    def test_memory_over_rows_a_step_is_the_lifetime(self) -> None:
        assert ExponentialLife.of_budget(50, 2).lifetime == pytest.approx(25)
        assert ExponentialLife.of_budget(1, 2).alpha < 1

    @pytest.mark.parametrize("survival", [*SURVIVALS, Forever(), InverseTime()])
    def test_it_never_rises_and_is_a_chance(self, survival: Survival) -> None:
        left = survival.at(np.arange(1, 50))
        assert np.all((left >= 0) & (left <= 1))
        assert np.all(np.diff(left) <= 0)
        assert left[0] > 0

    def test_no_more_than_the_tolerance_is_left_at_the_horizon(self) -> None:
        for survival in SURVIVALS:
            horizon = survival.horizon(1e-6)
            assert horizon is not None
            assert survival.at(np.array([horizon + 1]))[0] <= 1e-6
        assert Forever().horizon(1e-6) is None
        assert Forever.caching_only
        assert InverseTime.caching_only

    def test_what_cannot_be_is_refused(self) -> None:
        for wrong in (
            lambda: ExponentialLife(0),
            lambda: ExponentialLife.of_lifetime(1),
            lambda: ExponentialLife.of_budget(0, 1),
            lambda: FixedLife(0),
        ):
            with pytest.raises(SpecError):
                wrong()


def test_kept_forever_h_is_the_chance_ever_to_be_referenced() -> None:
    process = Known([1, 2, 1, 3])
    found = estimated_benefit(process, Now(0, 1), np.array([1, 2, 3, 4]), Forever(), caching=True)
    assert found.tolist() == [1, 1, 1, 0]
    stationary = Stationary({1: 1, 2: 1})
    sure = estimated_benefit(stationary, Now(0, 1), np.array([1]), Forever(), caching=True)
    assert sure[0] == pytest.approx(1)
    inverse = estimated_benefit(stationary, Now(0, 1), np.array([1]), InverseTime(), caching=True)
    assert inverse[0] == pytest.approx(np.log(2))  # Σ 2^−a / a
