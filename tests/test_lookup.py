"""Lookups in process: exact answers, the hits of a plain cache, never more than the budget."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headgate as hg
from headgate.columns.row_sizes import row_bytes
from headgate.engine.table_rows import TableRows
from headgate.kernel.step_progress import StepProgress
from headgate.lookup import cache_simulation
from headgate.lookup.lookup_stats import LookupStats
from headgate.lookup.lookup_step import LookupStep
from headgate.lookup.parquet_table import ParquetTable
from headgate.lookup.sql_names import table_name
from headgate.lookup.table_errors import ConnectionLost
from tests.lookups import (
    CONSUMPTION,
    POLICIES,
    careful,
    every_policy,
    keys_of_streams,
    lookup,
    rooms,
    steps,
    stream,
)


@every_policy
@careful
@given(keys=keys_of_streams, room=rooms)
def test_hits_are_those_of_a_plain_cache(policy: str, keys: list[int], room: int) -> None:
    worth, takes_newcomers = POLICIES[policy]
    expected = cache_simulation.simulate(keys, room, worth(keys), takes_newcomers)
    stats = lookup(policy, hg.Budget(rows=room)).run(stream(keys)).stats
    assert (stats.hits, stats.misses) == (sum(expected), len(keys) - sum(expected))
    assert stats.peak_rows == min(room, len(set(keys)))
    assert stats.admitted - stats.evictions == stats.stored_rows
    assert stats.admitted + stats.refused == stats.misses


@every_policy
@careful
@given(keys=keys_of_streams, room=rooms, data=st.data())
def test_cutting_into_batches_anywhere_changes_nothing(
    policy: str, keys: list[int], room: int, data: st.DataObject
) -> None:
    if policy == "lfd":
        return  # it must have the whole stream
    asked = lookup(policy, hg.Budget(rows=room), how="left")
    given_rows = stream([*keys, None, 99])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(keys) + 2), max_size=5)))
    whole = asked.run(given_rows)
    rows, total = [], LookupStats()
    for step, _ in steps(asked, given_rows, cuts):
        rows.extend(step.results())
        total = total.then(step.lookup_stats)
    assert pa.concat_tables(rows).equals(whole.rows)
    told = {"asked", "fetched", "queries"}
    assert {k: v for k, v in vars(total).items() if k not in told} == {
        k: v for k, v in vars(whole.stats).items() if k not in told
    }


@every_policy
@careful
@given(keys=keys_of_streams, room=st.integers(80, 600))
def test_a_budget_of_bytes_is_never_passed(policy: str, keys: list[int], room: int) -> None:
    if policy == "lfd":
        return  # it plans in rows
    asked = lookup(policy, hg.Budget(memory=room))
    outcome = asked.run(stream(keys))
    assert outcome.rows.column("temperature").to_pylist() == keys
    assert outcome.stats.peak_bytes <= room
    for step, stored in steps(asked, stream(keys), range(1, len(keys))):
        assert int(row_bytes(stored.table).sum()) == step.lookup_stats.stored_bytes <= room


@every_policy
def test_answers_are_those_of_the_full_join(policy: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    file = tmp_path / "energy.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("create schema plant")
        connection.execute(
            "create table plant.levels as select k::integer as temperature, "
            "'level ' || k as level, k * 1.5 as energy, "
            "timestamptz '2026-01-01' + to_days(k::integer) as changed "
            "from range(200) t(k) where k % 7 <> 3"
        )
    temperatures = rng.zipf(1.2, 5_000) % 230
    given_rows = pa.table(
        {
            "day": np.arange(5_000),
            "temperature": pa.array(temperatures, mask=rng.random(5_000) < 0.02),
            "energy": rng.normal(size=5_000),
        }
    )
    with duckdb.connect(str(file), read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        connection.register("given_rows", given_rows)
        exact = {
            how: connection.sql(
                f"select s.*, t.level, t.energy as energy_table, t.changed from given_rows s "
                f"{how} join plant.levels t using (temperature) order by s.day"
            ).to_arrow_table()
            for how in ("inner", "left")
        }
    table = hg.DuckDbTable(file, "plant.levels")
    for how, expected in exact.items():
        asked = lookup(policy, hg.Budget(rows=30), table, how=how)
        outcome = asked.run(given_rows, batch_rows=600)
        assert outcome.rows.equals(expected.cast(outcome.rows.schema))
        stats = outcome.stats
        assert stats.hits + stats.misses == exact["inner"].num_rows
        assert stats.rows == stats.hits + stats.misses + stats.unknown + stats.null_keys == 5_000
        assert stats.null_keys == given_rows.column("temperature").null_count
        assert stats.queries == (1 if policy == "lfd" else 9)


def test_keys_of_several_columns() -> None:
    sensors = pa.table({"plant": ["a", "a", "b"], "sensor": [1, 2, 1], "unit": ["K", "V", "A"]})
    asked = hg.CachedLookup(
        stream_on=["site", "id"],
        table_on=["plant", "sensor"],
        table=hg.ArrowTable(sensors),
        budget=hg.Budget(rows=2),
    )
    given_rows = pa.table(
        {"site": ["b", "a", "b", None, "a"], "id": pa.array([1, 2, 2, 1, 1], pa.int16())}
    )
    outcome = asked.run(given_rows)
    assert outcome.rows.column("unit").to_pylist() == ["A", "V", "K"]
    assert outcome.rows.column_names == ["site", "id", "plant", "sensor", "unit"]
    assert (outcome.stats.unknown, outcome.stats.null_keys) == (1, 1)


def test_only_the_columns_asked_for_are_fetched() -> None:
    asked = lookup("lru", hg.Budget(rows=5), columns=["energy"])
    assert asked.run(stream([1])).rows.column_names == ["day", "temperature", "energy"]


def test_pandas_frames_and_categories_are_looked_up() -> None:
    names = pa.table({"code": ["a", "b"], "name": ["one", "two"]})
    frame = pd.DataFrame({"code": pd.Categorical(["b", "a", "c"])})
    asked = hg.CachedLookup(on="code", table=hg.ArrowTable(names), budget=hg.Budget(rows=9))
    assert asked.run(frame).rows.column("name").to_pylist() == ["two", "one"]


def test_an_empty_stream_asks_nothing() -> None:
    outcome = lookup("lru", hg.Budget(rows=5)).run(stream([]))
    assert outcome.stats == LookupStats()
    assert outcome.rows.column_names == ["day", "temperature", "energy", "note"]


@dataclass(frozen=True, eq=False)
class Watched(hg.ArrowTable):
    """Notes what it is asked."""

    asked: list[list] = field(default_factory=list)

    def fetch(self, keys: pa.Table, schema: pa.Schema) -> pa.Table:
        self.asked.append(keys.column(0).to_pylist())
        return super().fetch(keys, schema)


def test_a_batch_makes_one_query_for_the_keys_not_cached() -> None:
    table = Watched(CONSUMPTION)
    outcome = lookup("lru", hg.Budget(rows=2), table).run(
        stream([5, 5, 1, 5, 2, 2, 3, 1, 99]), batch_rows=4
    )
    # Key 1 was cached when the second batch began, and gone when it was needed: a miss, no query.
    assert [sorted(keys) for keys in table.asked] == [[1, 5], [2, 3], [99]]
    assert outcome.stats.queries == 3
    assert (outcome.stats.asked, outcome.stats.fetched) == (5, 4)
    assert (outcome.stats.hits, outcome.stats.misses, outcome.stats.unknown) == (3, 5, 1)


def test_numbers_no_table_key_can_be_are_not_asked_for() -> None:
    table = Watched(CONSUMPTION.set_column(0, "temperature", CONSUMPTION[0].cast(pa.int8())))
    stats = lookup("lru", hg.Budget(rows=2), table).run(stream([5, 1_000_000])).stats
    assert table.asked == [[5]]
    assert (stats.misses, stats.unknown) == (1, 1)


def test_two_table_rows_with_one_key_are_an_error() -> None:
    double = pa.concat_tables([CONSUMPTION, CONSUMPTION.slice(4, 1)])
    with pytest.raises(hg.TableError, match=r"more than one row with the key 4: .* one row a key"):
        lookup("lru", hg.Budget(rows=3), hg.ArrowTable(double)).run(stream([1, 4]))


def test_a_table_with_another_idea_of_equality_is_an_error() -> None:
    class Mumbling(hg.ArrowTable):
        def fetch(self, keys: pa.Table, schema: pa.Schema) -> pa.Table:
            return self.table.slice(0, 2).select(schema.names)

    with pytest.raises(hg.TableError, match="key 1, which was not asked for"):
        lookup("lru", hg.Budget(rows=3), Mumbling(CONSUMPTION)).run(stream([0]))


def test_hits_of_a_row_are_counted_up_to_a_limit_that_does_not_turn() -> None:
    asked = lookup("lfu", hg.Budget(rows=2))
    *_, (_, stored) = steps(asked, stream([1, 2]), [])
    often = np.array([2**31 - 1, 5], np.int32)
    stored = replace(stored, rows=stored.rows._replace(matches=often))
    step = LookupStep(
        asked.terms(), asked.shape(stream([]).schema), asked.table, asked.schema, stored,
        stream([1, 1, 2, 3]), StepProgress(clock=11, seen=(2, 2)),
    )  # fmt: skip
    assert step.survivors(0).compact().table.column("temperature").to_pylist() == [1, 3]
    assert step.survivors(0).rows.matches.tolist() == [2**31 - 1, 0]


def test_the_clock_goes_on_for_longer_than_any_stream() -> None:
    asked = lookup("lru", hg.Budget(rows=2))
    late = 1 << 50
    step = LookupStep(
        asked.terms(), asked.shape(stream([]).schema), asked.table, asked.schema,
        TableRows.nothing(asked.schema), stream([1, 2, 1, 3, 1]),
        StepProgress(clock=4 * late, seen=(late, late)),
    )  # fmt: skip
    assert step.lookup_stats.hits == 2
    assert step.survivors(0).rows.time.tolist() == [2 * late + 1, 2 * late + 7]
    assert step.after.seen == (late + 5, late + 5)


class TestRetry:
    """Lost connections."""

    def test_waits_grow_and_the_answer_comes(self) -> None:
        waited: list[float] = []
        attempts = iter([True, True, False])

        def attempt() -> str:
            if next(attempts):
                raise ConnectionLost("gone")
            return "here"

        retry = hg.Retry(attempts=4, first_seconds=0.5)
        assert retry.call(attempt, "table t", waited.append) == "here"
        assert waited == [0.5, 1.0]

    def test_it_ends(self) -> None:
        waited: list[float] = []

        def attempt() -> str:
            raise ConnectionLost("refused")

        with pytest.raises(
            hg.TableUnreachable, match="table t could not be reached, tried 3 times"
        ):
            hg.Retry(attempts=3).call(attempt, "table t", waited.append)
        assert waited == [0.1, 0.2]

    @pytest.mark.parametrize("wrong", [{"attempts": 0}, {"first_seconds": -1}])
    def test_nonsense_is_refused(self, wrong: dict) -> None:
        with pytest.raises(hg.SpecError, match="give a"):
            hg.Retry(**wrong)


class TestParquet:
    """Snapshots as workers read them."""

    def test_keys_of_several_columns_are_found_as_pairs(self, tmp_path: Path) -> None:
        rows = pa.table({"a": [1, 1, 2, 2], "b": ["x", "y", "x", "y"], "c": [1, 2, 3, 4]})
        pq.write_table(rows, tmp_path / "part.parquet")
        table = ParquetTable(str(tmp_path), rows.schema)
        keys = pa.table({"a": [1, 2], "b": ["y", "x"]})
        assert table.fetch(keys, rows.schema).column("c").to_pylist() == [2, 3]

    def test_a_missing_snapshot_is_an_error(self, tmp_path: Path) -> None:
        schema = pa.schema([("a", pa.int64())])
        with pytest.raises(hg.TableError, match=r"snapshot .* cannot be found"):
            ParquetTable(str(tmp_path / "gone"), schema).fetch(pa.table({"a": [1]}), schema)


class TestErrors:
    """Told early, with what to do."""

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"table": CONSUMPTION}, "is not accepted: give hg.DuckDbTable"),
            ({"budget": 7}, "give a Budget"),
            ({"budget": hg.Budget(rows=5, split=(1, 2))}, "leave split= and monitor= out"),
            ({"budget": hg.Budget(memory=64)}, "too small for one row"),
            ({"how": "outer"}, 'give "inner" or "left"'),
            ({"on": None}, "a lookup needs keys"),
            ({"stream_on": "x"}, "not both"),
            ({"on": "pressure"}, 'has no column "pressure": it has temperature'),
            ({"columns": ["colour"]}, 'has no column "colour"'),
            ({"columns": "energy"}, "give a list of column names"),
            ({"policy": "age"}, 'policy "age" is for windows.* give one of "random"'),
            ({"policy": "auto"}, 'policy "auto" is for windows'),
            ({"policy": "sieve"}, 'policy "sieve" is unknown'),
            ({"policy": "prob"}, "give frequencies="),
            ({"policy": hg.policies.Ttl()}, "TTL cannot rank the rows of a cache"),
            ({"policy": "lfd", "budget": hg.Budget(memory=5000)}, "give Budget.rows="),
            ({"seed": 1.5}, "give a whole number"),
        ],
    )
    def test_at_construction(self, wrong: dict, message: str) -> None:
        right = {
            "on": "temperature",
            "table": hg.ArrowTable(CONSUMPTION),
            "budget": hg.Budget(rows=5),
        }
        with pytest.raises(hg.SpecError, match=message):
            hg.CachedLookup(**(right | wrong))

    def test_of_the_stream(self) -> None:
        asked = lookup("lru", hg.Budget(rows=5))
        with pytest.raises(hg.SpecError, match='the stream has no column "temperature": it has x'):
            asked.run(pa.table({"x": [1]}))
        with pytest.raises(hg.SpecError, match=r'"temperature" of the stream is string.*is int64'):
            asked.run(pa.table({"temperature": ["1"]}))
        with pytest.raises(hg.SpecError, match='two columns "energy_table"'):
            asked.run(pa.table({"temperature": [1], "energy": [1], "energy_table": [1]}))
        with pytest.raises(hg.SpecError, match="the stream side is a list: run takes"):
            asked.run([1, 2])
        with pytest.raises(hg.SpecError, match="batch_rows=0"):
            asked.run(stream([1]), batch_rows=0)

    def test_of_a_duckdb_file(self, tmp_path: Path) -> None:
        missing = hg.DuckDbTable(tmp_path / "no.duckdb", "t")
        with pytest.raises(hg.SpecError, match=r"there is no file .*no.duckdb"):
            lookup("lru", hg.Budget(rows=5), missing)
        duckdb.connect(str(tmp_path / "yes.duckdb")).close()
        with pytest.raises(hg.SpecError, match="there is no table t in"):
            lookup("lru", hg.Budget(rows=5), hg.DuckDbTable(tmp_path / "yes.duckdb", "t"))
        with duckdb.connect(str(tmp_path / "yes.duckdb")):
            table = hg.DuckDbTable(tmp_path / "yes.duckdb", "t")
            with pytest.raises(hg.TableError, match="close the other connection"):
                table.schema()
        with pytest.raises(hg.SpecError, match=r"goes to hg.ArrowTable"):
            hg.DuckDbTable(":memory:", "t")

    @pytest.mark.parametrize("name", ["", "a..b", 'a."b', "a b", "a.b.c.d", None])
    def test_of_a_tables_name(self, name: object) -> None:
        with pytest.raises(hg.SpecError, match="is not a table's name"):
            table_name(name)

    def test_of_a_missing_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
        with pytest.raises(hg.SpecError, match=r'pip install "headgate\[lookup\]"'):
            hg.DuckDbTable("energy.duckdb", "consumption")
