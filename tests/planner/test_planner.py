"""Plans: each rule decides either way, and what is promised is what then happens."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import headgate as hg
from headgate.models import LinearTrend
from headgate.models.cost import Calibration, Weight, Weights, WorkCost
from headgate.planner.rules.sampling import EQ, PPS, UNIFORM
from headgate.planner.rules.shards import MUCH
from headgate.planner.tried_policies import foretold
from headgate.policies import Age, Fifo, Heeb, Learned, Life, Lru, Prob, Random
from headgate.policies.offline import Opt
from headgate.studies.planned.streams import WINDOW_S, pieces
from headgate.studies.streams import Streams, keyed, zipf
from tests.planner.planned_joins import SECONDS, planned, profile_of


class TestPolicy:
    def test_rows_that_match_at_some_age_are_kept_by_age(self, by_age: Any) -> None:
        plan = planned(by_age)
        assert isinstance(plan.policy, Age)
        assert plan.policy.curves == by_age[1].ages
        assert plan.model.name == "age"

    def test_rows_that_match_by_key_are_kept_by_key(self, by_key: Any) -> None:
        plan = planned(by_key)
        assert isinstance(plan.policy, Prob | Life)
        assert plan.policy.frequencies.left is by_key[1].frequencies.left
        assert plan.model.name == "frequency"

    def test_auto_is_told_of_where_only_a_sample_of_the_keys_was_kept(self, by_key: Any) -> None:
        streams, _ = by_key
        sampled = profile_of(streams, most_rows=10_000)
        assert not sampled.trace.is_whole
        plan = planned((streams, sampled))
        best = max(plan.expect.recall, *plan.rejected.values())
        assert 0.5 * best < plan.rejected["AUTO"] <= best
        assert "AUTO" in plan.explain()

    def test_values_that_move_are_followed(self) -> None:
        streams = pieces("trends", SECONDS, seed=5).first
        plan = planned((streams, profile_of(streams)), 0.05)
        assert isinstance(plan.policy, Heeb)
        assert plan.model.name == "process"
        assert isinstance(plan.policy.left, LinearTrend)

    def test_the_simplest_is_taken_where_nothing_tells_rows_apart(self, evenly: Any) -> None:
        plan = planned(evenly)
        assert isinstance(plan.policy, Fifo | Random | Lru)
        assert plan.model.name == "none"

    def test_what_was_asked_for_is_kept_and_the_others_are_told(self, by_age: Any) -> None:
        plan = planned(by_age, policy="fifo")
        assert plan.policy == Fifo()
        assert plan.rejected["AGE"] > plan.expect.recall
        assert "AGE" in plan.explain()
        assert "(not asked for)" in plan.explain()

    def test_a_policy_asked_for_by_name_gets_its_model(self, by_key: Any) -> None:
        plan = planned(by_key, policy="age")
        assert isinstance(plan.policy, Age)

    def test_with_room_for_all_it_adapts_when_more_comes(self, by_age: Any) -> None:
        plan = planned(by_age, 2.0)
        assert isinstance(plan.policy, Learned)
        assert plan.expect.recall == 1.0
        assert "all rows need" in plan.explain()

    def test_models_are_not_judged_on_what_they_were_learned_from(self) -> None:
        """Rows of keys that come once look foreseeable to whoever has seen them."""
        streams = pieces("bell", 15.0, seed=5).first
        plan = planned((streams, profile_of(streams)))
        assert not {"AGE", "PROB", "LIFE"} & {plan.policy.label, *plan.rejected}
        assert "less than two windows" in plan.explain()
        asked = planned((streams, profile_of(streams)), policy="age")
        assert "which flatters it" in asked.explain()

    def test_an_offline_plan_is_no_policy_to_plan_with(self, by_age: Any) -> None:
        streams, found = by_age
        few = Streams(streams.left.slice(0, 100), streams.right.slice(0, 100), streams.windows)
        opt = Opt.for_join(few.request("fifo", hg.Budget(rows=5)), *few.tables)
        with pytest.raises(hg.SpecError, match="is itself a plan"):
            streams.request(opt, hg.Budget(rows=50)).plan(found)

    def test_importance_is_left_to_the_join(self, by_age: Any) -> None:
        streams, found = by_age
        goal = hg.MaxImportance(left="key")
        plan = streams.request("auto", hg.Budget(rows=50), goal=goal).plan(found)
        assert plan.expect.recall is None
        assert "cannot be predicted" in plan.explain()
        assert plan.join.goal == goal


class TestExpectation:
    @pytest.mark.parametrize("kind", ["bell", "Zipf, direct", "drifting"])
    def test_the_next_piece_falls_within_the_interval(self, kind: str) -> None:
        both = pieces(kind, SECONDS, seed=8)
        plan = planned((both.first, profile_of(both.first)))
        reached = plan.join.run(*both.second.tables).recall
        assert plan.expect.low <= reached <= plan.expect.high
        assert plan.expect.high - plan.expect.low < 0.3

    def test_a_policy_without_a_model_is_expected_to_do_as_it_did(self, by_age: Any) -> None:
        streams, _ = by_age
        plan = planned(by_age, policy="fifo")
        assert plan.expect.recall == pytest.approx(plan.join.run(*streams.tables).recall)

    def test_what_varies_in_time_widens_the_interval(self) -> None:
        met = np.full(32, 100.0)
        calm = foretold(np.full(32, 50.0), met)
        restless = foretold(np.where(np.arange(32) % 8 < 4, 30.0, 70.0), met)
        assert restless.high - restless.low > 5 * (calm.high - calm.low)

    def test_drawn_keys_widen_the_interval(self) -> None:
        met = np.full(32, 100.0)
        assert foretold(met / 2, met, of_keys=0.1).high == pytest.approx(0.6, abs=0.001)

    def test_a_stream_has_the_room_of_a_run(self, by_age: Any) -> None:
        streams, found = by_age
        join = streams.request("age", hg.Budget(memory="30 kB"))
        assert join.plan(found, live=True).expect.recall == join.plan(found).expect.recall

    def test_what_the_exact_join_needs_is_said(self, by_age: Any) -> None:
        plan = planned(by_age)
        assert plan.expect.rows == by_age[1].stored_rows.rows
        assert plan.expect.bytes == pytest.approx(by_age[1].stored_rows.bytes)

    def test_without_rows_it_follows_from_the_model(self, by_age: Any, by_key: Any) -> None:
        for given, kind in ((by_age, Age), (by_key, Prob)):
            bare = replace(given[1], trace=None)
            plan = planned((given[0], bare))
            assert isinstance(plan.policy, kind)
            assert plan.expect.low is None
            assert "has no rows to try policies on" in plan.explain()
            tried = planned(given, policy=kind.name).expect.recall
            assert plan.expect.recall == pytest.approx(tried, abs=0.15)


class TestSplit:
    def test_pooled_unless_asked_to_plan(self, by_key: Any) -> None:
        assert planned(by_key).splits == ()

    def test_pooled_where_no_split_does_better(self, evenly: Any) -> None:
        plan = planned(evenly, split="planned", policy="random")
        assert plan.split == "pooled"
        assert len(plan.splits) > 2
        assert plan.join.budget.split == "pooled"

    def test_a_split_where_the_policy_cannot_tell_the_sides_apart(self) -> None:
        """Left rows match often, right rows never, and RANDOM keeps them alike."""
        random = np.random.default_rng(3)
        left, right = (np.sort(random.uniform(0, SECONDS, 8_000)) for _ in range(2))
        late = np.minimum(np.searchsorted(left, right - 5), 7_999)
        streams = keyed((np.arange(8_000), late), (left, right), (WINDOW_S, WINDOW_S))
        plan = planned((streams, profile_of(streams)), split="planned", policy="random")
        assert isinstance(plan.split, tuple)
        assert plan.split[0] > plan.split[1]
        pooled = next(one for one in plan.splits if one.split == "pooled")
        assert plan.expect.recall > pooled.recall

    def test_a_join_with_a_split_to_be_planned_does_not_run(self, by_key: Any) -> None:
        streams, _ = by_key
        join = streams.request("fifo", hg.Budget(rows=10, split="planned"))
        with pytest.raises(hg.SpecError, match=r"join\.plan\(profile\)\.join"):
            join.run(*streams.tables)

    def test_what_was_planned_runs(self, by_key: Any) -> None:
        plan = planned(by_key, split="planned")
        assert plan.join.run(*by_key[0].tables).stats.peak_rows > 0


class TestIndex:
    def test_chains_unless_the_machine_was_measured(self, by_key: Any) -> None:
        plan = planned(by_key)
        assert plan.join.index is None
        assert "hash index" in plan.explain()

    def test_the_cheapest_where_it_was(self, by_key: Any) -> None:
        work = WorkCost(update=5e-8, produce=2e-8, arrive=2e-7)
        dear, cheap = Weight(1.0, 1.0), Weight(1e-9, 1e-9)
        Calibration(Weights({"hash": dear, "btree": cheap}), work, work).save()
        plan = planned(by_key)
        assert [index.value for index in plan.join.index] == ["btree", "btree"]
        assert "btree index" in plan.explain()

    def test_as_asked_for(self, by_key: Any) -> None:
        assert "ttree index" in planned(by_key, index="ttree").explain()


class TestShards:
    def test_many_where_keys_are_even(self, evenly: Any) -> None:
        shards = planned(evenly).shards
        assert shards.most >= 8
        assert shards.fullest[2] < 1.1

    def test_few_where_one_key_has_it_all(self) -> None:
        streams = zipf(8_000, 60, seed=1, keys=50, exponent=3.0)
        streams = Streams(streams.left, streams.right, (10, 10))
        plan = planned((streams, profile_of(streams)))
        assert plan.shards.most == 1
        assert plan.shards.fullest[2] > MUCH
        assert "heavy keys fill one" in plan.explain()

    def test_the_number_asked_for_is_judged(self, evenly: Any) -> None:
        streams, found = evenly
        plan = streams.request("fifo", hg.Budget(rows=100)).plan(found, shards=3)
        assert "3: the fullest would have" in plan.explain()
        with pytest.raises(hg.SpecError, match="shards=0"):
            streams.request("fifo", hg.Budget(rows=100)).plan(found, shards=0)


class TestSampling:
    def test_rows_that_match_alike_are_sampled_alike(self, by_age: Any) -> None:
        plan = planned(by_age, goal=hg.Sample())
        assert plan.sampling.scheme in (EQ, UNIFORM)
        assert plan.sampling.tried[EQ] < plan.sampling.tried[PPS]

    def test_keys_that_match_more_are_sampled_more(self, by_key: Any) -> None:
        plan = planned(by_key, goal=hg.Sample("cluster"))
        assert plan.sampling.scheme == PPS
        assert plan.join.policy.label == "PPS-CLUSTER"
        assert plan.model.name == "frequency"

    def test_a_uniform_sample_gets_its_fraction_from_any_budget(self, by_age: Any) -> None:
        streams, found = by_age
        goal = hg.Sample("uniform", fraction=0.01)
        join = streams.request(
            "auto", hg.Budget(memory="20 kB"), goal=goal, ages=found.ages, rates=found.rates
        )
        plan = join.plan(found)
        assert plan.sampling.scheme == UNIFORM
        assert plan.join.goal.fraction == 0.01

    @pytest.mark.parametrize("kind", ["Zipf, uncorrelated", "bell"])
    def test_a_count_is_off_by_no_more_than_expected(self, kind: str) -> None:
        streams = pieces(kind, SECONDS, seed=5).first
        plan = planned((streams, profile_of(streams)), goal=hg.Sample("cluster"))
        truth = plan.profile.pairs.count
        off = []
        for seed in range(20):
            join = streams.request(
                "auto",
                plan.join.budget,
                goal=plan.goal,
                seed=seed,
                frequencies=plan.join.policy.frequencies if plan.sampling.scheme == PPS else None,
                rates=plan.join.rates,
            )
            off.append(hg.estimate.count(join.run(*streams.tables).pairs).estimate / truth - 1)
        assert np.mean(np.abs(off) <= plan.expect.error) >= 0.8
        assert np.std(off) > plan.expect.error / 6


class TestEffort:
    def test_nothing_is_skipped_where_there_is_time(self, by_key: Any) -> None:
        streams, found = by_key
        plan = streams.request("auto", hg.Budget(cpu=0.9)).plan(found)
        assert plan.effort.plan is None
        assert plan.expect.recall == 1.0
        assert plan.expect.cores < 0.9

    def test_rows_are_not_stored_where_there_is_not(self, by_key: Any) -> None:
        streams, found = by_key
        plan = streams.request("auto", hg.Budget(cpu=0.0002)).plan(found)
        assert plan.effort.plan is not None
        assert plan.effort.plan.shares(0)[1] < 1.0
        assert 0.0 < plan.expect.recall < 1.0
        assert plan.expect.low is None
        assert "the whole join would take" in plan.explain()
        assert plan.join.budget.cpu == 0.0002


class TestStreamsThatAreNotTheJoins:
    def join(self, **more: Any) -> hg.WindowJoin:
        given = {
            "on": "key",
            "left": hg.Side(time="lt", window="10 seconds"),
            "right": hg.Side(time="rt", window="0 seconds"),
            "budget": hg.Budget(rows=50),
        }
        return hg.WindowJoin(**{**given, **more})

    @pytest.mark.parametrize(
        ("more", "said"),
        [
            ({"on": "other"}, "the join is on other = other and the profile on key = key"),
            ({"left": hg.Side("t", "10 seconds")}, 'has the time column "t" and the profile'),
            ({"left": hg.Side("lt", "11 seconds")}, "nothing is known beyond it"),
            ({"left": hg.Side("lt", "9 rows")}, "covers windows in time"),
            ({"where": hg.Compare("x", "<")}, "a profile knows keys only"),
        ],
    )
    def test_are_refused(self, by_age: Any, more: dict[str, Any], said: str) -> None:
        with pytest.raises(hg.SpecError, match=said):
            self.join(**more).plan(by_age[1])

    def test_so_is_what_is_no_profile(self) -> None:
        with pytest.raises(hg.SpecError, match=r"what hg\.profile"):
            self.join().plan("profile.json")  # type: ignore[arg-type]

    def test_shorter_windows_are_looked_at_anew(self, by_age: Any) -> None:
        streams, found = by_age
        side = hg.Side(time="lt", window="5 seconds")
        shorter = self.join(left=side, policy="fifo").plan(found)
        again = hg.profile(*streams.tables, on="key", left=side, right=hg.Side("rt", "0 seconds"))
        assert shorter.expect.rows == pytest.approx(again.stored_rows.rows, rel=0.02)
        assert (
            shorter.expect.recall == self.join(left=side, policy="fifo").plan(again).expect.recall
        )
        with pytest.raises(hg.SpecError, match="no rows to look at shorter ones"):
            self.join(left=side).plan(replace(found, trace=None))


class TestWhatIsShown:
    def test_the_tree_has_a_line_for_everything(self, by_age: Any) -> None:
        lines = planned(by_age).explain().splitlines()
        assert lines[0].startswith("MaxSubset within ")
        assert [line[:2] for line in lines[1:]] == ["├─"] * (len(lines) - 2) + ["└─"]
        names = [line.split()[1] for line in lines[1:]]
        assert names == ["model", "left", "right", "shards", "rejected", "cost", "expect", "use"]
        assert "right    not stored (window 0)" in lines[3]
        assert "; FIFO would reach 0." in lines[-2]
        assert "plan.join.stream(left, right)" in lines[-1]

    def test_memory_is_told_in_rows(self, by_age: Any) -> None:
        streams, found = by_age
        plan = streams.request("auto", hg.Budget(memory="30 kB")).plan(found)
        assert " rows of " in plan.explain().splitlines()[0]

    def test_a_notebook_shows_the_same(self, by_age: Any) -> None:
        plan = planned(by_age)
        shown = plan._repr_html_()
        for name in ("model", "left", "rejected", "expect"):
            assert f">{name}</th>" in shown
        assert shown.count("<tr>") == len(plan.explain().splitlines()) - 1

    def test_json_says_what_was_decided(self, by_age: Any) -> None:
        plan = planned(by_age)
        told = json.loads(plan.to_json())
        assert told["policy"] == "AGE"
        assert told["expect"]["recall"] == plan.expect.recall
        assert told["rejected"] == plan.rejected

    def test_a_plan_from_a_saved_profile_is_the_same(self, by_key: Any) -> None:
        streams, found = by_key
        kept = hg.Profile.from_json(found.to_json())
        assert planned((streams, kept)).explain() == planned(by_key).explain()
