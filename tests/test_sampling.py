"""Samples in process: weights, estimates, fractions, contracts, and what is refused."""

import re
from dataclasses import replace

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.models import AgeCurve, AgeCurves, Frequencies
from headgate.sampling import EqCluster, LearnedCluster, PpsCluster, Uniform, make_sampler
from headgate.sampling.fractions import (
    clipped_shares,
    fraction_for,
    stored_by_key,
    theorem_4_2,
    theorem_4_3,
)
from headgate.sampling.uniform import MOST_COINS, likely_most
from headgate.sampling.uniform_cost import UniformCost
from headgate.spec import TimeWindow
from headgate.spec.budget import AMPLE
from headgate.studies.sampled.schemes import AGES, EQ, PPS, SCHEMES, UNIFORM, ZIPF, sampled
from headgate.studies.streams import keyed, zipf

MINUTE = TimeWindow(60_000_000)
SHARES = {"a": 0.5, "b": 0.3, "c": 0.2}
MODEL = Frequencies.of_mappings(SHARES, SHARES)


class TestSamples:
    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_with_memory_to_spare_everything_is_in_with_weight_one(self, scheme: str) -> None:
        own = sampled(ZIPF)
        outcome = own.run(scheme, seed=1, budget=hg.Budget(rows=100_000))
        assert set(outcome.pairs.column("weight").to_pylist()) == {1.0}
        assert outcome.pairs.num_rows >= 0.999 * own.exact.num_rows
        if scheme != UNIFORM:
            assert outcome.pairs.num_rows == own.exact.num_rows

    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_a_sample_stays_within_its_budget_and_says_what_it_left_out(self, scheme: str) -> None:
        outcome = sampled(ZIPF).run(scheme, seed=2)
        assert outcome.stats.peak_rows <= 60
        assert outcome.stats.lost_rows > 0
        assert min(outcome.pairs.column("weight").to_pylist()) >= 1.0
        assert outcome.estimated_recall is None

    def test_uniform_passes_its_budget_hardly_ever_and_then_lowers_its_fraction(self) -> None:
        own = sampled(ZIPF)
        usual = own.run(UNIFORM, seed=3)
        weights = set(usual.pairs.column("weight").to_pylist())
        assert len(weights) == 1
        assert usual.stats.shed <= 1
        tight = own.streams.request(
            "auto",
            hg.Budget(rows=20),
            goal=hg.Sample("uniform", fraction=1 / min(weights)),
            frequencies=own.frequencies,
            rates=own.rates,
        ).run(*own.streams.tables)
        assert tight.stats.peak_rows <= 20
        assert tight.stats.shed > 10
        assert len(set(tight.pairs.column("weight").to_pylist())) > 1

    def test_the_seed_decides(self) -> None:
        own = sampled(ZIPF)
        one, again, other = (own.run(EQ, seed).pairs for seed in (1, 1, 2))
        assert one.equals(again)
        assert not one.equals(other)

    def test_rows_of_a_cluster_have_one_stored_row(self) -> None:
        pairs = sampled(ZIPF).run(PPS, seed=4).pairs.to_pandas()
        for _, rows in pairs.groupby("cluster"):
            assert rows["lid"].nunique() == 1 or rows["rid"].nunique() == 1


class TestLearned:
    """What `Sample("auto")` learns of keys, in process; through state in tests/spark."""

    def test_auto_samples_more_once_it_knows_the_keys(self) -> None:
        streams = zipf(12_000, 120, seed=1, keys=1000)
        exact = streams.join("fifo", AMPLE).pairs.num_rows
        budget = hg.Budget(rows=150)
        learned = streams.join("auto", budget, goal=hg.Sample())
        alike = streams.join("auto", budget, goal=hg.Sample("cluster"))
        assert learned.followed["PPS-CLUSTER"] > learned.followed["EQ-CLUSTER"] > 0
        assert learned.stats.peak_rows <= 150
        assert learned.pairs.num_rows > 2 * alike.pairs.num_rows
        estimated = hg.estimate.count(learned.pairs)
        assert estimated.low <= exact <= estimated.high
        assert learned.estimated_recall is None

    @pytest.mark.parametrize("windows", [(0, 0), (60, 60)])
    def test_auto_samples_while_no_keys_have_met_and_where_none_can(
        self, windows: tuple[int, int]
    ) -> None:
        """Long enough for keys to be counted, and sizes to be asked for, before the first match."""
        rows = 6_000
        seconds = np.arange(rows) / 100
        left = np.arange(rows) % 50
        right = np.where(seconds < 40, left + 1000, left)
        streams = keyed((left, right), (seconds, seconds), windows)
        exact = streams.join("fifo", AMPLE).pairs.num_rows
        outcome = streams.join("auto", hg.Budget(rows=600), goal=hg.Sample())
        assert exact > 0
        assert outcome.followed["PPS-CLUSTER"] > 0
        assert outcome.stats.peak_rows <= 600
        estimated = hg.estimate.count(outcome.pairs)
        assert estimated.low <= exact <= estimated.high


class TestEstimates:
    @pytest.mark.parametrize("clustered", [True, False])
    @pytest.mark.parametrize("kind", ["count", "sum", "avg"])
    def test_sql_gives_the_same(self, kind: str, clustered: bool) -> None:
        sample = sampled(ZIPF).run(PPS if clustered else UNIFORM, seed=5).pairs
        column = None if kind == "count" else "x"
        query = hg.estimate.sql(kind, column, source="sample", by="key", clustered=clustered)
        with duckdb.connect() as connection:
            connection.register("sample", sample)
            got = connection.sql(f"{query} order by key").to_arrow_table()
        wanted = getattr(hg.estimate, kind)(sample, *filter(None, (column,)), by="key")
        wanted = wanted.sort_by("key")
        for name in ("key", "estimate", "standard_error", "low", "high", "rows", "clusters"):
            assert got.column(name).to_pylist() == pytest.approx(
                wanted.column(name).to_pylist(), rel=1e-9, abs=1e-5
            )

    def test_rows_of_a_cluster_are_not_taken_for_independent(self) -> None:
        sample = pa.table({"x": [5.0] * 40, "weight": [4.0] * 40, "cluster": [1] * 20 + [2] * 20})
        together = hg.estimate.sum(sample, "x")
        apart = hg.estimate.sum(sample.drop_columns("cluster"), "x")
        assert together.estimate == apart.estimate == 800
        assert together.standard_error == pytest.approx(apart.standard_error * 20**0.5)
        assert (together.clusters, apart.clusters) == (2, 40)

    def test_a_single_cluster_says_nothing_of_its_error(self) -> None:
        sample = pa.table({"x": [1.0, 2.0], "weight": [3.0, 3.0], "cluster": [1, 1]})
        average = hg.estimate.avg(sample, "x")
        assert (average.estimate, average.low, average.high) == (1.5, -np.inf, np.inf)

    def test_what_is_certain_has_no_error(self) -> None:
        sample = pa.table({"x": [1.0, 2.0, None], "weight": [1.0] * 3, "cluster": [1, 2, 3]})
        average = hg.estimate.avg(sample, "x")
        assert (average.estimate, average.low, average.high, average.rows) == (1.5, 1.5, 1.5, 2)
        assert hg.estimate.count(sample).estimate == 3
        assert hg.estimate.count(sample, "x").estimate == 2

    def test_a_contract_is_marked_widened_or_fails(self) -> None:
        sample = sampled(ZIPF).run(EQ, seed=6).pairs
        strict = hg.estimate.avg(sample, "x", goal=hg.Sample("cluster", error=0.001))
        assert (strict.within, strict.error) == (False, 0.001)
        widened = hg.estimate.avg(
            sample, "x", goal=hg.Sample("cluster", error=0.001, otherwise="widen")
        )
        assert widened.within is True
        assert widened.error == pytest.approx((strict.high - strict.estimate) / strict.estimate)
        easy = hg.estimate.avg(sample, "x", goal=hg.Sample("cluster", error=0.9))
        assert (easy.within, easy.error) == (True, 0.9)
        grouped = hg.estimate.avg(sample, "x", by="key", goal=hg.Sample(error=0.001))
        assert set(grouped.column_names) >= {"within", "error"}
        failing = hg.Sample("cluster", error=0.001, otherwise="fail")
        with pytest.raises(hg.estimate.EstimateError, match=r"only sure to .* error=0\.001"):
            hg.estimate.avg(sample, "x", goal=failing)
        with pytest.raises(hg.estimate.EstimateError, match="give the join more memory"):
            hg.estimate.avg(sample, "x", by="key", goal=failing)

    def test_wider_confidence_makes_wider_intervals(self) -> None:
        sample = sampled(ZIPF).run(EQ, seed=6).pairs
        usual, sure = (
            hg.estimate.sum(sample, "x", goal=hg.Sample(confidence=c)) for c in (0.95, 0.99)
        )
        assert sure.high - sure.low > 1.2 * (usual.high - usual.low)

    def test_what_is_no_sample_is_said_so(self) -> None:
        table = pa.table({"x": [1.0]})
        with pytest.raises(hg.SpecError, match=r'no column "weight".*goal=hg\.Sample'):
            hg.estimate.count(table)
        with pytest.raises(hg.SpecError, match="sum of what"):
            hg.estimate._estimate("sum", table, None, (), None)
        with pytest.raises(hg.SpecError, match="would need quotes"):
            hg.estimate.sql("sum", "a b", source="t")
        with pytest.raises(hg.estimate.EstimateError, match="the sample is empty"):
            hg.estimate.count(pa.table({"weight": pa.array([], pa.float64())}))


class TestChoice:
    def test_the_scheme_with_the_least_error_is_chosen(self) -> None:
        own = sampled(ZIPF)
        join = own.streams.request("auto", hg.Budget(rows=60), goal=hg.Sample(weight="w"))
        choice = hg.choose_sample(join, *own.streams.tables, "y")
        assert choice.tried[0].scheme == PPS
        assert set(choice.models) == {"frequencies", "rates"}
        assert choice.size_variation > 1
        again = own.streams.request("auto", hg.Budget(rows=60), goal=choice.goal, **choice.models)
        assert again.run(*own.streams.tables).pairs.column_names[-2:] == ["w", "cluster"]

    def test_where_rows_are_alike_nothing_need_be_known(self) -> None:
        own = sampled(AGES)
        join = own.streams.request("auto", hg.Budget(rows=30), goal=hg.Sample())
        choice = hg.choose_sample(join, *own.streams.tables, "x")
        assert (choice.goal.kind, choice.models) == ("cluster", {})
        assert choice.between_clusters == pytest.approx(1.0)
        assert "of the variance is between clusters" in str(choice)

    def test_what_cannot_be_tried_is_said(self) -> None:
        own = sampled(ZIPF)
        join = own.streams.request("auto", hg.Budget(rows=60), goal=hg.Sample())
        with pytest.raises(hg.SpecError, match='no column "z"'):
            hg.choose_sample(join, *own.streams.tables, "z")
        with pytest.raises(hg.SpecError, match="a side is empty"):
            hg.choose_sample(join, own.streams.left.slice(0, 0), own.streams.right, "x")
        with pytest.raises(hg.SpecError, match=r'"lt" is timestamp.*numbers to average'):
            hg.choose_sample(join, *own.streams.tables, "lt")
        banded = own.streams.request(
            "auto", hg.Budget(rows=60), goal=hg.Sample(), where=hg.Band("key", lower=0, upper=1)
        )
        with pytest.raises(hg.SpecError, match="joins on keys alone"):
            hg.choose_sample(banded, *own.streams.tables, "x")
        few = own.streams.right.slice(own.streams.right.num_rows - 50)
        with pytest.raises(hg.SpecError, match=r"left and 0 right rows, too few .* longer piece"):
            hg.choose_sample(join, own.streams.left, few, "x")
        at_once = replace(own.streams, windows=(0, 0)).request(
            "auto", hg.Budget(rows=60), goal=hg.Sample()
        )
        with pytest.raises(hg.SpecError, match="both windows are zero"):
            hg.choose_sample(at_once, *own.streams.tables, "x")
        plain = own.streams.request("fifo", hg.Budget(rows=60))
        with pytest.raises(hg.SpecError, match=r"goal=hg\.Sample"):
            hg.choose_sample(plain, *own.streams.tables, "x")


class TestFractions:
    def test_memory_rises_with_the_fraction(self) -> None:
        own, matches = np.array([0.5, 0.5]), np.array([2.0, 10.0])
        for need in (theorem_4_2, stored_by_key):
            rows = [need(share, own, matches, 100.0) for share in (0.01, 0.2, 0.6, 1.0)]
            assert rows == sorted(rows)
        assert theorem_4_2(1.0, own, matches, 100.0) == pytest.approx(100)

    @pytest.mark.parametrize(("matches", "share"), [(0.4, 0.3), (5.0, 0.05), (90.0, 0.01)])
    def test_rows_are_stored_for_as_long_as_rows_drawn_one_by_one(
        self, matches: float, share: float
    ) -> None:
        random, rows = np.random.default_rng(3), 20_000
        coins = int(likely_most(np.array([matches]))[0])
        heads = random.random((rows, coins)) < share
        last = np.where(heads.any(axis=1), coins - np.argmax(heads[:, ::-1], axis=1), 0)
        made = random.poisson(matches * random.random(rows))
        drawn = 100 * np.mean(made < last)
        found = stored_by_key(share, np.ones(1), np.array([matches]), 100.0)
        assert found == pytest.approx(drawn, abs=1.0)

    def test_matches_without_bound_are_foreseen_in_bounded_memory(self) -> None:
        """A rate measured over no time at all is as good as infinite."""
        own, share = np.ones(1), 1e-6
        stored = [stored_by_key(share, own, np.array([m]), 100.0) for m in (1e5, 1e7, 1e12)]
        assert 0 < stored[0] < stored[1]
        assert stored[1] == pytest.approx(theorem_4_2(share, own, np.array([1e7]), 100.0), rel=0.01)
        assert 0 < stored[2] <= 100
        assert likely_most(np.array([1e12])).tolist() == [MOST_COINS]

    def test_theorem_4_3_keeps_a_row_to_its_last_head(self) -> None:
        curve = AgeCurve(10, [1, 1, 2])
        assert theorem_4_3(1.0, curve, rate=1.0) == pytest.approx(30)
        assert theorem_4_3(1e-6, curve, rate=1.0) == pytest.approx(0, abs=1e-3)

    def test_the_fraction_fills_the_memory_but_for_the_safety(self) -> None:
        rates = (20.0, 5.0)
        few, many = (
            fraction_for(MODEL, rows, rates, (MINUTE, TimeWindow(0))) for rows in (50, 800)
        )
        assert 0 < few < many < 1
        assert fraction_for(MODEL, 5_000, rates, (MINUTE, TimeWindow(0))) == 1.0

    def test_clipped_shares_use_all_memory_and_pass_one_nowhere(self) -> None:
        random = np.random.default_rng(1)
        for _ in range(50):
            sizes = random.exponential(size=20) ** 3
            own = random.dirichlet(np.ones(20))
            part = float(random.uniform(0.05, 0.95))
            shares = clipped_shares(sizes, own, part)
            assert shares.max() <= 1.0
            assert (own * shares).sum() == pytest.approx(part)
            free = shares < 1
            assert np.ptp((shares / sizes)[free]) <= 1e-9 * (shares / sizes)[free].max()

    def test_a_cpu_budget_is_met(self) -> None:
        for counts_probes in (True, False):
            cost = UniformCost(MODEL, (10.0, 5.0), (60.0, 60.0), 1.0, 0.2, counts_probes)
            share = cost.fraction_for(0.3 * cost.cost(1.0))
            assert cost.cost(share) == pytest.approx(0.3 * cost.cost(1.0))


class TestRequests:
    def test_the_goal_chooses_the_sampler(self) -> None:
        windows = (MINUTE, MINUTE)
        budget = hg.Budget(rows=100)
        assert make_sampler(hg.Sample(), budget, windows) == LearnedCluster()
        assert make_sampler(hg.Sample(), budget, windows, keyed=False) == EqCluster()
        assert make_sampler(hg.Sample(), hg.Budget(rows=9, monitor=0), windows) == EqCluster()
        assert make_sampler(hg.Sample("cluster"), budget, windows) == EqCluster()
        by_size = make_sampler(hg.Sample("cluster"), budget, windows, MODEL, rates=(1.0, 2.0))
        assert isinstance(by_size, PpsCluster)
        assert by_size.others == (120.0, 60.0)
        ages = AgeCurves.of_buckets((60_000_000, 0), ((4,), (0,)))
        uniform = make_sampler(hg.Sample("uniform"), budget, windows, ages=ages, rates=(9.0, 9.0))
        assert isinstance(uniform, Uniform)
        assert 0 < uniform.share < 1

    @pytest.mark.parametrize(
        ("asked", "says"),
        [
            ({"goal": hg.Sample("uniform")}, "must know how many matches rows make"),
            ({"goal": hg.Sample("uniform"), "frequencies": MODEL}, "how fast rows come"),
            ({"goal": hg.Sample(), "policy": "lru"}, "the goal says which rows are kept"),
            ({"goal": hg.Sample(), "rates": (1, 0)}, "two numbers above 0"),
            ({"goal": hg.Sample(), "rates": 5}, "two numbers above 0"),
            ({"goal": hg.Sample(), "left": hg.Side(time="lt", window="5 rows")}, "windows in time"),
            (
                {
                    "goal": hg.Sample("uniform"),
                    "frequencies": MODEL,
                    "rates": (1.0, 1.0),
                    "budget": hg.Budget(memory="1 MB"),
                },
                "from a budget in bytes",
            ),
        ],
    )
    def test_what_cannot_be_sampled_is_refused(self, asked: dict, says: str) -> None:
        sides = {
            "left": hg.Side(time="lt", window="1 minute"),
            "right": hg.Side(time="rt", window="1 minute"),
        }
        with pytest.raises(hg.SpecError, match=says):
            hg.WindowJoin(**{"on": "key", "budget": hg.Budget(rows=9), **sides, **asked})

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            ({"kind": "some"}, "Sample 'some' is unknown"),
            ({"kind": "uniform", "fraction": 0}, "above 0 and up to 1"),
            ({"kind": "cluster", "fraction": 0.5}, 'is for Sample("uniform")'),
            ({"error": -1}, "relative error above 0"),
            ({"confidence": 95}, "between 0 and 1"),
            ({"otherwise": "hope"}, "otherwise 'hope' is unknown"),
            ({"weight": "w", "cluster": "w"}, 'both called "w"'),
        ],
    )
    def test_a_bad_goal_is_refused(self, arguments: dict, says: str) -> None:
        with pytest.raises(hg.SpecError, match=re.escape(says)):
            hg.Sample(**arguments)

    def test_columns_must_not_be_taken(self) -> None:
        own = sampled(ZIPF)
        left = own.streams.left.rename_columns(["key", "lt", "lid", "weight"])
        join = own.streams.request("auto", hg.Budget(rows=9), goal=hg.Sample())
        with pytest.raises(hg.SpecError, match=r'column "weight" already: name .*Sample\(weight='):
            join.run(left, own.streams.right)
        join = own.streams.request("auto", hg.Budget(rows=9), goal=hg.Sample(weight="stands_for"))
        sample = join.run(left, own.streams.right).pairs
        assert sample.column_names[-2:] == ["stands_for", "cluster"]
        assert hg.estimate.count(sample, goal=join.goal).estimate > 0
