"""`headgate profile`, and what a profile refuses."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import headgate as hg
from headgate.cli.main import app
from tests.profiled_sides import profile_of, side_of


class TestErrors:
    @pytest.mark.parametrize(
        ("changed", "says"),
        [
            ({"on": "user"}, 'no column "user": it has key, at'),
            ({"left": hg.Side(time="when", window="1 second")}, 'no column "when"'),
            ({"left": hg.Side(time="key", window="1 second")}, "give a timestamp column"),
            ({"left": hg.Side(time="at", window="10 rows")}, "give a window in time"),
            ({"left": "at"}, "give a Side"),
            ({"on": None}, "a join needs keys"),
            ({"most_rows": 0}, "most_rows=0: give a whole number"),
        ],
    )
    def test_what_cannot_be_profiled_is_named(self, changed: dict[str, Any], says: str) -> None:
        side = hg.Side(time="at", window="1 second")
        table = side_of(10, 1)
        with pytest.raises(hg.SpecError, match=says):
            hg.profile(table, table, **{"on": "key", "left": side, "right": side, **changed})

    def test_other_kinds_of_rows_are_refused(self) -> None:
        with pytest.raises(hg.SpecError, match="left side is a list: profile takes Arrow tables"):
            profile_of([1], side_of(10, 1), ("1 second", "1 second"))

    def test_keys_must_agree_in_type(self) -> None:
        table = side_of(10, 1)
        texts = table.set_column(0, "key", table.column("key").cast(pa.string()))
        with pytest.raises(hg.SpecError, match="key columns differ in type"):
            profile_of(table, texts, ("1 second", "1 second"))

    @pytest.mark.parametrize("rows", [0, 1])
    def test_next_to_nothing_is_profiled_all_the_same(self, rows: int) -> None:
        table = side_of(rows, 1)
        found = profile_of(table, table, ("1 second", "1 second"))
        assert found.pairs.count == rows
        assert found.explains.better is None
        assert str(hg.Profile.from_json(found.to_json())) == str(found)
        found.plot()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sides")
    left, right = side_of(2_000, 1), side_of(2_000, 2)
    pyarrow.parquet.write_table(left, folder / "left.parquet")
    pyarrow.parquet.write_table(right, folder / "right.parquet")
    for side, table in (("left", left), ("right", right)):
        (folder / side).mkdir()
        pyarrow.parquet.write_table(table.slice(0, 900), folder / side / "0.parquet")
        pyarrow.parquet.write_table(table.slice(900), folder / side / "1.parquet")
        (folder / side / "_SUCCESS").touch()
    pyarrow.csv.write_csv(left, folder / "left.csv")
    pyarrow.csv.write_csv(right, folder / "right.csv")
    (folder / "notes.txt").write_text("not a table")
    return folder


class TestCommand:
    OPTIONS = (
        *("--left-time", "at", "--right-time", "at"),
        *("--left-window", "20 seconds", "--right-window", "0 seconds"),
    )

    def run(self, *arguments: object) -> Any:
        return CliRunner().invoke(app, ["profile", *map(str, arguments), *self.OPTIONS])

    @pytest.mark.parametrize("ending", [".parquet", ".csv", ""])
    def test_files_and_folders_are_profiled(
        self, folder: Path, tmp_path: Path, ending: str
    ) -> None:
        left, right = folder / f"left{ending}", folder / f"right{ending}"
        shown = self.run(left, right, "--on", "key", "--out", tmp_path)
        assert shown.exit_code == 0, shown.output
        assert "Which model explains the matches: frequency" in shown.output
        assert {path.name for path in tmp_path.iterdir()} == {
            "profile.png",
            "profile.svg",
            "profile.json",
        }

    def test_json_is_all_that_is_printed(self, folder: Path, tmp_path: Path) -> None:
        sides = (folder / "left.parquet", folder / "right.parquet")
        shown = self.run(*sides, "--on", "key", "--json", "--out", tmp_path)
        assert hg.Profile.from_json(shown.output).rows.left.rows == 2_000

    @pytest.mark.parametrize(
        ("left", "key", "says"),
        [
            ("nothing.parquet", "key", "nothing.parquet does not exist"),
            ("notes.txt", "key", "is not a Parquet or CSV file"),
            (".", "key", "a folder of one kind of them"),
            ("left.parquet", "user", 'no column "user": it has key, at'),
        ],
    )
    def test_mistakes_are_told_in_a_line(
        self, folder: Path, tmp_path: Path, left: str, key: str, says: str
    ) -> None:
        shown = self.run(folder / left, folder / "right.parquet", "--on", key, "--out", tmp_path)
        assert shown.exit_code == 2
        assert says in shown.output.replace("\n", "")
        assert "Traceback" not in shown.output
