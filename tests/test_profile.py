"""Profiles of streams whose properties are known, and of streams that allow none."""

import json
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headgate as hg
from headgate.demo.auctions import LASTS_US, OPEN_US, WINDOW_US, AuctionStream, auction_stream
from headgate.profiles.aged_matches import AgedMatches
from headgate.profiles.facts import Both
from headgate.profiles.match_counts import MOST_LOOKED_AT, KeyedRows, count_matches
from headgate.profiles.model_comparison import explain
from headgate.profiles.skew import fitted_zipf
from tests.profiled_sides import AUCTIONS, START_US, pairs_of, profile_of, side_of
from tests.thoroughness import examples


@pytest.fixture(scope="module")
def auctions() -> AuctionStream:
    return auction_stream(rows=160_000, seed=3)


@pytest.fixture(scope="module")
def of_auctions(auctions: AuctionStream) -> hg.Profile:
    return hg.profile(auctions.auctions, auctions.bids, **AUCTIONS)


@pytest.fixture(scope="module")
def of_zipf() -> hg.Profile:
    return profile_of(side_of(20_000, 1), side_of(30_000, 2), ("20 seconds", "10 seconds"))


class TestCounts:
    def test_rows_and_rates_are_exact(self, of_auctions: hg.Profile) -> None:
        assert [side.rows for side in of_auctions.rows] == [10_000, 150_000]
        span = of_auctions.span_us / 1e6
        assert span == pytest.approx(LASTS_US / 1e6, rel=1e-2)
        assert list(of_auctions.rates) == pytest.approx([10_000 / span, 150_000 / span])

    def test_nulls_are_counted_and_match_nothing(self) -> None:
        time = pa.array([START_US, START_US + 10, None, START_US + 20], pa.timestamp("us"))
        table = pa.table({"key": [1, None, 1, 2], "at": time})
        found = profile_of(table, table, ("1 second", "1 second"))
        assert (found.rows.left.null_keys, found.rows.left.null_times) == (1, 1)
        assert found.pairs.count == 2

    @pytest.mark.parametrize("windows", [("20 seconds", "5 seconds"), ("0 seconds", "3 seconds")])
    def test_pairs_and_stored_rows_are_those_of_the_join(self, windows: tuple[str, str]) -> None:
        left, right = side_of(3_000, 1, lasts=60), side_of(2_000, 2, lasts=60)
        found, outcome = profile_of(left, right, windows), pairs_of(left, right, windows)
        assert found.pairs.count == outcome.stats.pairs
        assert not found.pairs.sampled
        assert found.stored_rows.rows == outcome.stats.peak_rows
        assert found.stored_rows.bytes == outcome.stats.peak_bytes

    def test_pandas_frames_are_profiled_alike(self) -> None:
        left, right = side_of(500, 1), side_of(500, 2)
        one = profile_of(left, right, ("5 seconds", "5 seconds"))
        other = profile_of(left.to_pandas(), right.to_pandas(), ("5 seconds", "5 seconds"))
        assert str(one) == str(other)


class TestKeys:
    def test_skew_is_the_exponent_that_was_drawn(self, of_zipf: hg.Profile) -> None:
        assert [side.zipf for side in of_zipf.skew] == pytest.approx([1.0, 1.0], abs=0.03)

    def test_even_keys_have_no_skew_however_few_rows_each_has(self) -> None:
        left, right = side_of(5_000, 1, keys=1000, zipf=0), side_of(2_000, 2, keys=10**5, zipf=0)
        found = profile_of(left, right, ("1 second", "1 second"))
        assert found.skew.left.zipf < 0.15
        assert found.skew.right.zipf < 0.15

    @given(st.floats(0.1, 3), st.integers(2, 30_000))
    def test_the_fit_undoes_the_formula(self, exponent: float, keys: int) -> None:
        shares = np.arange(1, keys + 1) ** -exponent
        alike = float((shares**2).sum() / shares.sum() ** 2)
        assert fitted_zipf(alike, keys) == pytest.approx(exponent, abs=1e-3)

    def test_heavy_keys_are_named_and_the_rest_counted(self) -> None:
        left = side_of(5_000, 1)
        found = profile_of(left, side_of(5_000, 2), ("1 second", "1 second"), heavy_keys=7)
        counts = np.sort(np.bincount(left.column("key").to_numpy()))[::-1]
        assert found.skew.left.keys == np.count_nonzero(counts)
        assert found.skew.left.listed == len(found.frequencies.left.share) == 7
        assert found.frequencies.left.share.tolist() == (counts[:7] / 5_000).tolist()
        assert found.skew.left.top == {1: counts[0] / 5_000}


class TestAges:
    def test_the_curve_is_that_of_the_stream(self, of_auctions: hg.Profile) -> None:
        # A bid's age has density 3u²; rows not seen to the end must not bend the curve.
        curve = of_auctions.ages.left
        ends = np.minimum(curve.ages / OPEN_US, 1)
        assert curve.cumulative / curve.total == pytest.approx(ends**3, abs=0.01)
        assert curve.best_age == pytest.approx(OPEN_US, abs=curve.width)

    def test_windows_needed_are_the_quantiles_of_age(self, of_auctions: hg.Profile) -> None:
        needed = of_auctions.windows_needed.left
        for percent in (50, 90, 95, 99):
            expected = OPEN_US / 1e6 * (percent / 100) ** (1 / 3)
            assert needed[percent].total_seconds() == pytest.approx(expected, rel=0.01)
        assert needed[100] <= timedelta(minutes=10)
        assert of_auctions.windows_needed.right == {}

    def test_a_window_much_too_long_is_found_out(self) -> None:
        left = side_of(2_000, 1, lasts=10 * 86_400)
        left = left.set_column(0, "key", pa.array(np.arange(2_000)))
        later = pa.array(
            left.column("at").cast(pa.int64()).to_numpy() + 250_000, pa.timestamp("us", "UTC")
        )
        found = profile_of(left, left.set_column(1, "at", later), ("4 days", "0 seconds"))
        assert found.windows_needed.left[50].total_seconds() == pytest.approx(0.25, rel=0.04)
        assert found.windows_needed.left[100] == timedelta(milliseconds=250)

    @examples(60)
    @given(
        st.lists(st.tuples(st.integers(0, 40), st.integers(0, 2)), max_size=30),
        st.lists(st.tuples(st.integers(0, 40), st.integers(0, 2)), max_size=30),
        st.integers(0, 15),
        st.integers(0, 1),
    )
    def test_matches_are_counted_as_by_hand(
        self, stored: list, other: list, window: int, side: int
    ) -> None:
        ages = [
            b - a
            for a, key in stored
            for b, same in other
            if key == same and side <= b - a <= window
        ]
        rows = [
            KeyedRows.unweighted(
                np.array([t for t, _ in given], np.int64),
                np.array([k for _, k in given], np.int32),
                3,
            )
            for given in (stored, other)
        ]
        found = count_matches(rows[0], rows[1], window, side, width=5, buckets=3)
        assert found.count == len(ages)
        buckets = np.minimum(np.array(ages, np.int64) // 5, 2)
        assert found.ages.tolist() == np.bincount(buckets, minlength=3).tolist()
        assert found.fine[: window + 1].tolist() == np.bincount(ages, minlength=window + 1).tolist()
        assert found.oldest == max(ages, default=-1)

    def test_of_long_runs_a_part_stands_for_all(self) -> None:
        partners = 20 * MOST_LOOKED_AT
        one = KeyedRows.unweighted(np.array([0]), np.zeros(1, np.int32), 1)
        many = KeyedRows.unweighted(np.arange(partners), np.zeros(partners, np.int32), 1)
        found = count_matches(one, many, partners, 0, width=partners // 10, buckets=10)
        assert found.count == partners
        assert found.ages == pytest.approx(np.full(10, partners / 10), rel=0.1)

    def test_few_matches_make_few_buckets(self) -> None:
        rows = KeyedRows.unweighted(np.arange(0, 10_000, 10), np.arange(1000, dtype=np.int32), 1000)
        later = KeyedRows.unweighted(rows.time[:90] + 30, rows.code[:90], 1000)
        aged = AgedMatches.of(rows, later, window=600, side=0, end=20_000)
        assert len(aged.curve.matches) == 3
        assert aged.curve.total == pytest.approx(0.09, rel=0.01)


class TestModels:
    def test_age_explains_auctions(self, of_auctions: hg.Profile) -> None:
        found = of_auctions.explains
        assert found.better == "age"
        # The gain of the density 3u² over an even one is ∫ 3u² log 3u² du = log 3 − 2/3, and the
        # logarithm of window over life more, of rows that are seen to the end.
        gain = np.log(3) - 2 / 3 + np.log(WINDOW_US / OPEN_US)
        assert found.age == pytest.approx(gain, abs=0.12)
        assert found.frequency < -1
        assert found.recall["AGE"] > 10 * found.recall["PROB"]

    def test_frequency_explains_zipf_keys(self, of_zipf: hg.Profile) -> None:
        found = of_zipf.explains
        assert found.better == "frequency"
        shares = np.arange(1, 501) ** -1.0
        shares /= shares.sum()
        # Matches fall on keys as the squares of the shares; the constant rate is their mean.
        alike = (shares**2).sum()
        expected = (shares**2 / alike * np.log(shares / alike)).sum()
        assert found.frequency == pytest.approx(expected, abs=0.05)
        assert abs(found.age) < 0.01
        assert found.by == pytest.approx(found.frequency - found.age)
        assert found.recall["PROB"] > 2 * found.recall["RANDOM"]

    def test_neither_explains_even_streams(self) -> None:
        left, right = side_of(20_000, 1, keys=50, zipf=0), side_of(20_000, 2, keys=50, zipf=0)
        found = profile_of(left, right, ("10 seconds", "10 seconds")).explains
        assert found.better == "neither"
        assert "explains the matches: neither" in str(
            profile_of(left, right, ("10 seconds", "10 seconds"))
        )

    def test_recall_is_that_of_the_join_itself(self, auctions: AuctionStream) -> None:
        found = hg.profile(auctions.auctions, auctions.bids, **AUCTIONS)
        opened = auctions.auctions.column("opened_at").cast(pa.int64()).to_numpy()
        placed = auctions.bids.column("bid_at").cast(pa.int64()).to_numpy()
        first, last = min(opened[0], placed[0]), max(opened[-1], placed[-1])
        middle = last - (last - first) // 2
        outcome = hg.WindowJoin(
            **AUCTIONS, budget=hg.Budget(rows=found.explains.budget_rows), policy="random"
        ).run(
            auctions.auctions.filter(pa.array(opened >= middle)),
            auctions.bids.filter(pa.array(placed >= middle)),
        )
        assert found.explains.matches == outcome.exact_pairs
        assert found.explains.recall["RANDOM"] == pytest.approx(outcome.recall)

    def test_data_shorter_than_two_windows_cannot_tell(self) -> None:
        left, right = side_of(500, 1, lasts=10), side_of(500, 2, lasts=10)
        found = profile_of(left, right, ("6 seconds", "0 seconds"))
        assert found.explains.better is None
        assert "half of that is less than the window of 6 seconds" in found.explains.why_not
        assert "profile at least 12 seconds" in str(found)
        assert "nats" not in str(found)

    def test_streams_without_matches_cannot_tell(self) -> None:
        left = side_of(500, 1)
        right = left.set_column(0, "key", pa.array(np.arange(500) + 10_000))
        found = profile_of(left, right, ("5 seconds", "5 seconds"))
        assert found.pairs.count == 0
        assert "Matches: none" in str(found)
        assert "no matches to learn from" in found.explains.why_not
        found.plot()

    def test_too_many_matches_are_judged_but_not_run(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("headgate.profiles.model_comparison.MOST_MATCHES_RUN", 10)
        found = profile_of(side_of(5_000, 1), side_of(5_000, 2), ("9 seconds", "9 seconds"))
        assert found.explains.better == "frequency"
        assert found.explains.recall == {}
        assert "No policy was run" in str(found)

    def test_keys_new_in_the_second_half_are_not_impossible(self) -> None:
        time = np.arange(0, 4_000, 10)
        code = np.repeat(np.arange(4, dtype=np.int32), 100)
        rows = KeyedRows.unweighted(time, code, 4)
        found = explain(Both(rows, rows), Both(500, 500), 0, 3_999)
        assert np.isfinite([found.age, found.frequency]).all()


class TestSampling:
    def test_the_estimate_is_within_its_errors(self, auctions: AuctionStream) -> None:
        whole = hg.profile(auctions.auctions, auctions.bids, **AUCTIONS)
        part = hg.profile(auctions.auctions, auctions.bids, **AUCTIONS, most_rows=40_000)
        assert part.pairs.sampled
        assert sum(part.pairs.rows) <= 40_000
        assert 0.1 < part.pairs.share < 0.25
        assert 0 < part.pairs.error < 0.2 * part.pairs.count
        assert abs(part.pairs.count - whole.pairs.count) < 4 * part.pairs.error
        assert part.rows == whole.rows
        assert part.rates == whole.rates
        assert part.skew == whole.skew
        assert part.stored_rows.rows == pytest.approx(whole.stored_rows.rows, rel=0.1)
        assert part.explains.better == "age"
        assert f"{100 * part.pairs.share:.3g} % of the keys" in part.notes[0]

    def test_estimates_are_right_on_average(self) -> None:
        off = []
        for seed in range(30):
            left = side_of(3_000, seed, keys=400, zipf=0.3)
            right = side_of(3_000, 100 + seed, keys=400, zipf=0.3)
            shift = pa.array(left.column("key").to_numpy() + 1000 * seed)
            other = pa.array(right.column("key").to_numpy() + 1000 * seed)
            left, right = left.set_column(0, "key", shift), right.set_column(0, "key", other)
            whole = profile_of(left, right, ("20 seconds", "0 seconds"))
            part = profile_of(left, right, ("20 seconds", "0 seconds"), most_rows=1_500)
            off.append((part.pairs.count - whole.pairs.count) / part.pairs.error)
        assert abs(np.mean(off)) < 4 / np.sqrt(30)
        assert 0.5 < np.std(off) < 1.6

    def test_heavy_keys_are_taken_for_certain(self) -> None:
        left, right = side_of(20_000, 1, zipf=0.9), side_of(20_000, 2, zipf=0.9)
        whole = profile_of(left, right, ("20 seconds", "5 seconds"))
        part = profile_of(left, right, ("20 seconds", "5 seconds"), most_rows=16_000)
        assert part.pairs.heavy > 0
        assert sum(part.pairs.rows) <= 16_000
        assert 0 < part.pairs.error < 0.2 * part.pairs.count
        assert abs(part.pairs.count - whole.pairs.count) < 4 * part.pairs.error
        assert part.ages.left.total == pytest.approx(whole.ages.left.total, rel=0.2)
        assert part.explains.frequency == pytest.approx(whole.explains.frequency, abs=0.1)

    def test_a_heavy_key_that_is_missed_shows_in_the_error(self) -> None:
        left, right = side_of(20_000, 1, zipf=1.3), side_of(20_000, 2, zipf=1.3)
        whole = profile_of(left, right, ("5 seconds", "5 seconds"))
        part = profile_of(left, right, ("5 seconds", "5 seconds"), most_rows=4_000)
        assert sum(part.pairs.rows) <= 4_000
        assert abs(part.pairs.count - whole.pairs.count) < 4 * part.pairs.error
        assert "heavy keys" in part.notes[-1]


class TestKeeping:
    def test_a_profile_survives_json(self, of_auctions: hg.Profile, of_zipf: hg.Profile) -> None:
        for found in (of_auctions, of_zipf):
            again = hg.Profile.from_json(found.to_json())
            assert str(again) == str(found)
            assert again.to_json() == found.to_json()
            assert again.windows_needed == found.windows_needed
            assert again.ages == found.ages
            assert again.explains == found.explains
            assert again.rows == found.rows

    def test_profiles_of_another_format_are_refused(self, of_zipf: hg.Profile) -> None:
        text = json.dumps({**json.loads(of_zipf.to_json()), "format": 99})
        with pytest.raises(hg.SpecError, match="has format 99"):
            hg.Profile.from_json(text)

    def test_its_models_serve_a_join(
        self, auctions: AuctionStream, of_auctions: hg.Profile
    ) -> None:
        join = hg.WindowJoin(
            **AUCTIONS,
            budget=hg.Budget(rows=500),
            policy="age",
            ages=of_auctions.ages,
            frequencies=of_auctions.frequencies,
        )
        assert 0 < join.run(auctions.auctions, auctions.bids).recall < 1

    def test_the_picture_has_a_panel_for_each_side_that_matches(
        self, of_auctions: hg.Profile, of_zipf: hg.Profile
    ) -> None:
        assert len(of_auctions.plot().axes) == 2
        assert len(of_zipf.plot().axes) == 3
        assert "Age explains the matches better" in of_auctions.plot().get_suptitle()

    def test_the_report_says_what_matters(self, of_auctions: hg.Profile) -> None:
        text = str(of_auctions)
        for part in ("10 minutes", "150,000", "Matches: 150,000", "explains the matches: age, by"):
            assert part in text
        assert repr(of_auctions).startswith("Profile(10,000 and 150,000 rows, 150,000 pairs")
