"""Columns that tell: what is learned from them, when it is used, and what is refused."""

import datetime
import json

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.engine.traits import traits_of
from headgate.learning.class_learning import UNITS, WIDTHS, Lives, grow
from headgate.learning.column_learner import ColumnLearner, Examples, kept_parts
from headgate.models.class_ages import AGES, PARTS
from headgate.models.column_tree import ColumnTree, Node
from headgate.studies.told.told_streams import ToldStream, orders, parcels, unrelated

ROWS = 30_000
SIDE = hg.Side(time="at", window="1 minute")


def lives(traits: list[np.ndarray], matches: np.ndarray, seed: int) -> Lives:
    """Rows that waited for different times, and met as many as such rows do."""
    rng = np.random.default_rng(seed)
    rows = len(traits[0])
    part = rng.random(rows)[:, None] * 1.5
    waited = np.clip(np.floor((part - PARTS) / WIDTHS * UNITS), 0, UNITS)
    met = rng.poisson(matches * WIDTHS * waited / UNITS).astype(float)
    return Lives(np.stack(traits, axis=1).astype(np.float32), met, waited)


def test_a_tree_asks_what_tells_and_nothing_else() -> None:
    rng = np.random.default_rng(1)
    status, price, noise = rng.integers(0, 5, 1500), rng.random(1500), rng.integers(0, 900, 1500)
    rates = np.where((status == 3) & (price > 0.5), 4.0, 0.05)[:, None] * np.ones(AGES)
    grown = grow(lives([status, price, noise], rates, 2), (False, True, False))
    asked = {node.trait for node in grown.tree.nodes}
    assert {0, 1} <= asked
    assert 2 not in asked
    matches = grown.rates @ WIDTHS
    assert matches.max() == pytest.approx(4.0, rel=0.2)
    assert matches.min() < 0.1


def test_a_tree_tells_when_rows_match_where_all_match_alike() -> None:
    rng = np.random.default_rng(3)
    carrier = rng.integers(0, 4, 1500)
    early = (PARTS < 0.3) / 0.3
    late = (PARTS >= 0.7) / 0.3
    grown = grow(lives([carrier], np.where((carrier < 2)[:, None], early, late), 4), (False,))
    assert grown.tree.leaves == 2
    first, second = grown.tree.classes(np.array([[0], [3]], np.float32))
    assert grown.rates[first, 0] > 5 * grown.rates[first, -1]
    assert grown.rates[second, -1] > 5 * grown.rates[second, 0]


@pytest.mark.parametrize("seed", range(5))
def test_where_no_column_tells_no_question_is_asked(seed: int) -> None:
    rng = np.random.default_rng(seed)
    traits = [rng.integers(0, 30, 1500), rng.random(1500)]
    grown = grow(lives(traits, np.full((1500, AGES), 1.0), seed), (False, True))
    assert grown.tree == ColumnTree()


def test_nulls_are_a_category_of_their_own() -> None:
    rng = np.random.default_rng(5)
    price = np.where(rng.random(1500) < 0.3, np.nan, rng.random(1500))
    rates = np.where(np.isnan(price), 3.0, 0.1)[:, None] * np.ones(AGES)
    grown = grow(lives([price], rates, 6), (True,))
    known, unknown = grown.tree.classes(np.array([[0.5], [np.nan]], np.float32))
    assert grown.rates[unknown, 0] > 5 * grown.rates[known, 0]


def test_a_tree_outlives_a_restart() -> None:
    nodes = (
        Node(0, np.nan, (1.0, 7.0), True, (3.0,), left=1, right=2),
        Node(1, -np.inf, others_left=True, left=3, right=4),
        *(Node(-1, leaf=leaf) for leaf in range(3)),
    )
    tree = ColumnTree(nodes)
    again = ColumnTree.of(tree.facts())
    rows = np.array([[1, 0], [3, 0], [9, np.nan], [9, 0]], np.float32)
    assert again.classes(rows).tolist() == tree.classes(rows).tolist() == [2, 0, 1, 2]


def test_examples_are_the_same_however_they_came_together() -> None:
    learner = ColumnLearner((100, 0), ((True,), ()), seed=3)
    rng = np.random.default_rng(7)
    rows = Examples(
        np.zeros(500, np.uint8),
        np.arange(500),
        np.arange(500),
        rng.random((500, 3)).astype(np.float32),
        rng.integers(0, 9, (500, AGES)).astype(np.uint16),
    )
    other = ColumnLearner((100, 0), ((True,), ()), seed=3)
    learner.take_in(rows, 64)
    for first, end in ((0, 10), (10, 300), (300, 500)):
        other.take_in(rows.where(np.arange(first, end)), 64)
    for one, another in zip(learner.examples, other.examples, strict=True):
        assert one.tolist() == another.tolist()


def test_what_columns_tell_outlives_a_restart_unless_other_columns_are_named() -> None:
    learner = ColumnLearner((1000, 0), ((False,), ()), seed=3)
    rng = np.random.default_rng(8)
    status, group = rng.integers(0, 3, 800), rng.integers(0, 16, 800)
    traits = np.stack([status, np.zeros(800), group], axis=1).astype(np.float32)
    met = rng.poisson(np.where(status == 1, 0.4, 0.01)[:, None] * np.ones(AGES))
    rows = Examples(
        *(np.zeros(800, np.uint8), np.arange(800), np.arange(800), traits, met.astype(np.uint16))
    )
    learner.take_in(rows, 400)
    learner.learn(rows.where(np.zeros(800, bool)), 2000, 0.2, 400)
    assert learner.is_used
    kept = json.loads(json.dumps(learner.facts()))
    again = ColumnLearner((1000, 0), ((False,), ()), seed=3)
    again.recall_facts(kept)
    assert again.facts() == learner.facts()
    assert again.trees[0].classes(traits).tolist() == learner.trees[0].classes(traits).tolist()
    other = ColumnLearner((1000, 0), ((True, False), ()), seed=3)
    other.recall_facts(kept)
    assert not other.is_used
    assert not len(other.examples.time)


def test_equal_scores_share_what_is_left() -> None:
    parts = kept_parts(np.array([0.0, 5.0, 0.0]), np.array([4.0, 2.0, 4.0]), 0.4)
    assert parts.tolist() == pytest.approx([0.25, 1.0, 0.25])


def run(stream: ToldStream, policy: str, rows: int, **more: object) -> hg.Outcome:
    left, right = (hg.Side(time="at", window=window) for window in stream.windows)
    join = hg.WindowJoin(
        on="key",
        left=left,
        right=right,
        budget=hg.Budget(rows=rows),
        policy=policy,
        **more,  # type: ignore[arg-type]
    )
    return join.run(stream.left, stream.right)


@pytest.mark.parametrize("policy", ["features", "auto"])
@pytest.mark.parametrize("make", [orders, parcels])
def test_a_column_that_tells_is_used(make: object, policy: str) -> None:
    stream = make(ROWS, 2)  # type: ignore[operator]
    told = run(stream, policy, 300, features=stream.features)
    others = [run(stream, policy, 300).recall for policy in ("prob", "age", "lru", "density")]
    assert told.recall is not None
    assert told.recall > 1.5 * max(recall for recall in others if recall is not None)
    assert told.followed["FEATURES"] > 0.4 * sum(told.followed.values())


@pytest.mark.parametrize("policy", ["features", "auto"])
def test_columns_that_tell_nothing_are_not_used(policy: str) -> None:
    stream = unrelated(ROWS, 3)
    told = run(stream, policy, 600, features=stream.features)
    assert "FEATURES" not in told.followed
    if policy == "auto":
        assert told.stats.pairs > 0.98 * run(stream, "auto", 600).stats.pairs


def test_with_columns_auto_still_tries_the_other_policies() -> None:
    asked = join(policy="auto").policy.learned
    assert asked is not None
    assert asked.watches_columns
    assert "lru" in asked.rivals((SIDE.window, SIDE.window))
    important = join(policy="auto", goal=hg.MaxImportance("status"))
    assert important.policy.asked_name == "features"
    with pytest.raises(hg.SpecError, match="ranks rows by their key, and this join has none"):
        hg.WindowJoin(
            left=SIDE,
            right=SIDE,
            where=hg.Band("v", lower=-1, upper=1),
            budget=hg.Budget(rows=9),
            features=["status"],
        )


def test_without_the_columns_it_goes_by_what_there_is() -> None:
    stream = orders(2_000, 4)
    # So few rows that nothing is learned of columns.
    told = run(stream, "features", 1_000, features=["shop"])
    assert "FEATURES" not in told.followed


def schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema({"k": pa.int64(), "at": pa.timestamp("us"), **columns})


def join(**more: object) -> hg.WindowJoin:
    asked: dict[str, object] = {"features": ["status"], "budget": hg.Budget(rows=10)} | more
    return hg.WindowJoin(on="k", left=SIDE, right=SIDE, **asked)  # type: ignore[arg-type]


VALUES = {
    "text": (pa.string(), "new"),
    "bytes": (pa.binary(), b"new"),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), "new"),
    "truth": (pa.bool_(), True),
    "byte": (pa.int8(), 3),
    "long": (pa.int64(), 1 << 40),
    "float": (pa.float32(), 2.5),
    "decimal": (pa.decimal128(12, 2), 7),
    "date": (pa.date32(), datetime.date(2026, 3, 1)),
    "timestamp": (pa.timestamp("us"), datetime.datetime(2026, 3, 1)),
    "duration": (pa.duration("us"), datetime.timedelta(hours=1)),
    "time": (pa.time64("us"), datetime.time(3)),
}


@pytest.mark.parametrize("name", VALUES)
def test_columns_of_these_types_tell(name: str) -> None:
    kind, value = VALUES[name]
    own = schema(status=kind)
    shape = join().bind((own, schema())).shape
    table = pa.table([[1, 2, 3], [0, 0, 0], [value, None, value]], schema=own)
    known = traits_of(shape, table, 0)
    assert known is not None
    first, null, again = known[:, 0].tolist()
    assert first == again
    assert first != null


@pytest.mark.parametrize("kind", [pa.list_(pa.string()), pa.struct({"a": pa.int8()}), pa.null()])
def test_columns_of_other_types_are_refused(kind: pa.DataType) -> None:
    with pytest.raises(hg.SpecError, match='column "status" of the right side is'):
        join().bind((schema(), schema(status=kind)))


def test_a_column_that_neither_side_has_is_refused() -> None:
    with pytest.raises(hg.SpecError, match='neither side has a column "status": the left side'):
        join().bind((schema(), schema(price=pa.int8())))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"policy": "lru"}, 'policy="lru", which does not look at columns'),
        ({"policy": "features", "features": ()}, "goes by columns of the rows: name them"),
        ({"features": ["a", "a"]}, 'names the column "a" twice'),
        ({"features": list("abcdefghi")}, "names 9 columns: name 8 at most"),
        ({"features": [3]}, "is not accepted: give names"),
        ({"how": "anti"}, 'features=status with how="anti"'),
        ({"goal": hg.Sample()}, "features=status with a sample"),
        ({"budget": hg.Budget(cpu=0.5)}, "features=status with cpu=0.5"),
        ({"right": hg.Side(time="at", window="9 rows")}, "a window is 9 rows"),
    ],
)
def test_what_does_not_go_together_is_refused(more: dict[str, object], message: str) -> None:
    asked: dict[str, object] = {"left": SIDE, "right": SIDE, "budget": hg.Budget(rows=10)}
    with pytest.raises(hg.SpecError, match=message.replace("(", r"\(")):
        hg.WindowJoin(on="k", **(asked | {"features": ["status"]} | more))  # type: ignore[arg-type]


def test_a_plan_is_refused() -> None:
    with pytest.raises(hg.SpecError, match="a plan tries policies on keys and times alone"):
        join().plan(None)  # type: ignore[arg-type]


def test_a_semi_join_reads_columns_that_tell() -> None:
    names = ["k", "at", "status", "note"]
    assert join(how="semi").needed(1, names) == ["k", "at", "status"]


@pytest.mark.parametrize("how", ["left", "right", "full", "semi"])
def test_all_but_anti_joins_take_columns_that_tell(how: str) -> None:
    stream = orders(2 * ROWS, 5)
    made = run(stream, "features", 400, features=stream.features, how=how)
    assert made.followed["FEATURES"] > 0
