"""The iJoin study: its streams, its plans, and IJOIN against the paper's words in plain Python."""

import math
from collections import Counter

import numpy as np
import pytest

from headgate.kernel.rows import Rows
from headgate.kernel.step_input import StepInput
from headgate.kernel.terms import Terms
from headgate.kernel.twin.twin import Twin
from headgate.policies import Fifo
from headgate.policies.offline import NOT_KEPT
from headgate.spec import TimeWindow
from headgate.spec.budget import UNLIMITED
from headgate.studies.ijoin.plans import FADE, FADING, KINDS, LAST_WINDOW, RAND, plan
from headgate.studies.ijoin.rivals import ZIPF, case_of, fading_of
from headgate.studies.ijoin.schemes import DECAY, MATURITY_S, PENALTY, UNPRODUCTIVITY_S, ijoin
from headgate.studies.ijoin.streams import (
    BY_VALUE,
    CASES,
    HOT,
    HOT_BY_ROW,
    INDEPENDENT,
    Case,
    Streams,
    draw_streams,
)


class TestStreams:
    def test_hot_topics_are_in_both_streams_at_a_time(self) -> None:
        hot, independent = (
            draw_streams(CASES[case], seed=1, seconds=20_000) for case in (HOT, INDEPENDENT)
        )
        agree = [np.mean(streams.values[0] == streams.values[1]) for streams in (hot, independent)]
        assert agree[1] == pytest.approx(1 / 15, abs=0.01)
        assert agree[0] == pytest.approx(0.25 + 0.75 / 15, abs=0.015)

    def test_topics_last_as_long_as_told_and_change(self) -> None:
        topic = draw_streams(Case((10, 20), hot=1.0), seed=2, seconds=5000).values[0]
        lasts = np.diff(np.flatnonzero(np.diff(topic)))
        assert lasts.min() >= 10
        assert lasts.max() <= 20
        assert lasts.mean() == pytest.approx(15, abs=0.5)

    def test_importance_is_the_values_or_the_rows(self) -> None:
        by_value, by_row = (draw_streams(CASES[case], seed=3) for case in (HOT, HOT_BY_ROW))
        pairs = set(zip(by_value.values.ravel(), by_value.importance.ravel(), strict=True))
        assert len(pairs) == 15
        assert len(np.unique(by_row.importance)) > 90
        assert by_row.importance.min() >= 1
        assert by_row.importance.max() <= 100

    def test_rows_match_young_only_where_topics_pass(self) -> None:
        brief, zipf = (
            draw_streams(case_of(stream, BY_VALUE), 1, seconds=2000, domain=60)
            for stream in ("topics of 1 to 2 stays", ZIPF)
        )
        assert fading_of(brief) > 0.5
        assert fading_of(zipf) == pytest.approx(0, abs=0.04)


def stored_after_each(streams: Streams, ends: np.ndarray) -> list[set[int]]:
    """Rows in memory after each event, by what the plan says."""
    return [
        {row for row in range(now + 1) if ends[row] > now and now - row <= 50}
        for now in range(ends.size)
    ]


class TestPlans:
    @pytest.mark.parametrize("name", KINDS)
    def test_the_join_follows_the_plan(self, name: str) -> None:
        streams = draw_streams(CASES[HOT], seed=4, seconds=150)
        planned = plan(name, streams, memory=8, window_s=25, seed=4)
        outcome = streams.join(planned, rows=8)
        ends = np.column_stack([planned.ends_left, planned.ends_right]).ravel()
        value, worth = streams.values.T.ravel(), streams.importance.T.ravel()
        made = 0.0
        for now, stored in enumerate(stored_after_each(streams, ends)[:-1], start=1):
            partners = [row for row in stored if row % 2 != now % 2 and value[row] == value[now]]
            made += sum(min(worth[row], worth[now]) for row in partners if now - row <= 50)
        assert outcome.stats.importance == pytest.approx(made)
        assert outcome.stats.peak_rows == 8

    @pytest.mark.parametrize("name", [LAST_WINDOW, FADING])
    def test_the_row_given_up_is_worth_no_more_than_those_kept(self, name: str) -> None:
        streams = draw_streams(CASES[HOT_BY_ROW], seed=5, seconds=150)
        planned = plan(name, streams, memory=8, window_s=25, seed=5)
        ends = np.column_stack([planned.ends_left, planned.ends_right]).ravel()
        value, worth = streams.values.T.ravel(), streams.importance.T.ravel()
        at, checked = streams.seconds.T.ravel(), 0

        def count(row: int, now: int) -> float:
            if name == LAST_WINDOW:
                came = [e for e in range(now + 1) if e % 2 != row % 2 and at[now] - at[e] <= 25]
                return float(sum(value[e] == value[row] for e in came))
            ages = [at[now] - at[e] for e in range(now + 1) if value[e] == value[row]]
            return sum(math.exp(-FADE / 4 * age) for age in ages)

        for now in range(300):
            own = [row for row in range(now % 2, now + 1, 2) if now - row < 50]
            kept = [row for row in own if ends[row] > now]
            gone = [row for row in own if ends[row] == now or (row == now and ends[row] < 0)]
            scores = {row: worth[row] * count(row, now) for row in kept + gone}
            assert all(scores[row] >= scores[each] - 1e-9 for row in kept for each in gone)
            checked += len(gone)
        assert checked > 250

    def test_rand_stores_every_row_and_gives_up_any_of_the_others(self) -> None:
        streams = draw_streams(CASES[INDEPENDENT], seed=6, seconds=4000)
        planned = plan(RAND, streams, memory=6, window_s=1000, seed=6)
        ends = planned.ends_left
        assert (ends != NOT_KEPT).all()
        lives = Counter(((ends - 2 * np.arange(ends.size)) // 2).tolist())
        assert lives[1] / ends.size == pytest.approx(1 / 3, abs=0.03)
        assert lives[2] / ends.size == pytest.approx(2 / 9, abs=0.03)


def plain_ijoin(streams: Streams, memory: int, window_s: float) -> tuple[float, int, float]:
    """Importance, pairs and fairness of IJOIN with Table 5's thresholds, row by row."""
    stored: list[list[dict[str, float]]] = [[], []]
    importance, pairs, lives = 0.0, 0, []
    for event in range(streams.values.size):
        side, step = event % 2, event // 2
        now = float(streams.seconds[side, step])
        row = {
            "value": float(streams.values[side, step]),
            "imp": float(streams.importance[side, step]),
            "came": now,
            "matched": now,
            "matches": 0.0,
        }
        for own in (0, 1):
            # A row of S can last be met by a row of R, which comes before the S rows of its time.
            late = [r for r in stored[own] if now - r["came"] > window_s]
            late += [r for r in stored[own] if own == side == 1 and now - r["came"] == window_s]
            lives += [window_s] * len(late)
            stored[own] = [r for r in stored[own] if r not in late]
        for other in stored[1 - side]:
            if other["value"] == row["value"]:
                idle = now - other["matched"]
                other["matches"] = other["matches"] * math.exp(-DECAY * idle) + 1
                other["matched"] = now
                row["matches"] += 1
                pairs += 1
                importance += min(other["imp"], row["imp"])
        if len(stored[side]) == memory // 2:
            mature = [r for r in stored[side] if now - r["came"] > MATURITY_S]
            if not mature:
                lives.append(0.0)
                continue
            least = min(mature, key=lambda r: (priority(r, now), r["came"]))
            lives.append(now - least["came"])
            stored[side].remove(least)
        stored[side].append(row)
    fairness = sum(lives) ** 2 / (len(lives) * sum(life**2 for life in lives))
    return importance, pairs, fairness


def priority(row: dict[str, float], now: float) -> float:
    """Equations 5 to 8."""
    idle = now - row["matched"]
    matches = row["matches"] * math.exp(-DECAY * idle)
    penalty = PENALTY * idle if idle >= UNPRODUCTIVITY_S else 0.0
    return row["imp"] * matches / (now - row["came"]) - penalty


class TestIjoinAsThePaperHasIt:
    @pytest.mark.parametrize("case", [HOT, HOT_BY_ROW, INDEPENDENT])
    @pytest.mark.parametrize(("memory", "window_s"), [(4, 25.0), (10, 25.0), (20, 12.0)])
    def test_the_join_does_what_plain_python_does(
        self, case: str, memory: int, window_s: float
    ) -> None:
        streams = draw_streams(CASES[case], seed=7, seconds=300)
        importance, pairs, fairness = plain_ijoin(streams, memory, window_s)
        stats = streams.join(ijoin(), memory, window_s).stats
        assert (stats.importance, stats.pairs) == (pytest.approx(importance), pairs)
        assert stats.fairness == pytest.approx(fairness)


class TestAdmittingFirst:
    @pytest.mark.parametrize("seed", range(5))
    def test_with_ample_memory_the_order_changes_nothing(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        sides = []
        for _ in range(2):
            time, key = np.sort(rng.integers(0, 20, 40)), rng.integers(0, 4, 40).astype(np.int32)
            sides.append(Rows.of_arrivals(time, key, np.zeros(40, np.int64), np.zeros(40)))
        window = TimeWindow(5)
        terms = Terms((window, window), Fifo(), (UNLIMITED, 0), (UNLIMITED, 0))
        nothing = (Rows.empty(), Rows.empty())
        usual, admitting = (
            Twin(StepInput(terms, nothing, (sides[0], sides[1]), codes=4), admit_first=first)
            for first in (False, True)
        )
        assert len(usual.pairs) > 100
        assert sorted(usual.pairs) == sorted(admitting.pairs)

    def test_a_row_that_is_not_stored_meets_nobody(self) -> None:
        # The right row of time 1 finds the left one gone: the second left row took its place.
        left, right = (
            Rows.of_arrivals(
                np.array(time), np.array(key, np.int32), np.zeros(2, np.int64), np.zeros(2)
            )
            for time, key in (([0, 1], [0, 1]), ([1, 1], [0, 1]))
        )
        window = TimeWindow(5)
        terms = Terms((window, window), Fifo(), (1, 1), (UNLIMITED, UNLIMITED), pooled=False)
        nothing = (Rows.empty(), Rows.empty())
        step = Twin(StepInput(terms, nothing, (left, right), codes=2), admit_first=True)
        assert step.pairs == [(1, 1)]
