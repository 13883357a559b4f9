"""The goal of importance: pairs, redefinition, and definitions handed on by folder."""

import json
import math
import pickle
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headgate as hg
from headgate.spec import Combine
from tests.importances import INF, ROWS, message


def test_importance_of_pairs() -> None:
    left, right = np.array([2.0, 3.0]), np.array([5.0, 0.5])
    expected: dict[Any, list[float]] = {
        "min": [2, 0.5],
        "product": [10, 1.5],
        "sum": [7, 3.5],
        "max": [5, 3],
    }
    for combine, worth in expected.items():
        goal = hg.MaxImportance("price", "price", combine=combine)
        assert goal.pair(left, right).tolist() == worth
        assert goal.code == Combine[combine.upper()]
    assert hg.MaxImportance(left="price", combine="sum").pair(left, right).tolist() == [2, 3]
    assert hg.MaxImportance(right="price", combine="sum").pair(left, right).tolist() == [5, 0.5]
    assert [int(code) for code in Combine] == list(range(7))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "MaxImportance is told the importance of neither side: give left=, right=, or both"),
        ({"left": 1, "combine": "mean"}, 'combine=\'mean\' is unknown: give one of "min", "prod'),
        ({"left": 1, "column": ""}, "column='' is not a name"),
        ({"left": 1, "fairness": 2}, "fairness=2 is not accepted: give the share of decisions"),
        ({"left": 1, "fairness": math.nan}, "fairness=nan is not accepted"),
    ],
)
def test_goals_that_are_refused(arguments: dict[str, Any], says: str) -> None:
    assert says in message(hg.MaxImportance, **arguments)


GOAL = hg.MaxImportance(
    hg.Histogram("price", [-INF, 3, INF], [1, 2]),
    hg.Categories("day", {date(2026, 1, 2): 3}),
    combine="product",
    column="worth",
    fairness=0.25,
)


def test_goals_survive_the_journey() -> None:
    assert hg.MaxImportance.from_json(GOAL.to_json()) == GOAL
    assert pickle.loads(pickle.dumps(GOAL)) == GOAL
    assert hash(pickle.loads(pickle.dumps(GOAL))) == hash(GOAL)
    assert isinstance(GOAL, hg.Goal)
    GOAL.check((ROWS.schema, ROWS.schema))
    assert GOAL.evaluate(ROWS, 0).tolist() == [2, 2, 0, 1]
    assert GOAL.evaluate(ROWS, 1).tolist() == [0, 3, 0, 0]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"left": 3}', "x" * 1000])
def test_text_that_is_no_definition(text: str) -> None:
    says = message(hg.MaxImportance.from_json, text)
    assert "is not a definition of importance" in says
    assert len(says) < 300


def test_definitions_of_a_kind_that_is_not_known() -> None:
    text = hg.MaxImportance(left="price").to_json().replace('"expression"', '"oracle"')
    assert 'importance of kind \'oracle\' is unknown: known are "categories", "expression"' in (
        message(hg.MaxImportance.from_json, text)
    )


def test_a_redefinition_changes_what_rows_are_worth_alone() -> None:
    now = hg.MaxImportance(left="price")
    later = hg.MaxImportance(left=2)
    assert now.redefined(later) is later
    other = hg.MaxImportance(left=1, right=1, combine="sum", column="worth", fairness=1)
    assert message(now.redefined, other) == (
        "a running join cannot take up this importance: sides was 'left' and is 'left and right'; "
        "combine was 'min' and is 'sum'; column was 'importance' and is 'worth'; fairness was 0.0 "
        "and is 1.0. Only what rows are worth may change: keep the rest, or start another join"
    )
    assert "give a MaxImportance" in message(now.redefined, hg.MaxSubset())


def test_a_definition_too_large_to_ship_says_what_to_do() -> None:
    table = hg.Categories("id", {f"category {number}": 1 for number in range(30_000)})
    says = message(hg.MaxImportance, left=table)
    assert "with its 30,000 categories, and at most 500,000 are shipped with every task" in says
    assert "put the importance into a column of the stream" in says


# Definitions in a folder


def test_published_definitions_come_back_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "here"
    assert hg.read_changes(folder) == []
    goals = [hg.MaxImportance(left=number) for number in range(5)]
    moment = datetime(2026, 1, 1, 9, tzinfo=timezone(timedelta(hours=9)))
    moments: list[Any] = [None, moment, "2026-01-01T00:00:00.000001Z", None, "2025-01-01T00+00:00"]
    files = [goal.publish(folder, at) for goal, at in zip(goals, moments, strict=True)]
    assert files == sorted(folder.iterdir())
    micros = [None, 1_767_225_600_000_000, 1_767_225_600_000_001, None, 1_735_689_600_000_000]
    assert hg.read_changes(str(folder)) == list(zip(micros, goals, strict=True))
    line = files[1].read_text()
    assert line.endswith("\n")
    assert json.loads(line) == {
        "definition": goals[1].to_json(),
        "at": "2026-01-01T00:00:00.000000+00:00",
    }


def test_unfinished_and_foreign_files_are_passed_over(tmp_path: Path) -> None:
    hg.MaxImportance(left=1).publish(tmp_path)
    for name in (".0001.json.unfinished", ".hidden.json", "_metadata.json", "notes.txt"):
        (tmp_path / name).write_text("half a li")
    assert len(hg.read_changes(tmp_path)) == 1


def test_a_clock_set_back_does_not_change_the_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, clock in enumerate((1000, 500, 500, 2000)):
        monkeypatch.setattr("time.time_ns", lambda clock=clock: clock)
        hg.MaxImportance(left=number).publish(tmp_path)
    assert [goal for _, goal in hg.read_changes(tmp_path)] == [
        hg.MaxImportance(left=number) for number in range(4)
    ]


@pytest.mark.parametrize(
    ("at", "says"),
    [
        ("noon", "at='noon' is not an event time: give a datetime with a zone, text such as"),
        (3, "at=3 is not an event time"),
        ("2026-01-01", "at='2026-01-01' does not say in which zone"),
        (datetime(2026, 1, 1), "does not say in which zone: give a datetime with a tzinfo"),
    ],
)
def test_moments_that_are_refused(tmp_path: Path, at: Any, says: str) -> None:
    assert says in message(hg.MaxImportance(left=1).publish, tmp_path, at)
    assert list(tmp_path.iterdir()) == []


def test_an_address_is_not_a_folder() -> None:
    says = message(hg.MaxImportance(left=1).publish, "s3://bucket/importance")
    assert "folder 's3://bucket/importance' is an address: give a folder" in says
