"""Histograms that place their own buckets, and HIST, which goes by them."""

import numpy as np
import pytest

from headgate.models.value_histogram import ValueHistogram
from headgate.policies import Hist, Random
from headgate.studies.sigmod05.streams import draw_streams, normal_trends


def seen(measure: np.ndarray, buckets: int) -> ValueHistogram:
    """Of a measure at 0, 1, 2, …, a hundred times."""
    number = np.tile(np.arange(len(measure)), 100)
    return ValueHistogram.over(0, len(measure) - 1, buckets).add(number, np.tile(measure, 100))


class TestBuckets:
    def test_numbers_of_one_bucket_are_told_apart(self) -> None:
        found = seen(np.arange(40.0), buckets=4).at(np.arange(5, 35))
        assert np.all(np.diff(found) > 0)
        assert found == pytest.approx(np.arange(5, 35), abs=0.1)

    def test_buckets_gather_where_the_measure_changes(self) -> None:
        step = np.where(np.arange(64) < 40, 0.0, 10.0)
        histogram = seen(step, buckets=8)
        for _ in range(10):
            histogram = seen_again(histogram.reshaped(8), step)
        assert len(histogram.count) == 8
        at = np.searchsorted(histogram.edges, 40)
        assert histogram.edges[at] - histogram.edges[at - 1] <= 4

    def test_noise_alone_draws_no_buckets(self) -> None:
        rng = np.random.default_rng(5)
        number = rng.integers(0, 64, 20_000)
        noisy = number >= 32  # the same mean throughout, but much noise in the upper half
        measure = 5 + rng.normal(0, np.where(noisy, 5.0, 0.1))
        slope = np.where(noisy, 0.0, number / 8)
        histogram = ValueHistogram.over(0, 63, 8)
        for _ in range(10):
            histogram = histogram.faded(0.5).add(number, measure + slope).reshaped(8)
        lower = np.count_nonzero(histogram.edges < 32)
        assert lower >= 4

    def test_as_many_buckets_as_asked_for_and_none_lost(self) -> None:
        rng = np.random.default_rng(1)
        histogram = ValueHistogram.over(-20, 20, 10)
        for _ in range(50):
            number = rng.integers(-30, 30, 100)
            histogram = histogram.covering(int(number.min()), int(number.max()))
            histogram = histogram.add(number, rng.poisson(3, 100).astype(float)).reshaped(10)
            assert len(histogram.count) <= 10
            assert np.all(np.diff(histogram.edges) > 0)
        assert histogram.count.sum() == pytest.approx(5000)


def seen_again(histogram: ValueHistogram, measure: np.ndarray) -> ValueHistogram:
    return histogram.faded(0.1).add(np.arange(len(measure)), measure)


class TestHist:
    @pytest.mark.parametrize("sigma", [1, 8])
    def test_it_learns_to_keep_what_will_match(self, sigma: float) -> None:
        streams = draw_streams(normal_trends(sigma, sigma), steps=2000, seed=1)
        learned, blind = (
            streams.results(streams.join(policy, rows=10)) for policy in (Hist("trend"), Random(1))
        )
        assert learned > 1.2 * blind
