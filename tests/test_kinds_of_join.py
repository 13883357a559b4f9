"""Outer, semi and anti joins in process: exact with ample memory, and truthful without."""

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.learning import room
from headgate.policies import make_policy
from headgate.spec import How, SpecError
from headgate.spec.budget import RESERVE
from tests.kinds_of_join import (
    KINDS,
    OUTER,
    SHAPES,
    START_US,
    Shape,
    as_numbers,
    both_sides,
    by_duckdb,
)
from tests.thoroughness import LONG
from tests.ways import POLICIES

SEEDS = range(20 if LONG else 2)


@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_with_ample_memory_the_result_is_duckdbs(shape: object, how: str) -> None:
    for seed in SEEDS:
        left, right = both_sides(seed)
        for sides in ((left, right), (left.slice(0, 0), right), (left, right.slice(0, 0))):
            outcome = shape.join(how).run(*sides)
            exact = by_duckdb(shape, how, *sides)
            assert as_numbers(outcome.pairs) == exact
            assert outcome.recall == outcome.recall_matched == outcome.recall_unmatched == 1.0
            assert outcome.stats.pairs == exact.total()
            alone = sum(count for pair, count in exact.items() if None in pair)
            assert outcome.stats.unmatched == (0 if how == "semi" else alone)
            assert outcome.stats.undecided == 0


KEYS = {
    "text": lambda keys: keys.cast(pa.string()),
    "bytes": lambda keys: keys.cast(pa.string()).cast(pa.binary()),
    "real": lambda keys: keys.cast(pa.float64()),
    "decimal": lambda keys: keys.cast(pa.decimal128(24, 2)),
    "date": lambda keys: keys.cast(pa.int32()).cast(pa.date32()),
    "time": lambda keys: keys.cast(pa.timestamp("us", "UTC")),
    "boolean": lambda keys: pa.compute.less(keys, 4),
    "list": lambda keys: pa.array([None if key is None else [key, 1] for key in keys.to_pylist()]),
}


@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("kind", KEYS)
def test_keys_of_other_types_are_joined_as_by_duckdb(kind: str, how: str) -> None:
    left, right = (
        table.set_column(0, table.column_names[0], KEYS[kind](table.column(0).combine_chunks()))
        for table in both_sides(5)
    )
    shape = SHAPES["both wait"]
    assert as_numbers(shape.join(how).run(left, right).pairs) == by_duckdb(shape, how, left, right)


@pytest.mark.parametrize("policy", [name for name in POLICIES if name != "opt"])
def test_under_pressure_no_certain_row_is_wrong(policy: str) -> None:
    for number, how in enumerate(KINDS):
        shape = list(SHAPES.values())[number % 3]
        left, right = both_sides(number, (200, 200))
        asked = POLICIES[policy]
        if how == "anti" and (make_policy(asked).keeps_matched or asked == "density"):
            with pytest.raises(SpecError, match=r'how="anti" with policy .* give "auto"'):
                shape.join(how, policy=asked)
            continue
        join = shape.join(how, policy=POLICIES[policy], budget=hg.Budget(rows=12))
        outcome, exact = join.run(left, right), by_duckdb(shape, how, left, right)
        assert not as_numbers(outcome.pairs) - exact
        assert outcome.exact_pairs == exact.total()
        assert outcome.recall == outcome.pairs.num_rows / exact.total()
        if how in ("semi", "inner"):
            continue
        every = shape.join(
            how, policy=POLICIES[policy], budget=hg.Budget(rows=12), unmatched="all"
        ).run(left, right)
        certain = every.pairs.column("certain").to_numpy()
        sure = as_numbers(every.pairs.filter(pa.array(certain)))
        assert np.count_nonzero(~certain) == every.stats.undecided
        assert not sure - exact
        if how != "anti":  # doubtful rows of an anti join are stored only where they can come out
            assert every.stats.undecided == outcome.stats.undecided
            assert sure == as_numbers(outcome.pairs)
        ids = [pair for pair in as_numbers(every.pairs).elements() if None in pair]
        assert len(set(ids)) == len(ids)


def test_undecided_rows_never_contradict_themselves() -> None:
    """A row put out as undecided makes no pair later, and comes out once."""
    for seed in SEEDS:
        left, right = both_sides(seed, (200, 200))
        join = SHAPES["both wait"].join("full", budget=hg.Budget(rows=9), unmatched="all")
        result = join.run(left, right).pairs
        doubtful = result.filter(pa.compute.invert(result.column("certain")))
        assert doubtful.num_rows
        for name in ("lid", "rid"):
            ids = doubtful.column(name).drop_null().to_pylist()
            others = result.column(name).drop_null().to_pylist()
            assert all(others.count(number) == 1 for number in ids)


ONE_WAITS = [(how, Shape((60, 0), band=True)) for how in ("left", "semi", "anti")]
BOTH_WAIT = [(how, Shape(windows)) for how in KINDS for windows in ((60, 20), (20, 60))]
MAY_MEET_BEFORE = [(how, Shape((0, 60))) for how in ("left", "full", "semi", "anti")]


@pytest.mark.parametrize("policy", ["random", "fifo", "auto"])
@pytest.mark.parametrize(("how", "shape"), [*ONE_WAITS, *BOTH_WAIT, *MAY_MEET_BEFORE], ids=str)
def test_with_every_row_watched_the_estimate_is_the_truth(
    how: str, shape: Shape, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Null keys and rows without a time included."""
    monkeypatch.setattr(room, "WATCHED_A_ROW", 1000)
    for seed in SEEDS:
        left, right = both_sides(seed, (400, 400))
        join = shape.join(how, policy=policy, budget=hg.Budget(rows=20, monitor=0.3))
        outcome = join.run(left, right)
        assert outcome.stats.shed + outcome.stats.refused > 0
        assert outcome.estimated_recall is not None
        assert outcome.estimated_recall.value == pytest.approx(outcome.recall, abs=1e-12)


def test_recall_is_estimated_only_where_watched_rows_tell_it() -> None:
    """Where rows meet by equal keys; otherwise where none can have come before."""
    left, right = both_sides(1, (400, 400))
    for how in KINDS:
        for windows in ((20, 0), (0, 20), (20, 5)):
            for band in (False, True):
                join = Shape(windows, band=band).join(how, policy="auto", budget=hg.Budget(rows=60))
                known = windows == ((0, 20) if how == "right" else (20, 0)) and how != "full"
                told = join.run(left, right).estimated_recall
                assert (told is not None) == (known or not band)


def test_columns_are_named_and_nullable_as_in_spark() -> None:
    fields = [pa.field("k", pa.int64(), False), pa.field("t", pa.timestamp("us", "UTC"), False)]
    times = pa.array([START_US, START_US + 1], pa.int64()).cast(pa.timestamp("us", "UTC"))
    left = pa.table([pa.array([1, 2]), times], schema=pa.schema(fields))
    right = pa.table([pa.array([2, 3]), times], schema=pa.schema(fields))
    seen = {}
    for how in How:
        join = hg.WindowJoin(
            on="k",
            left=hg.Side("t", "1 second"),
            right=hg.Side("t", "1 second"),
            budget=hg.Budget(rows=10),
            how=how,
        )
        result = join.run(left, right).pairs
        result.validate(full=True)
        shown = {field.name: field.nullable for field in result.schema}
        seen[str(how)] = (shown, sorted(result.column("k").to_pylist()))
    assert seen == {
        "inner": ({"k": False, "t": False, "t_right": False}, [2]),
        "left": ({"k": False, "t": False, "t_right": True}, [1, 2]),
        "right": ({"k": False, "t": True, "t_right": False}, [2, 3]),
        "full": ({"k": True, "t": True, "t_right": True}, [1, 2, 3]),
        "semi": ({"k": False, "t": False}, [2]),
        "anti": ({"k": False, "t": False}, [1]),
    }


def test_the_filter_is_inside_the_budget() -> None:
    left, right = both_sides(1, (2000, 2000))
    shape = Shape((500, 500))
    for budget in (hg.Budget(rows=500), hg.Budget(memory="100 kB")):
        outer = shape.join("full", budget=budget).run(left, right).stats
        inner = shape.join("inner", budget=budget).run(left, right).stats
        if budget.rows is not None:
            assert (inner.peak_rows, outer.peak_rows) == (500, 500 - 2 * 10)
        else:
            rows = 100_000 * (1 - RESERVE)
            without = rows - 2 * 2_000 * (1 - RESERVE)
            assert outer.peak_bytes <= without < inner.peak_bytes <= rows


def test_a_row_that_has_met_a_partner_leaves() -> None:
    left, right = both_sides(2, (300, 300))
    shape = SHAPES["the left side waits"]
    semi, inner = shape.join("semi").run(left, right), shape.join("inner").run(left, right)
    assert semi.stats.satisfied == semi.stats.pairs > 0
    assert semi.stats.peak_rows < inner.stats.peak_rows
    assert shape.join("anti").run(left, right).stats.satisfied == semi.stats.satisfied


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"how": "outer"}, 'give "inner", "left"'),
        ({"how": "left", "unmatched": "some"}, 'give "certain"'),
        ({"how": "semi", "unmatched": "all"}, "return rows without a partner"),
        ({"how": "left", "budget": hg.Budget(cpu=0.5)}, "cpu=0.5"),
        ({"how": "full", "policy": "auto", "goal": hg.Sample()}, "sample"),
        ({"how": "anti", "policy": "auto", "goal": hg.MaxImportance("x")}, "MaxImportance"),
    ],
)
def test_what_has_no_meaning_is_refused_with_a_word(given: dict[str, object], words: str) -> None:
    given = dict(given)
    with pytest.raises(SpecError, match=words):
        SHAPES["both wait"].join(given.pop("how"), **given)


def test_a_group_refuses_joins_that_are_not_inner() -> None:
    join = SHAPES["both wait"].join("left")
    with pytest.raises(SpecError, match='how="left"'):
        hg.JoinGroup(budget=hg.Budget(rows=10), joins={"a": join})


def test_names_and_types_that_would_clash_are_refused() -> None:
    left, right = both_sides(4)
    join = SHAPES["both wait"].join("left", unmatched="all")
    with pytest.raises(SpecError, match='column "certain" already'):
        join.run(left.append_column("certain", left.column("x")), right)
    other = right.rename_columns(["k", "rt", "rx", "rid"])
    other = other.set_column(0, "k", other.column("k").cast(pa.int32()))
    full = hg.WindowJoin(
        on="k",
        left=hg.Side("lt", "1 second"),
        right=hg.Side("rt", "1 second"),
        budget=hg.Budget(rows=10),
        how="full",
    )
    with pytest.raises(SpecError, match="from either side"):
        full.run(left, other)
    assert OUTER


@pytest.mark.parametrize("how", ["semi", "anti"])
def test_right_columns_that_do_not_come_out_take_no_memory(how: str) -> None:
    shape = next(iter(SHAPES.values()))
    left, right = both_sides(3)
    wide = right.append_column("note", pa.array(["x" * 2000] * right.num_rows))
    memory = hg.Budget(memory=60_000)
    narrow, same = (shape.join(how).within(memory).run(left, each) for each in (right, wide))
    assert same.pairs == narrow.pairs
    assert same.stats.peak_bytes == narrow.stats.peak_bytes < wide.nbytes / 4
    asked = hg.whatif(left, wide, join=shape.join(how), policies=["fifo"], progress=False)
    told = hg.whatif(left, right, join=shape.join(how), policies=["fifo"], progress=False)
    assert asked.needs == told.needs
