"""Window indexes: whatever a window is kept in, the answer is the same; the trees stay trees."""

from bisect import insort
from collections.abc import Iterator
from dataclasses import replace
from random import Random as Dice
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headgate as hg
from headgate.kernel import step as step_module
from headgate.kernel.index_choice import parse_index
from headgate.kernel.probe import btree, buckets, scan, ttree
from headgate.kernel.probe.index import IndexEntry, Look
from headgate.kernel.terms import Terms
from headgate.kernel.twin.twin import Twin
from headgate.models.cost.structure import Structure
from headgate.policies import Fifo, Heeb, Ijoin, Life, Lru, Policy, Prob, Random
from headgate.sampling import PpsCluster, Uniform
from headgate.spec import SpecError, TimeWindow
from tests.checks.arrivals import Case
from tests.checks.generated import cases, cuts, deliveries, watchings
from tests.checks.runs import EVERY_ROW, count_pairs, run
from tests.thoroughness import examples

POLICIES: tuple[type[Policy], ...] = (
    Fifo,
    Random,
    Prob,
    Life,
    Lru,
    Ijoin,
    Heeb,
    PpsCluster,
    Uniform,
)
"""One of each kind of score, and the samples."""
PAIRS_OF_INDEXES = [(left, right) for left in Structure for right in Structure]
careful = examples(15)


def kept_in(case: Case, left: Structure, right: Structure, node: int, bucket: int) -> Case:
    """The same join with other indexes."""
    terms = replace(case.terms, indexes=(left, right), node_rows=node, bucket_rows=bucket)
    return replace(case, terms=terms)


small_layouts = st.tuples(st.sampled_from((2, 3, 4, 7)), st.sampled_from((1, 2, 5)))
"""Nodes and buckets of a few rows, so that trees of few rows have levels, splits and merges."""


class TestTheAnswerDoesNotDependOnTheIndex:
    """Against the plain-Python twin, which has no index, and the kernel's usual ones."""

    @pytest.mark.parametrize("indexes", PAIRS_OF_INDEXES, ids=lambda pair: "-".join(map(str, pair)))
    @careful
    @given(data=st.data())
    def test_every_pair_of_indexes_agrees_with_plain_python(
        self, indexes: tuple[Structure, Structure], data: st.DataObject
    ) -> None:
        case = data.draw(cases(data.draw(st.sampled_from(POLICIES))))
        parts, watching = data.draw(cuts(case)), data.draw(watchings)
        other = kept_in(case, *indexes, *data.draw(small_layouts))
        made, plain = (
            run(other, parts, watching=watching),
            run(case, parts, engine=Twin, watching=watching),
        )
        for step, twin in zip(made.steps, plain.steps, strict=True):
            assert sorted(step.pairs) == sorted(twin.pairs)
            assert step.alive == twin.alive
            assert step.watched == twin.watched
            assert step.ages == twin.ages
            assert step.histories == twin.histories

    @careful
    @given(data=st.data())
    def test_rows_that_come_late_are_found_in_every_index(self, data: st.DataObject) -> None:
        case = data.draw(cases(data.draw(st.sampled_from((Fifo, Random, Lru)))))
        parts = data.draw(deliveries(case))
        usual = run(case, parts, keep_late=True, watching=EVERY_ROW)
        for indexes in ((index, index) for index in Structure):
            other = kept_in(case, *indexes, *data.draw(small_layouts))
            made = run(other, parts, keep_late=True, watching=EVERY_ROW)
            assert sorted(made.pairs) == sorted(usual.pairs)
            assert [step.watched for step in made.steps] == [step.watched for step in usual.steps]

    @examples(12)
    @given(data=st.data())
    def test_a_probe_that_finds_the_buffer_full_is_made_again(self, data: st.DataObject) -> None:
        case = data.draw(cases(Fifo))
        usual = run(case, watching=EVERY_ROW)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(step_module, "PAIRS_AT_ONCE", 1)
            for left, right in zip(Structure, reversed(list(Structure)), strict=True):
                made = run(kept_in(case, left, right, 3, 2), watching=EVERY_ROW)
                assert sorted(made.pairs) == sorted(usual.pairs)
                assert made.steps[0].watched == usual.steps[0].watched

    @examples(12)
    @given(data=st.data())
    def test_pairs_are_counted_alike(self, data: st.DataObject) -> None:
        case = data.draw(cases(Fifo)).with_ample_memory()
        counted = count_pairs(case)
        for left, right in zip(Structure, reversed(list(Structure)), strict=True):
            assert count_pairs(kept_in(case, left, right, 3, 2)) == counted


def entries_of_btree(tree: btree.BTree, side: int) -> list[int]:
    """A B+tree's entries in order; raises unless it is one."""
    most = tree.keys.shape[2] - 1
    root, height, used, _ = tree.state[side].tolist()
    leaves: list[int] = []
    entries: list[int] = []

    def walk(node: int, level: int, low: int, high: int) -> None:
        count = int(tree.counts[side, node])
        keys = tree.keys[side, node, :count].tolist()
        assert keys == sorted(set(keys))
        assert all(low <= key < high for key in keys)
        assert count <= most
        assert node == root or count >= most // 2
        if level == height:
            leaves.append(node)
            entries.extend(keys)
            return
        ends = [low, *keys, high]
        for place in range(count + 1):
            walk(int(tree.links[side, node, place]), level + 1, ends[place], ends[place + 1])

    walk(root, 0, -1, 1 << 62)
    assert [int(tree.links[side, leaf, 0]) for leaf in leaves] == [*leaves[1:], -1]
    assert used <= tree.keys.shape[1]
    return entries


def entries_of_ttree(tree: ttree.TTree, side: int) -> list[int]:
    """A T-tree's entries in order; raises unless it is one."""
    most = tree.keys.shape[2]
    entries: list[int] = []

    def walk(node: int, parent: int) -> int:
        if node == -1:
            return 0
        own = tree.nodes[side, node]
        assert own["parent"] == parent
        assert 1 <= own["count"] <= most
        below = walk(int(own["left"]), node)
        entries.extend(tree.keys[side, node, : own["count"]].tolist())
        above = walk(int(own["right"]), node)
        assert abs(below - above) <= 1
        assert own["height"] == 1 + max(below, above)
        assert not (below and above) or own["count"] >= most // 2
        return 1 + max(below, above)

    walk(int(tree.state[side, 0]), -1)
    assert entries == sorted(set(entries))
    assert tree.state[side, 1] <= tree.keys.shape[1]
    return entries


TREES: tuple[tuple[Any, Any, Any], ...] = (
    (btree, btree.empty_btree, entries_of_btree),
    (ttree, ttree.empty_ttree, entries_of_ttree),
)
MOST = 300


@pytest.mark.parametrize(("module", "empty", "entries"), TREES, ids=("btree", "ttree"))
@pytest.mark.parametrize("node", [2, 3, 4, 5, 8])
class TestTrees:
    """Against a sorted list, through growth, decline and growth again."""

    def test_stay_balanced_half_full_and_in_order(
        self, module: Any, empty: Any, entries: Any, node: int
    ) -> None:
        dice, tree, listed = Dice(node), empty(MOST, node), list[int]()
        rows = iter(range(1 << 20))
        found = np.zeros(MOST, np.int64)
        for turn in range(1800):
            wanted = 0.7 if (turn // 400) % 2 == 0 else 0.25
            if dice.random() < wanted and len(listed) < MOST:
                group, row = dice.randrange(50), next(rows)
                insort(listed, group << 32 | row)
                module.enter(tree, np.int64(1), np.int64(group), np.int64(row))
            elif listed:
                entry = listed.pop(dice.randrange(len(listed)))
                group, row = entry >> 32, entry & 0xFFFFFFFF
                module.leave(tree, np.int64(1), np.int64(group), np.int64(row))
            if turn % 5 == 0:
                assert entries(tree, 1) == listed
                first = dice.randrange(50)
                end = dice.randrange(first, 51)
                args = (np.int64(1), np.int64(first), np.int64(end), found, np.int64(0))
                expected = [e & 0xFFFFFFFF for e in listed if first <= e >> 32 < end]
                assert found[: module.find(tree, *args)].tolist() == expected
        assert entries(tree, 0) == []

    def test_have_room_for_the_worst_order(
        self, module: Any, empty: Any, entries: Any, node: int
    ) -> None:
        for order in (range(MOST), range(MOST - 1, -1, -1), _inwards(MOST)):
            tree, listed = empty(MOST, node), []
            for row, group in enumerate(order):
                module.enter(tree, np.int64(0), np.int64(group), np.int64(row))
                listed.append((group, row))
            assert entries(tree, 0) == sorted(group << 32 | row for group, row in listed)
            for group, row in listed:
                module.leave(tree, np.int64(0), np.int64(group), np.int64(row))
            assert entries(tree, 0) == []


def _inwards(count: int) -> Iterator[int]:
    """From both ends in turns, to the middle."""
    for place in range(count):
        yield place // 2 if place % 2 == 0 else count - 1 - place // 2


def test_a_scan_reads_little_more_than_the_rows_that_are_there() -> None:
    window = scan.empty_scan(4000, 4000)
    for row in range(4000):
        scan.enter(window, np.int64(0), np.int64(row % 7), np.int64(row))
    dice = Dice(1)
    for row in dice.sample(range(4000), 3900):
        scan.leave(window, np.int64(0), np.int64(row))
        first, end, live = window.state[0].tolist()
        assert live <= end - first <= 2 * live + int(scan.FEW)


def test_a_bucket_forgets_the_rows_that_left() -> None:
    window, found = buckets.empty_buckets((1, 1), 50), np.zeros(50, np.int64)
    for row in range(50):
        buckets.enter(window, IndexEntry(0, row % 5, row % 5, row, row))
    for row in range(40):
        buckets.leave(window, row)
    threes = Look(side=0, code=3, first=3, end=4, reach=0)
    assert buckets.find(window, threes, found, 0) == 2
    assert found[:2].tolist() == [48, 43]
    assert window.links["older"][40] == -1


def streams() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two small streams with keys that collide, and prices."""
    rng = np.random.default_rng(4)
    start = pd.Timestamp("2026-01-01")
    return tuple(
        pd.DataFrame(
            {
                "key": rng.integers(0, 20, 200),
                "price": rng.integers(0, 50, 200),
                "at": start + pd.to_timedelta(np.arange(200), unit="s"),
            }
        )
        for _ in range(2)
    )


def join_of(**more: Any) -> hg.WindowJoin:
    side = hg.Side(time="at", window="20 seconds")
    return hg.WindowJoin(left=side, right=side, budget=hg.Budget(rows=25), policy="fifo", **more)


@pytest.mark.parametrize(
    "asked",
    [
        {"on": "key"},
        {"on": "key", "where": hg.Band("price", lower=-5, upper=5)},
        {"where": hg.Compare("price", "!=")},
    ],
    ids=("keys", "keys and band", "comparison"),
)
def test_a_join_takes_any_index_by_name(asked: dict[str, Any]) -> None:
    left, right = streams()
    names = ["scan", "btree", "ttree", "bitmap", *(["hash"] if "on" in asked else [])]
    expected = join_of(**asked).run(left, right).pairs.to_pandas()
    by_row = list(expected.columns)
    for name in names:
        for index in (name, (name, "btree"), ("scan", name)):
            got = join_of(**asked, index=index).run(left, right).pairs.to_pandas()
            assert (
                got.sort_values(by_row)
                .reset_index(drop=True)
                .equals(expected.sort_values(by_row).reset_index(drop=True))
            )


@pytest.mark.parametrize("given", ["rtree", ("hash",), ("hash", "tree"), ("hash", 3), 7])
def test_an_unknown_index_is_refused_by_name(given: Any) -> None:
    with pytest.raises(SpecError, match='give "auto", one of "scan"'):
        join_of(on="key", index=given)


def test_hashing_needs_keys() -> None:
    with pytest.raises(SpecError, match='index="hash" needs keys'):
        join_of(where=hg.Compare("price", "<"), index=("bitmap", "hash"))


def test_indexes_are_chosen_unless_told() -> None:
    assert parse_index("auto") is None
    assert join_of(on="key").index is None
    assert join_of(on="key", index="ttree").index == (Structure.TTREE, Structure.TTREE)


def test_nodes_too_small_are_refused() -> None:
    with pytest.raises(ValueError, match="nodes hold 2 rows or more"):
        Terms((TimeWindow(1), TimeWindow(1)), Fifo(), node_rows=1)
