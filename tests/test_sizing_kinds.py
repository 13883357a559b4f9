"""Plans and what-ifs of outer, semi and anti joins: what they foretell is what comes out."""

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.spec import SpecError

KINDS = ("left", "right", "full", "semi", "anti")
SIDES = {
    "left": hg.Side(time="ordered_at", window="30 seconds"),
    "right": hg.Side(time="paid_at", window="0 seconds"),
}


def orders(rows: int, seed: int = 1) -> tuple[pa.Table, pa.Table]:
    """Orders of customers, a few of whom never pay, and payments some seconds later."""
    rng = np.random.default_rng(seed)
    at = np.sort(rng.integers(0, rows * 10_000, rows)) + 10**15
    paid = rng.random(rows) < 0.8
    late = at[paid] + (rng.exponential(4.0, paid.sum()) * 1e6).astype(np.int64)
    order = np.arange(rows)
    return (
        pa.table({"order": order, "ordered_at": pa.array(at, pa.timestamp("us"))}),
        pa.table({"order": order[paid], "paid_at": pa.array(late, pa.timestamp("us"))}),
    )


def joined(how: str, budget: hg.Budget, policy: str = "auto") -> hg.WindowJoin:
    return hg.WindowJoin(on="order", how=how, **SIDES, budget=budget, policy=policy)


@pytest.fixture(scope="module")
def tables() -> tuple[pa.Table, pa.Table]:
    return orders(8_000)


@pytest.mark.parametrize("how", KINDS)
def test_a_what_if_says_what_a_run_makes(how: str, tables: tuple[pa.Table, pa.Table]) -> None:
    """With a monitor as a stream has it; in process RANDOM spends that memory on rows."""
    found = hg.whatif(
        *tables, on="order", how=how, **SIDES, policies=["random", "age"], memory=[250]
    )
    assert f"{how.capitalize()} join on order" in str(found)
    assert "OPT" not in found.policies
    for point in found.points:
        budget = hg.Budget(rows=point.rows, monitor=0.05 if point.policy == "RANDOM" else None)
        recall = joined(how, budget, point.policy.lower()).run(*tables).recall
        assert point.recall == pytest.approx(recall, abs=0.02)


def test_memory_for_nine_tenths_of_the_alerts(tables: tuple[pa.Table, pa.Table]) -> None:
    found = hg.whatif(*tables, on="order", how="anti", **SIDES, policies=["prob", "fifo"])
    memory = found.memory_for(0.9, "prob")
    assert memory is not None
    assert memory.rows < found.needs.rows
    outcome = found.join(0.9, "prob").run(*tables)
    assert outcome.recall == outcome.recall_unmatched >= 0.9
    assert found.memory_for(0.9, "fifo").rows > memory.rows
    assert 'how="anti"' in str(found)


def test_needs_of_an_anti_join_are_those_of_rows_that_still_wait(
    tables: tuple[pa.Table, pa.Table],
) -> None:
    needs = {
        how: hg.whatif(*tables, on="order", how=how, **SIDES, policies=["fifo"], memory=["10 %"])
        for how in ("inner", "anti")
    }
    assert needs["anti"].needs.rows < 0.5 * needs["inner"].needs.rows
    exact = joined("anti", hg.Budget(rows=1 << 40)).run(*tables).stats.peak_rows
    assert needs["anti"].needs.rows == exact


@pytest.mark.long
@pytest.mark.parametrize("how", ["left", "semi", "anti"])
def test_a_sample_of_the_keys_tells_nearly_the_same(how: str) -> None:
    """Tolerances set after seeing how far a peak of 200 drawn rows is off (0.12)."""
    tables = orders(80_000)
    asked = {"on": "order", "how": how, **SIDES, "policies": ["prob", "random"], "memory": [200]}
    whole, part = hg.whatif(*tables, **asked), hg.whatif(*tables, **asked, share=0.2)
    assert part.needs.rows == pytest.approx(whole.needs.rows, rel=0.15)
    for exact, sampled in zip(whole.points, part.points, strict=True):
        assert exact.recall == pytest.approx(sampled.recall, abs=0.04)


@pytest.mark.parametrize("how", ["left", "semi", "anti"])
def test_a_plan_foretells_the_kinds_own_recall(how: str, tables: tuple[pa.Table, pa.Table]) -> None:
    profile = hg.profile(*tables, on="order", **SIDES)
    plan = joined(how, hg.Budget(rows=200)).plan(profile)
    told = plan.explain()
    assert told.startswith(f"MaxSubset of {'an' if how == 'anti' else 'a'} {how} join within 200")
    assert ("LRU" in told) == (how != "anti")
    assert plan.join.how == how
    later = orders(8_000, seed=2)
    assert plan.expect.recall == pytest.approx(plan.join.run(*later).recall, abs=0.08)


def test_what_knows_pairs_alone_says_so(tables: tuple[pa.Table, pa.Table]) -> None:
    with pytest.raises(SpecError, match=r"a what-if of a checkpoint estimates pairs only"):
        hg.whatif(checkpoint="there", join=joined("left", hg.Budget(rows=9)))
    with pytest.raises(SpecError, match=r'how="anti" with policy "lru", which keeps rows'):
        hg.whatif(*tables, on="order", how="anti", **SIDES, policies=["lru"])
