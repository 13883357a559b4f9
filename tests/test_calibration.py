"""Calibration: weights from timed joins, and the file they are kept in. No test looks at a clock:
what is timed is timed, what is asserted is what follows from given times."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from headgate.calibration import MeasuringTime, TimedWorkload, calibrate, in_turns, timed_weights
from headgate.calibration.calibrate_command import sizes_table, structures_table, work_table
from headgate.calibration.timed_weights import measure_weights, measure_work, rising, rounds_of
from headgate.calibration.timed_workload import Timed
from headgate.cli.main import app
from headgate.kernel.relation import Bound, Relation
from headgate.models.cost import (
    Calibration,
    MeasuredCost,
    Structure,
    Weight,
    Weights,
    WorkCost,
    calibration_file,
    cheapest,
    direction_cost,
    join_cost,
    load_calibration,
    parse_pair,
)
from headgate.spec import SpecError

TINY = MeasuringTime((20, 60), 200, 2)


def given_times(workload: TimedWorkload) -> float:
    """A machine where an arrival takes 100 ns, a probe 7 a row and an update 11 a side."""
    a, b = workload.arrivals
    rows_a, rows_b = workload.windows
    each = (
        100 * (a + b) + 7 * (a * rows_b + b * rows_a) + 11 * (a * (rows_a > 0) + b * (rows_b > 0))
    )
    mixing = 4 * min(a, b) * 2
    return (each + mixing) * 1e-9


@pytest.fixture
def on_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workloads take what `given_times` says."""

    def timed(workloads: list[TimedWorkload], rounds: int, done: object = None) -> list[Timed]:
        return [
            Timed(
                given_times(each),
                20e-9 * sum(each.arrivals) * (1 + (Structure.BITMAP in each.pair)),
                np.full(rounds, given_times(each)),
                each.arrivals[0] * each.windows[1] // each.keys,
            )
            for each in workloads
        ]

    monkeypatch.setattr(timed_weights, "in_turns", timed)


@pytest.mark.usefixtures("on_paper")
class TestWeights:
    def test_probes_and_updates_are_told_apart(self) -> None:
        weights = measure_weights(TINY, (Structure.SCAN, Structure.TTREE))
        for structure in weights.structures:
            small, large = weights[structure].measured
            assert small.search == pytest.approx(7 * 20e-9)
            assert large.search == pytest.approx(7 * 60e-9)
            assert small.update == large.update == pytest.approx(11e-9)
        assert weights["scan"].search == pytest.approx(7e-9)
        assert weights["scan"].update == pytest.approx(5.5e-9)
        assert weights["scan"].search_spread == pytest.approx(0, abs=1e-15)

    def test_streams_that_alternate_and_rows_put_in_order_are_told_apart(self) -> None:
        weights = measure_weights(TINY)
        assert weights["hash"].switch == pytest.approx(8e-9)
        assert weights["hash"].arrive == 0
        assert weights["bitmap"].arrive == pytest.approx(20e-9)

    def test_work_is_arriving_being_kept_and_making_pairs(self) -> None:
        work, spread = measure_work(TINY)
        assert work.arrive == pytest.approx(120e-9)
        assert work.update == pytest.approx(11e-9)
        assert spread.arrive == pytest.approx(0, abs=1e-15)

    def test_a_calibration_says_when_each_round_is_done(self) -> None:
        measured = calibrate(TINY)
        assert measured.weights.structures == tuple(Structure)
        assert rounds_of(TINY) == 6


class TestWorkloads:
    """Joins that are really run."""

    @pytest.mark.parametrize("pair", ["NN", "HT", "MB"])
    def test_windows_are_full_from_the_start(self, pair: str) -> None:
        search = TimedWorkload(parse_pair(pair), (0, 300), (400, 0), keys=10)
        stored, coming = search.rows
        expected = sum(int((stored[1].code == code).sum()) for code in coming[0].code)
        assert search.seconds().pairs == expected

    def test_all_structures_make_the_same_pairs(self) -> None:
        one = TimedWorkload(parse_pair("HH"), (50, 80), (300, 200), keys=40, bucket=10)
        made = {one.with_pair(parse_pair(a + b)).seconds().pairs for a in "NHBTM" for b in "NHBTM"}
        assert len(made) == 1

    def test_a_band_is_joined_on_values(self) -> None:
        band = Relation(Bound.DIFFERENCE, Bound.DIFFERENCE, -1, 1)
        join = TimedWorkload(parse_pair("TM"), (30, 30), (100, 100), keys=20, where=band)
        assert join.seconds().pairs > replace(join, where=None).seconds().pairs

    def test_every_round_is_counted_but_the_first(self) -> None:
        rounds = []
        join = TimedWorkload(parse_pair("HH"), (5, 5), (20, 20), keys=4)
        [timed] = in_turns([join], 3, lambda: rounds.append(1))
        assert len(timed.rounds) == 3
        assert len(rounds) == 4


def test_what_falls_as_windows_grow_is_shared_out() -> None:
    assert rising([1.0, 3.0, 2.0, 4.0]) == [1.0, 2.5, 2.5, 4.0]
    assert rising([3.0, 2.0, 1.0]) == [2.0, 2.0, 2.0]


class TestMeasuredCosts:
    WEIGHTS = Weights(
        {
            "scan": Weight(
                1.0,
                1.0,
                switch=6.0,
                measured=[MeasuredCost(10, 10.0, 2.0), MeasuredCost(1000, 1000.0, 2.0)],
            ),
            "bitmap": Weight(1.0, 1.0, arrive=5.0, measured=[MeasuredCost(10, 1.0, 1.0)]),
        }
    )

    def test_are_interpolated_by_size(self) -> None:
        assert direction_cost("scan", 1, 0, 100, self.WEIGHTS) == pytest.approx(100)
        assert direction_cost("scan", 0, 1, 100, self.WEIGHTS) == pytest.approx(2)

    def test_are_continued_by_rows_touched(self) -> None:
        assert direction_cost("scan", 1, 0, 4000, self.WEIGHTS) == pytest.approx(4000)

    def test_matches_are_paid_for_on_top(self) -> None:
        more = direction_cost("bitmap", 1, 0, 10, self.WEIGHTS, matches=3.0)
        assert more - direction_cost("bitmap", 1, 0, 10, self.WEIGHTS) == pytest.approx(3)

    def test_arrivals_pay_once_for_order_and_for_switching(self) -> None:
        alone = direction_cost("scan", 2, 1, 10, self.WEIGHTS) + direction_cost(
            "bitmap", 1, 2, 10, self.WEIGHTS
        )
        cost = join_cost("NM", (1, 2), (10, 10), self.WEIGHTS)
        assert cost == pytest.approx(alone + 3 * 5.0 + 2 * 1 * 2 / 3 * 3.0)
        ranked = {
            each.letters: each.cost for each in cheapest((1, 2), (10, 10), self.WEIGHTS).choices
        }
        assert ranked["NM"] == pytest.approx(cost)

    def test_sizes_come_in_order(self) -> None:
        with pytest.raises(SpecError, match="smallest window first"):
            Weight(1.0, 1.0, measured=[MeasuredCost(10, 1.0, 1.0), MeasuredCost(5, 1.0, 1.0)])


@pytest.fixture
def stored() -> Calibration:
    weight = Weight(1e-8, 2e-8, 1e-9, 1e-9, 3e-8, 0.0, [MeasuredCost(10.0, 1e-8, 2e-8)])
    work = WorkCost(update=1e-8, produce=2e-8, arrive=3e-8)
    return Calibration(
        Weights(dict.fromkeys(Structure, weight)), work, work, machine="here", taken="today"
    )


class TestTheFile:
    def test_is_where_the_environment_says(
        self, stored: Calibration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HEADGATE_CALIBRATION", str(tmp_path / "deep" / "weights.json"))
        assert load_calibration() is None
        assert stored.save() == tmp_path / "deep" / "weights.json"
        assert load_calibration() == stored

    def test_is_among_the_user_s_caches_otherwise(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("HEADGATE_CALIBRATION", raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert calibration_file() == tmp_path / "headgate" / "calibration.json"

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("not json", "not a calibration"),
            ("[]", "not a calibration"),
            ('{"version": 99}', "version 99"),
            ('{"version": 1}', "incomplete"),
        ],
    )
    def test_says_what_is_wrong_with_it(self, text: str, says: str, tmp_path: Path) -> None:
        broken = tmp_path / "weights.json"
        broken.write_text(text)
        with pytest.raises(SpecError, match=says) as error:
            load_calibration(broken)
        assert str(broken) in str(error.value)
        assert "headgate calibrate" in str(error.value)

    def test_carries_nothing_but_numbers_and_words(self, stored: Calibration) -> None:
        told = json.loads(stored.to_json())
        assert told["structures"]["weights"]["hash"]["measured"] == [[10.0, 1e-8, 2e-8]]


def test_tables_show_every_structure(stored: Calibration) -> None:
    console = Console(width=100, record=True)
    for table in (structures_table(stored), sizes_table(stored), work_table(stored)):
        console.print(table)
    shown = console.export_text()
    assert all(structure.value in shown for structure in Structure)
    assert "C_u" in shown


def test_the_command_measures_and_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timed_weights, "QUICK", TINY)
    out = tmp_path / "weights.json"
    result = CliRunner().invoke(app, ["calibrate", "--quick", "--out", str(out)])
    assert result.exit_code == 0, result.output
    kept = load_calibration(out)
    assert kept is not None
    assert kept.weights["ttree"].search > 0
