"""Lookups in a real PostgreSQL: answers, types, lost connections, and no password anywhere."""

import pickle
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from tests.postgres import NO_SERVER, PASSWORD, Server, can_run

pytestmark = pytest.mark.skipif(not can_run(), reason=NO_SERVER)

QUICK = hg.Retry(attempts=2, first_seconds=0.01)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server with a few tables."""
    server = Server()
    server.execute(
        "create table levels as select k::integer as temperature, 'level ' || k as level, "
        "k * 1.5::float8 as energy from generate_series(0, 199) k where k % 7 <> 3",
        "create index on levels (temperature)",
        'create schema "Plant.A"',
        'create table "Plant.A"."odd ""names" (site text, "Id" bigint, unit text)',
        """insert into "Plant.A"."odd ""names" """
        "values ('a', 1, 'K'), ('a', 2, 'V'), ('b', 1, 'A')",
        "create type colour as enum ('red', 'green')",
        "create table kinds (s smallint, i integer, b bigint, r real, d double precision, "
        "n numeric(10, 2), x numeric, t text, v varchar(9), o boolean, y date, p timestamp, "
        "z timestamptz, q bytea, u uuid, c colour, j jsonb)",
        "insert into kinds values (1, 2, 3, 0.5, 0.1, 1.25, 1.125, 'text', 'char', true, "
        "'2026-02-03', '2026-02-03 04:05:06.789', '2026-02-03 04:05:06+02', '\\x00ff', "
        "'0123abcd-0000-4000-8000-000000000000', 'green', '{\"a\": 1}')",
        "insert into kinds (i, t) values (7, null)",
    )
    yield server
    server.remove()


def lookup(table: hg.PostgresTable, rows: int = 30, **more: object) -> hg.CachedLookup:
    return hg.CachedLookup(on="temperature", table=table, budget=hg.Budget(rows=rows), **more)


def days(rows: int = 5_000) -> pa.Table:
    rng = np.random.default_rng(5)
    temperatures = pa.array(rng.zipf(1.2, rows) % 230, mask=rng.random(rows) < 0.02)
    return pa.table({"day": np.arange(rows), "temperature": temperatures})


def expected(given: pa.Table) -> list[tuple]:
    return duckdb.sql(
        "select day, temperature, 'level ' || temperature, temperature * 1.5::double from given "
        "where temperature < 200 and temperature % 7 <> 3 order by day"
    ).fetchall()


def plain(table: pa.Table) -> list[tuple]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.mark.parametrize("policy", ["lru", "lfu", "lfd"])
def test_answers_are_those_of_the_full_join(server: Server, policy: str) -> None:
    outcome = lookup(hg.PostgresTable(server.dsn, "levels"), policy=policy).run(
        days(), batch_rows=700
    )
    assert plain(outcome.rows) == expected(days())
    assert outcome.stats.hits > outcome.stats.misses > 0


def test_odd_names_and_keys_of_several_columns(server: Server) -> None:
    asked = hg.CachedLookup(
        stream_on=["site", "id"],
        table_on=["site", "Id"],
        table=hg.PostgresTable(server.dsn, '"Plant.A"."odd ""names"'),
        budget=hg.Budget(memory="1 kB"),
    )
    given = pa.table({"site": ["b", "a", "b", "a\0", "a"], "id": [1, 2, 2, 1, 1]})
    outcome = asked.run(given)
    assert outcome.rows.column("unit").to_pylist() == ["A", "V", "K"]
    assert outcome.stats.unknown == 2


def test_columns_of_every_type_come_as_they_are(server: Server) -> None:
    asked = hg.CachedLookup(
        stream_on="k", table_on="i", table=hg.PostgresTable(server.dsn, "kinds"),
        budget=hg.Budget(rows=5), how="left",
    )  # fmt: skip
    one, other, none = asked.run(pa.table({"k": [2, 7, 8]})).rows.to_pylist()
    assert one == {
        "k": 2, "s": 1, "i": 2, "b": 3, "r": 0.5, "d": 0.1, "n": Decimal("1.25"), "x": "1.125",
        "t": "text", "v": "char", "o": True, "y": date(2026, 2, 3),
        "p": datetime(2026, 2, 3, 4, 5, 6, 789000),
        "z": datetime(2026, 2, 3, 2, 5, 6, tzinfo=UTC), "q": b"\x00\xff",
        "u": "0123abcd-0000-4000-8000-000000000000", "c": "green", "j": '{"a": 1}',
    }  # fmt: skip
    assert other == {**dict.fromkeys(one), "k": 7, "i": 7}
    assert none == {**dict.fromkeys(one), "k": 8}


@pytest.mark.parametrize("column", list("sibrdntvoypzquc"))
def test_a_key_may_be_of_any_type(server: Server, column: str) -> None:
    table = hg.PostgresTable(server.dsn, "kinds")
    value = table.fetch(pa.table({"i": pa.array([2], pa.int32())}), table.schema()).column(column)
    asked = hg.CachedLookup(on=column, table=table, budget=hg.Budget(rows=5))
    outcome = asked.run(pa.table({column: value}))
    assert outcome.rows.num_rows == outcome.stats.fetched == 1


def test_a_server_that_comes_back_costs_nothing_but_time(server: Server) -> None:
    given, killed = days(), []

    class Fragile(hg.PostgresTable):
        """Loses its server before the third and the fourth query."""

        def fetch(self, keys: pa.Table, schema: pa.Schema) -> pa.Table:
            killed.append(None)
            if len(killed) in (3, 4):
                server.kill()
                threading.Timer(0.3, server.start).start()
            return super().fetch(keys, schema)

    table = Fragile(server.dsn, "levels", retry=hg.Retry(attempts=12, first_seconds=0.02))
    outcome = lookup(table).run(given, batch_rows=700)
    assert len(killed) == outcome.stats.queries > 4
    assert plain(outcome.rows) == expected(given)
    calm = lookup(hg.PostgresTable(server.dsn, "levels")).run(given, batch_rows=700)
    assert outcome.stats.retries >= 2
    assert replace(outcome.stats, retries=0) == calm.stats


def test_a_server_that_stays_away_is_an_error(server: Server) -> None:
    asked = lookup(hg.PostgresTable(server.dsn, "levels", retry=QUICK))
    server.kill()
    try:
        with pytest.raises(
            hg.TableUnreachable, match=r"tried 2 times: .*start again when it is back"
        ):
            asked.run(days())
    finally:
        server.start()
    assert plain(asked.run(days()).rows) == expected(days())


class TestSecrets:
    """A password is nowhere it could be read."""

    def test_a_dsn_with_a_password_is_refused(self, server: Server) -> None:
        for dsn in (server.dsn_with_password, f"host=db password={PASSWORD}"):
            with pytest.raises(hg.SpecError, match=r"holds a password.*dsn_env=") as refused:
                hg.PostgresTable(dsn, "levels")
            assert PASSWORD not in str(refused.value)
            assert refused.value.__cause__ is None

    def test_a_dsn_that_cannot_be_read_is_not_repeated(self) -> None:
        with pytest.raises(hg.SpecError, match="cannot be read") as refused:
            hg.PostgresTable(f"host=db {PASSWORD}", "levels")
        assert PASSWORD not in str(refused.value)
        with pytest.raises(hg.SpecError, match="name of an environment variable") as refused:
            hg.PostgresTable(dsn_env=f"postgresql://plant:{PASSWORD}@db/x", table="levels")
        assert PASSWORD not in str(refused.value)

    def test_a_variable_is_read_where_the_connection_is_made(
        self, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        table = hg.PostgresTable(dsn_env="PLANT_DSN", table="levels", retry=QUICK)
        monkeypatch.delenv("PLANT_DSN", raising=False)
        with pytest.raises(hg.SpecError, match="PLANT_DSN is not set"):
            lookup(table)
        monkeypatch.setenv("PLANT_DSN", server.dsn_with_password)
        asked = lookup(table)
        assert plain(asked.run(days()).rows) == expected(days())
        for text in (repr(asked), repr(vars(table)), str(pickle.dumps(table)), table.name):
            assert PASSWORD not in text
        server.kill()
        try:
            with pytest.raises(hg.TableUnreachable) as failed:
                asked.run(days())
        finally:
            server.start()
        assert PASSWORD not in "".join(_everything_about(failed.value))

    def test_a_wrong_password_is_told_at_once(
        self, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        wrong = "another-" + PASSWORD
        monkeypatch.setenv("PLANT_DSN", server.dsn_with_password.replace(PASSWORD, wrong))
        table = hg.PostgresTable(
            dsn_env="PLANT_DSN", table="levels", retry=hg.Retry(attempts=50, first_seconds=10)
        )
        started = time.monotonic()
        with pytest.raises(hg.TableError, match="authentication failed") as failed:
            lookup(table)
        assert time.monotonic() - started < 8, "it must not wait"
        assert PASSWORD not in "".join(_everything_about(failed.value))


class TestErrors:
    """Told early, with what to do."""

    def test_of_the_table(self, server: Server) -> None:
        with pytest.raises(hg.SpecError, match="there is no table nowhere in the database"):
            lookup(hg.PostgresTable(server.dsn, "nowhere"))
        with pytest.raises(hg.SpecError, match='has no column "temperature": it has s, i'):
            lookup(hg.PostgresTable(server.dsn, "kinds"))
        with pytest.raises(hg.SpecError, match='"temperature" of the table is int32'):
            lookup(hg.PostgresTable(server.dsn, "levels")).run(pa.table({"temperature": ["x"]}))

    def test_of_the_address(self) -> None:
        with pytest.raises(hg.SpecError, match="give either a DSN"):
            hg.PostgresTable(table="levels")
        with pytest.raises(hg.SpecError, match="give either a DSN"):
            hg.PostgresTable("host=db", "levels", dsn_env="PLANT_DSN")
        with pytest.raises(hg.SpecError, match="is not a table's name"):
            hg.PostgresTable("host=db")

    def test_of_two_rows_with_one_key(self, server: Server) -> None:
        asked = hg.CachedLookup(
            on="site",
            table=hg.PostgresTable(server.dsn, '"Plant.A"."odd ""names"'),
            budget=hg.Budget(rows=5),
        )
        with pytest.raises(hg.TableError, match="more than one row with the key 'a'"):
            asked.run(pa.table({"site": ["a"]}))


def _everything_about(error: BaseException | None) -> Iterator[str]:
    while error is not None:
        yield f"{error!r} {error.args!r} {error}"
        error = error.__cause__ or error.__context__
