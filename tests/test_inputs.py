"""What `run` takes as a side, and how its result prints."""

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import headgate as hg

AT = pa.array([1_000_000, 2_000_000, 3_000_000], pa.timestamp("us"))
LEFT = pa.table({"key": [1, 2, 1], "lt": AT, "paid": [5, 6, 7]})
RIGHT = pa.table({"key": [1, 1, 2], "rt": AT, "seen": ["a", "b", "c"]})
SIDE = "1 minute"
JOIN = hg.WindowJoin(
    on="key",
    left=hg.Side(time="lt", window=SIDE),
    right=hg.Side(time="rt", window=SIDE),
    budget=hg.Budget(rows=10),
)


class Foreign:
    """Hands out Arrow data by itself, as a Polars frame does."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def test_paths_and_what_hands_out_arrow_data_are_taken(tmp_path: Path) -> None:
    pq.write_table(LEFT, tmp_path / "left.parquet")
    (tmp_path / "right").mkdir()
    pa.csv.write_csv(RIGHT, tmp_path / "right" / "part.csv")
    wanted = JOIN.run(LEFT, RIGHT).pairs.sort_by("rt")
    assert wanted.num_rows == 5
    connection = duckdb.connect()
    connection.register("seen", RIGHT)
    for left, right in (
        (tmp_path / "left.parquet", str(tmp_path / "right")),
        (Foreign(LEFT), connection.sql("SELECT * FROM seen")),
    ):
        assert JOIN.run(left, right).pairs.num_rows == wanted.num_rows


def test_other_sides_are_refused_with_what_is_taken(tmp_path: Path) -> None:
    with pytest.raises(hg.SpecError, match=r"the left side is a int: run takes Arrow tables, .*"):
        JOIN.run(7, RIGHT)
    with pytest.raises(hg.SpecError, match="does not exist"):
        JOIN.run(tmp_path / "nothing.parquet", RIGHT)


def test_a_result_prints_what_became_of_the_rows() -> None:
    outcome = JOIN.within(hg.Budget(rows=1)).run(LEFT, RIGHT)
    text = str(outcome).splitlines()
    assert text[0] == f"{outcome.stats.pairs} of 5 result rows: recall {outcome.recall:.3f}"
    assert [line.split()[-1] for line in text[2:4]] == ["3", "3"]
    assert "stored at most, rows" in text[-2]
    assert "<table" in outcome._repr_html_()
