"""Rows that a profile keeps, for plans to be tried on."""

from typing import Any

import numpy as np
import pytest

import headgate as hg
from headgate.planner.fitted_models import frequencies_between, moving_between
from headgate.planner.planning_case import PlanningCase
from headgate.policies import Prob, Random
from headgate.studies.planned.streams import pieces
from headgate.studies.streams import Streams
from headgate.trials.simulation import simulate
from tests.planner.planned_joins import profile_of


class TestKeptRows:
    def test_many_rows_are_kept_in_part_and_tell_the_same(self) -> None:
        streams = pieces("many keys", 40.0, seed=2).first
        found = profile_of(streams)
        assert found.trace.rows < 200_000 < sum(found.trace.whole) * 1.1
        assert found.trace.looking.any()
        rows = round(0.2 * found.stored_rows.rows)
        case = PlanningCase(streams.request("random", hg.Budget(rows=rows)), found)
        for policy, told in (("random", Random()), ("prob", None)):
            if told is None:
                names = np.arange(found.trace.codes)
                told = Prob(frequencies_between(found.trace, names, (1.0, 1.0), None))
            seen = simulate(case.trace, told, case.budget).recall
            asked = streams.request(
                policy,
                case.budget,
                **({"frequencies": found.frequencies} if policy == "prob" else {}),
            )
            assert seen.value == pytest.approx(asked.run(*streams.tables).recall, abs=0.03)

    def test_all_of_a_small_input_are(self, by_key: Any) -> None:
        streams, found = by_key
        assert found.trace.is_whole
        assert found.trace.rows == sum(table.num_rows for table in streams.tables)

    def test_nothing_is_kept_of_nothing(self, by_key: Any) -> None:
        streams, _ = by_key
        empty = Streams(streams.left.slice(0, 0), streams.right.slice(0, 0), streams.windows)
        assert profile_of(empty).trace is None

    def test_values_that_do_not_come_step_by_step_do_not_move(self, by_key: Any) -> None:
        assert moving_between(by_key[1].trace, None) is None

    def test_what_a_monitor_gives_back_is_scaled_too(self) -> None:
        streams = pieces("many rows", 60.0, seed=2).first
        found = profile_of(streams)
        rows = round(0.5 * found.stored_rows.rows)
        case = PlanningCase(streams.request("auto", hg.Budget(rows=rows)), found)
        assert not case.trace.is_whole
        learned = simulate(case.trace, "auto", case.budget)
        assert learned.stats.peak_rows <= rows * case.trace.scale.rows + 1
