"""JoinGroup in process: plans from profiles, carried out and measured; and what is refused."""

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.planner.budget_allocation import alloc, in_whole
from headgate.planner.expected_curves import error_curve, recall_curve
from headgate.studies.streams import TIMES, Streams, aging, zipf

ROWS = 1000


@lru_cache(maxsize=1)
def streams() -> dict[str, Streams]:
    """A hard pair, whose matches come at the end of the window, and two easier ones."""
    return {
        "late": aging(40_000, 800, 20, ["rising"], seed=1),
        "soon": aging(40_000, 800, 20, ["falling"], seed=2),
        "keyed": zipf(40_000, 800, seed=3, keys=500, exponent=1.2),
    }


@lru_cache(maxsize=3)
def profile_of(name: str) -> hg.Profile:
    pair = streams()[name]
    return hg.profile(
        *pair.tables,
        on="key",
        left=hg.Side(TIMES[0], f"{pair.windows[0]} seconds"),
        right=hg.Side(TIMES[1], f"{pair.windows[1]} seconds"),
    )


def told(name: str, budget: hg.Budget) -> hg.WindowJoin:
    """A join that is told its model beforehand."""
    known = profile_of(name)
    models = {"frequencies": known.frequencies} if name == "keyed" else {"ages": known.ages}
    return streams()[name].request("auto", budget, **models)


def recalls(plan: hg.GroupPlan) -> dict[str, float]:
    return {name: join.run(*streams()[name].tables).recall for name, join in plan.joins.items()}


class TestPlan:
    def test_recall_comes_out_as_planned_and_nobody_is_left_behind(self) -> None:
        joins = {name: told(name, hg.Budget(rows=1)) for name in streams()}
        group = hg.JoinGroup(budget=hg.Budget(rows=ROWS), joins=joins)
        plan = group.plan({name: profile_of(name) for name in streams()})
        assert sum(join.budget.rows or 0 for join in plan.joins.values()) <= ROWS
        measured = recalls(plan)
        for name, share in plan.shares.items():
            assert measured[name] == pytest.approx(share.quality, abs=0.05), name
        by_prop = {
            name: joins[name]
            .within(hg.Budget(rows=share.prop_memory))
            .run(*streams()[name].tables)
            .recall
            for name, share in plan.shares.items()
        }
        assert min(measured.values()) > min(by_prop.values()) + 0.05
        assert plan.worst > plan.worst_under_prop

    def test_weights_are_kept_to(self) -> None:
        names = ("late", "soon")
        group = hg.JoinGroup(
            budget=hg.Budget(rows=800),
            joins={name: told(name, hg.Budget(rows=1)) for name in names},
            weights={"soon": 1.5},
        )
        plan = group.plan({name: profile_of(name) for name in names})
        ratio = plan.shares["soon"].quality / plan.shares["late"].quality
        assert ratio == pytest.approx(1.5, abs=0.02)
        assert "Lowest recall over weight" in str(plan)

    def test_memory_is_shared_in_bytes_within_the_whole(self) -> None:
        names = ("late", "soon")
        group = hg.JoinGroup(
            budget=hg.Budget(memory="60 kB"),
            joins={name: told(name, hg.Budget(rows=1)) for name in names},
        )
        plan = group.plan({name: profile_of(name) for name in names})
        assert sum(join.budget.memory or 0 for join in plan.joins.values()) == 60_000
        for name, join in plan.joins.items():
            outcome = join.run(*streams()[name].tables)
            assert outcome.stats.peak_bytes <= (join.budget.memory or 0)
            assert outcome.recall == pytest.approx(plan.shares[name].quality, abs=0.05)

    def test_what_the_joins_say_of_split_and_monitor_stays(self) -> None:
        own = hg.Budget(rows=1, split=(3, 1), monitor=0.1)
        group = hg.JoinGroup(budget=hg.Budget(rows=900), joins={"keyed": told("keyed", own)})
        planned = group.plan({"keyed": profile_of("keyed")}).joins["keyed"].budget
        assert planned == hg.Budget(rows=900, split=(3, 1), monitor=0.1)

    def test_a_plan_prints_who_gets_what_and_why(self) -> None:
        names = ("late", "keyed")
        joins = {name: streams()[name].request("auto", hg.Budget(rows=1)) for name in names}
        group = hg.JoinGroup(budget=hg.Budget(rows=2000), joins=joins)
        text = str(group.plan({name: profile_of(name) for name in names}))
        assert "2 joins share 2,000 rows so that the lowest recall is as high as can be" in text
        assert "late: age explains the matches better" in text
        assert "keyed: frequency explains the matches better" in text


class TestError:
    def group(self, rows: int, deviation: float) -> tuple[hg.JoinGroup, dict[str, hg.Profile]]:
        names = ("late", "soon")
        joins = {}
        for name in names:
            known = profile_of(name)
            joins[name] = streams()[name].request(
                "auto",
                hg.Budget(rows=rows),
                goal=hg.Sample("uniform"),
                ages=known.ages,
                rates=tuple(known.rates),
            )
        aggregates = {
            "late": hg.Aggregate(mean=100, deviation=deviation, window="20 seconds"),
            "soon": hg.Aggregate(mean=100, deviation=100, window="20 seconds"),
        }
        group = hg.JoinGroup(
            budget=hg.Budget(rows=rows), joins=joins, measure="error", aggregates=aggregates
        )
        return group, {name: profile_of(name) for name in names}

    def test_errors_are_made_equal_and_samples_follow_the_budget(self) -> None:
        group, profiles = self.group(800, deviation=100)
        plan = group.plan(profiles)
        late, soon = plan.shares["late"], plan.shares["soon"]
        assert late.quality == pytest.approx(soon.quality, rel=0.02)
        assert late.memory > soon.memory
        assert plan.worst < plan.worst_under_prop
        for name, join in plan.joins.items():
            sampled = join.run(*streams()[name].tables).pairs.num_rows / 160_000
            assert sampled == pytest.approx(join.policy.share, rel=0.1), name

    def test_the_expected_error_is_what_samples_show(self) -> None:
        """Averages of a value drawn for every pair, over windows of results."""
        group, profiles = self.group(800, deviation=100)
        plan = group.plan(profiles)
        pairs = plan.joins["late"].run(*streams()["late"].tables).pairs
        second = pairs.column(TIMES[1]).cast(pa.int64()).to_numpy() // 1_000_000
        random = np.random.default_rng(5)
        errors = []
        for start in range(int(second.min()) + 20, int(second.max()) - 20, 20):
            count = int(np.count_nonzero((second >= start) & (second < start + 20)))
            whole = random.normal(100, 100, 4000)
            for _ in range(40):
                taken = random.choice(whole, count, replace=False)
                errors.append(abs(taken.mean() - whole.mean()) / 100)
        assert np.mean(errors) == pytest.approx(plan.shares["late"].quality, rel=0.15)

    def test_values_that_differ_more_get_more_memory(self) -> None:
        even, uneven = (
            group.plan(profiles).shares["late"].memory
            for group, profiles in (self.group(800, 100), self.group(800, 300))
        )
        assert uneven > even

    def test_clusters_need_memory_for_whole_windows(self) -> None:
        aggregate = hg.Aggregate(mean=100, deviation=100, window="20 seconds")
        clusters = error_curve(profile_of("soon"), "age", aggregate, by_cluster=True)
        assert clusters.full == pytest.approx(40_000 / 800 * 20, rel=0.05)
        # Half of a thousand clusters of one value each, in a window of results.
        assert clusters.at(500) == pytest.approx((2 / np.pi / 1000) ** 0.5, rel=0.1)


class TestCurves:
    def test_sides_with_memory_of_their_own_make_less_of_it(self) -> None:
        pooled = recall_curve(profile_of("keyed"), "frequency")
        apart = recall_curve(profile_of("keyed"), "frequency", shares=(0.9, 0.1))
        assert apart.at(500) < pooled.at(500)
        assert apart.best == pytest.approx(1.0)

    def test_whole_rows_are_never_more_than_there_are(self) -> None:
        curves = {
            "easy": hg.QualityCurve([0, 0.3, 100], [0.0, 0.9, 1.0]),
            "hard": hg.QualityCurve([0, 100], [0.0, 1.0]),
        }
        given = in_whole(curves, alloc(curves, 7), 7, least=1)
        assert given.memory == {"easy": 1, "hard": 6}
        with pytest.raises(hg.SpecError, match="too little for 2 joins"):
            in_whole(curves, alloc(curves, 1), 1, least=1)


class TestWhatIsRefused:
    def make(self, **more: object) -> hg.JoinGroup:
        join = streams()["late"].request("fifo", hg.Budget(rows=1))
        return hg.JoinGroup(**{"budget": hg.Budget(rows=10), "joins": {"a": join}, **more})

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ({"budget": 10}, "give a Budget"),
            ({"budget": hg.Budget(rows=1, memory=4096)}, "one of rows= and memory="),
            ({"budget": hg.Budget(cpu=1)}, "one of rows= and memory="),
            ({"joins": {}}, "needs joins"),
            ({"joins": {"a": "b"}}, "give a WindowJoin"),
            ({"weights": {"b": 1}}, "not a join"),
            ({"measure": "speed"}, 'give "recall" or "error"'),
            ({"measure": "error"}, "errors are those of samples"),
        ],
    )
    def test_groups_that_make_no_sense(self, given: dict[str, object], says: str) -> None:
        with pytest.raises(hg.SpecError, match=says):
            self.make(**given)

    def test_plans_without_what_they_need(self) -> None:
        group = self.make()
        with pytest.raises(hg.SpecError, match="one for each join"):
            group.plan({})
        with pytest.raises(hg.SpecError, match=r"give what hg\.profile"):
            group.plan({"a": "profile"})  # type: ignore[dict-item]
        with pytest.raises(hg.SpecError, match="no formula for the recall of policy FIFO of 'a'"):
            group.plan({"a": profile_of("late")})
        with pytest.raises(hg.SpecError, match="other keys or windows"):
            group.plan({"a": profile_of("keyed")})

    def test_what_was_measured_serves_any_policy(self) -> None:
        """FIFO keeps what comes late to no purpose; a what-if knows how little that is."""
        pair = streams()["late"]
        group = self.make(budget=hg.Budget(rows=500))
        found = hg.whatif(
            *pair.tables, join=group.joins["a"], policies=["fifo", "age"], memory=[500]
        )
        plan = group.plan({"a": found})
        (point,) = found.curve("fifo")
        assert plan.shares["a"].quality == pytest.approx(point.recall)
        assert plan.joins["a"].run(*pair.tables).recall == pytest.approx(point.recall)
        random = hg.JoinGroup(
            budget=hg.Budget(rows=500), joins={"a": pair.request("random", hg.Budget(rows=1))}
        )
        with pytest.raises(hg.SpecError, match="has not tried RANDOM, but AGE, FIFO"):
            random.plan({"a": found})
        auto = hg.JoinGroup(
            budget=hg.Budget(rows=500), joins={"a": pair.request("auto", hg.Budget(rows=1))}
        )
        best = max(point.recall for point in found.points)
        assert auto.plan({"a": found}).shares["a"].quality == pytest.approx(best)

    def test_a_curve_of_ones_own_serves_any_policy(self) -> None:
        plan = self.make().plan({"a": hg.QualityCurve([0, 20], [0.0, 1.0])})
        assert plan.shares["a"].quality == 0.5
