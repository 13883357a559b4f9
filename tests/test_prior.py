"""What "auto" begins with: a policy known to be good, until another is surely better."""

import pytest

import headgate as hg
from headgate.api.profiler import profile
from headgate.policies import Learned
from headgate.studies.auto.band_streams import band_streams
from headgate.studies.streams import Streams, aging, zipf

BY_KEY = zipf(12_000, 120, seed=2, keys=4_000, exponent=0.8, window=20)
BUDGET = hg.Budget(rows=400)


def prior_of(streams: Streams, given: object, budget: hg.Budget = BUDGET) -> str:
    policy = streams.request("auto", budget, prior=given).policy
    assert isinstance(policy, Learned)
    return policy.prior


def test_a_what_if_tells_the_best_policy_for_the_budget() -> None:
    asked = {"join": BY_KEY.request("fifo", hg.Budget(rows=1)), "optimum": False, "jobs": 1}
    found = hg.whatif(*BY_KEY.tables, **asked, policies=["fifo", "prob"], memory=["10 %", "20 %"])
    assert prior_of(BY_KEY, found) == "prob"
    assert prior_of(BY_KEY, found, hg.Budget(memory="1 MB")) == "prob"
    only = hg.whatif(*BY_KEY.tables, **asked, policies=["fifo", "ttl"], memory=["10 %"])
    assert prior_of(BY_KEY, only) == "fifo", "what auto does not try, it does not follow"


def test_a_profile_tells_which_model_did_better_and_lends_its_ages() -> None:
    streams = aging(6_000, 120, window=10, shapes=["falling"], seed=1)
    asked = streams.request("auto", BUDGET)
    seen = profile(*streams.tables, on="key", left=asked.left, right=asked.right)
    assert prior_of(streams, seen) == "age"
    budget = hg.Budget(rows=60)
    begun = streams.request("auto", budget, prior=seen).run(*streams.tables)
    assert "RANDOM" not in begun.followed, "there is a model from the first row on"
    assert begun.stats.pairs > 0.99 * streams.join("auto", budget).stats.pairs


def test_auto_begins_with_what_is_known_to_be_good() -> None:
    streams = band_streams("bursts", rows=6_000, rate=20, seed=3)
    budget = hg.Budget(rows=400)
    begun = streams.request("auto", budget, prior="fifo").run(*streams.tables)
    assert set(begun.followed) == {"FIFO"}
    assert begun.stats.pairs >= streams.join("auto", budget).stats.pairs


def test_a_wrong_prior_is_left_for_a_policy_that_is_better() -> None:
    streams = zipf(60_000, 600, seed=2, keys=20_000, exponent=0.8, window=60)
    budget = hg.Budget(rows=1_500)
    wrong = streams.request("auto", budget, prior="fifo").run(*streams.tables)
    assert wrong.followed["FIFO"] < 0.2 * sum(wrong.followed.values())
    assert wrong.stats.pairs > 0.93 * streams.join("auto", budget).stats.pairs


def test_a_join_prints_what_it_begins_with() -> None:
    assert 'prior="lru"' in repr(BY_KEY.request("auto", BUDGET, prior="LRU"))
    assert "prior" not in repr(BY_KEY.request("auto", BUDGET))


@pytest.mark.parametrize(("policy", "prior"), [("fifo", "prob"), ("auto", "ttl"), ("auto", 3)])
def test_what_auto_cannot_begin_with_is_refused(policy: str, prior: object) -> None:
    with pytest.raises(hg.SpecError, match="prior="):
        BY_KEY.request(policy, BUDGET, prior=prior)
