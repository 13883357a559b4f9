"""One memory for several joins: ALLOC against brute force, against PROP, and its edges."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.models import AgeCurve, MemoryCurve, best_split, together
from headgate.planner.budget_allocation import alloc, prop
from headgate.planner.quality_curve import Measure, QualityCurve
from headgate.spec import SpecError
from tests.thoroughness import examples

GRID = 120
NAMES = "abc"


@st.composite
def curve(draw: st.DrawFn, measure: Measure = Measure.RECALL) -> QualityCurve:
    """Curves of several families: concave, late risers, stairs with flats, and those that stop."""
    full = draw(st.floats(1, 1000))
    points = np.linspace(0, 1, draw(st.integers(2, 12)))
    family = draw(st.sampled_from(["concave", "late", "stairs", "drawn"]))
    if family == "concave":
        rising = points ** draw(st.floats(0.1, 1.0))
    elif family == "late":
        rising = points ** draw(st.floats(1.0, 6.0))
    elif family == "stairs":
        # Every second point stands where the one before does: a step.
        points = np.repeat(points, 2)
        rising = np.repeat(np.linspace(0, 1, len(points) // 2), 2)
        rising = np.concatenate([[0.0], rising[:-1]])
    else:
        steps = draw(st.lists(st.floats(0, 1), min_size=len(points), max_size=len(points)))
        rising = np.cumsum(steps) / max(sum(steps), 1e-9)
        rising[0] = 0.0
    # At least a hundredth, so that one percent of it is more than rounding.
    start, best = draw(st.floats(0.01, 0.3)), draw(st.floats(0.4, 1.0))
    quality = start + (best - start) * np.minimum(rising, 1.0)
    if measure is Measure.ERROR:
        quality = 1.01 - quality
    return QualityCurve(full * points, quality, measure)


@st.composite
def group(
    draw: st.DrawFn, measure: Measure = Measure.RECALL
) -> tuple[dict[str, QualityCurve], float, dict[str, float]]:
    """Two or three joins, memory for a part of what they take, and weights."""
    names = NAMES[: draw(st.integers(2, 3))]
    curves = {name: draw(curve(measure)) for name in names}
    part = draw(st.just(0.0) | st.floats(1e-6, 1.3))
    weights = {name: draw(st.floats(0.5, 2.0)) for name in names}
    return curves, part * sum(each.full for each in curves.values()), weights


def worst_standing(
    curves: dict[str, QualityCurve], weights: dict[str, float], memory: dict[str, float]
) -> float:
    return min(curves[name].standing(memory[name], weights[name]) for name in curves)


def brute_force(curves: dict[str, QualityCurve], weights: dict[str, float], memory: float) -> float:
    """The best of all allocations on a fine grid, the corners of the curves among them."""
    *others, last = curves
    cuts = []
    for name in others:
        corners = np.concatenate([curves[name].memory, memory - curves[last].memory])
        inside = corners[(corners >= 0) & (corners <= memory)]
        cuts.append(np.unique(np.concatenate([np.linspace(0, memory, GRID), inside])))
    amounts = [*np.meshgrid(*cuts, indexing="ij")]
    rest = memory - sum(amounts)
    worst = np.full(rest.shape, inf)
    for name, amount in zip(curves, [*amounts, rest], strict=True):
        quality = np.interp(amount, curves[name].memory, curves[name].quality)
        worst = np.minimum(worst, standings(curves[name].measure, quality, weights[name]))
    return float(worst[rest >= 0].max())


def standings(measure: Measure, quality: np.ndarray, weight: float) -> np.ndarray:
    return quality / weight if measure is Measure.RECALL else -quality * weight


@pytest.mark.parametrize("measure", Measure)
class TestAlloc:
    @examples(60)
    @given(data=st.data())
    def test_no_allocation_is_better_by_more_than_one_percent(
        self, measure: Measure, data: st.DataObject
    ) -> None:
        curves, memory, weights = data.draw(group(measure))
        found = alloc(curves, memory, weights)
        best = brute_force(curves, weights, memory)
        reached = worst_standing(curves, weights, found.memory)
        assert reached >= best - 0.01 * abs(best)
        sign = 1 if measure is Measure.RECALL else -1
        assert found.worst == sign * reached

    @examples(200)
    @given(data=st.data())
    def test_all_memory_is_handed_out_and_no_more(
        self, measure: Measure, data: st.DataObject
    ) -> None:
        curves, memory, weights = data.draw(group(measure))
        for found in (alloc(curves, memory, weights), prop(curves, memory, weights)):
            assert sum(found.memory.values()) == pytest.approx(memory, rel=1e-9)
            assert min(found.memory.values()) >= 0

    @examples(200)
    @given(data=st.data())
    def test_the_worst_off_is_never_worse_off_than_under_prop(
        self, measure: Measure, data: st.DataObject
    ) -> None:
        curves, memory, weights = data.draw(group(measure))
        ours = worst_standing(curves, weights, alloc(curves, memory, weights).memory)
        theirs = worst_standing(curves, weights, prop(curves, memory, weights).memory)
        assert ours >= theirs - 1e-9


class TestWhoGetsWhat:
    @examples(100)
    @given(
        powers=st.lists(st.floats(0.2, 5), min_size=2, max_size=5),
        part=st.floats(0.05, 0.95),
        data=st.data(),
    )
    def test_all_joins_come_out_alike_where_they_can(
        self, powers: list[float], part: float, data: st.DataObject
    ) -> None:
        """Theorem 5.1, with weights."""
        points = np.linspace(0, 1, 50)
        curves = {str(at): QualityCurve(100 * points, points**p) for at, p in enumerate(powers)}
        weights = {name: data.draw(st.floats(0.8, 1.25)) for name in curves}
        found = alloc(curves, part * 100 * len(curves), weights)
        standings = [found.quality[name] / weights[name] for name in curves]
        if max(found.quality.values()) < 1 - 1e-6:
            assert max(standings) - min(standings) < 1e-9

    def test_a_join_at_its_best_leaves_the_rest_to_the_others(self) -> None:
        poor = QualityCurve([0, 10, 50], [0.0, 0.3, 0.3])
        good = QualityCurve([0, 100], [0.0, 1.0])
        found = alloc({"poor": poor, "good": good}, 80)
        assert found.worst == 0.3
        assert found.memory["poor"] == pytest.approx(10)
        assert found.quality["good"] == pytest.approx(0.7)

    def test_a_step_nobody_can_pay_for_does_not_hold_up_the_others(self) -> None:
        stair = QualityCurve([0, 10, 90, 90], [0.0, 0.2, 0.2, 1.0])
        smooth = QualityCurve([0, 100], [0.0, 1.0])
        found = alloc({"stair": stair, "smooth": smooth}, 70)
        assert found.quality["stair"] == pytest.approx(0.2)
        assert found.quality["smooth"] == pytest.approx(0.6)

    def test_steps_that_take_just_what_there_is_are_all_taken(self) -> None:
        tenth = QualityCurve([0, 0.1, 0.1], [0.1, 0.1, 1.0])
        for joins in range(2, 9):
            curves = {str(at): tenth for at in range(joins)} | {
                "line": QualityCurve([0, 3], [0.1, 1.0])
            }
            assert alloc(curves, joins * 0.1 + 1).worst == pytest.approx(0.4)

    def test_memory_that_helps_nobody_goes_to_those_that_lack_some(self) -> None:
        flat = QualityCurve([0, 10, 40], [0.0, 1.0, 1.0])
        filled = QualityCurve([0, 10], [0.0, 1.0])
        found = alloc({"flat": flat, "filled": filled}, 30)
        assert found.memory == pytest.approx({"flat": 20, "filled": 10})

    def test_more_than_all_is_shared_in_proportion(self) -> None:
        curves = {"a": QualityCurve([0, 10], [0, 1]), "b": QualityCurve([0, 30], [0, 1])}
        assert alloc(curves, 80).memory == pytest.approx({"a": 20, "b": 60})

    def test_twice_the_weight_is_twice_the_recall(self) -> None:
        line = QualityCurve([0, 100], [0.0, 1.0])
        found = alloc({"a": line, "b": line}, 60, {"a": 2.0})
        assert found.quality == pytest.approx({"a": 0.4, "b": 0.2})

    def test_twice_the_weight_is_half_the_error(self) -> None:
        line = QualityCurve([0, 100], [1.0, 0.0], Measure.ERROR)
        found = alloc({"a": line, "b": line}, 60, {"a": 2.0})
        assert found.quality["b"] == pytest.approx(2 * found.quality["a"])
        assert found.worst == pytest.approx(found.quality["b"])

    def test_no_memory_is_shared_out_too(self) -> None:
        line = QualityCurve([0, 100], [0.0, 1.0])
        assert alloc({"a": line, "b": line}, 0).memory == {"a": 0.0, "b": 0.0}


class TestCurves:
    @given(curve(), st.floats(0, 1))
    def test_what_is_needed_is_enough_and_no_more(self, found: QualityCurve, part: float) -> None:
        quality = found.quality[0] + part * (found.best - found.quality[0])
        need = found.need(quality)
        assert found.at(need * (1 + 1e-12) + 1e-12) >= quality - 1e-9
        assert need <= found.full

    def test_what_is_out_of_reach_needs_more_than_there_is(self) -> None:
        assert QualityCurve([0, 10], [0.0, 0.5]).need(0.6) == inf

    def test_a_step_is_taken_where_it_stands(self) -> None:
        step = QualityCurve([0, 10, 10, 20], [0.1, 0.1, 0.9, 1.0])
        assert step.at(9.99) == pytest.approx(0.1)
        assert step.at(10) == 0.9
        assert step.need(0.5) == 10

    def test_two_sides_together_do_what_the_best_split_does(self) -> None:
        rng = np.random.default_rng(3)
        sides = [
            MemoryCurve(
                np.concatenate([[0], np.cumsum(rng.random(8))]),
                np.concatenate([[0], np.cumsum(np.sort(rng.random(8))[::-1])]),
            ).concave()
            for _ in range(2)
        ]
        both = together(sides[0], sides[1])
        for rows in np.linspace(0, 8, 30):
            assert both.at(rows) == pytest.approx(best_split(sides[0], sides[1], rows).output)

    def test_the_hull_of_an_age_curve_with_a_minimum_is_what_taking_turns_makes(self) -> None:
        output = AgeCurve(1, [3, 0, 2]).output(1.0)
        assert output.at(2) == 3
        assert output.concave().at(2) == pytest.approx(4)

    @given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9)), min_size=1, max_size=60))
    def test_a_hull_is_the_highest_line_between_any_two_points(
        self, points: list[tuple[int, int]]
    ) -> None:
        rows, output = np.array(sorted(points), float).T
        hull = MemoryCurve(rows, output).concave()
        assert len(hull.rows) == len(set(hull.rows))
        for at in {*rows}:
            lines = [
                np.interp(at, [rows[i], rows[j]], [output[i], output[j]])
                for i in range(len(rows))
                for j in range(i, len(rows))
                if rows[i] <= at <= rows[j] and (rows[i] < rows[j] or i == j)
            ]
            assert hull.at(at) == pytest.approx(max(lines))


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("memory", "quality", "says"),
        [
            ([0, 1], [0.5], "as many"),
            ([], [], "one or more"),
            ([0, 2, 1], [0, 0.5, 1], "ascending"),
            ([1, 2], [0, 1], "from 0 upwards"),
            ([0, 1], [1, 0.5], "recall falls with more memory"),
            ([0, 1], [0, inf], "finite"),
            ([0, 1], [-0.5, 0.5], "below 0"),
        ],
    )
    def test_curves_that_are_none(
        self, memory: list[float], quality: list[float], says: str
    ) -> None:
        with pytest.raises(SpecError, match=says):
            QualityCurve(memory, quality)  # type: ignore[arg-type]

    def test_an_error_that_grows_with_memory(self) -> None:
        with pytest.raises(SpecError, match="error rises"):
            QualityCurve([0, 1], [0.5, 1.0], Measure.ERROR)  # type: ignore[arg-type]

    def test_allocations_that_make_no_sense(self) -> None:
        line = QualityCurve([0, 1], [0.0, 1.0])  # type: ignore[arg-type]
        error = QualityCurve([0, 1], [1.0, 0.0], Measure.ERROR)  # type: ignore[arg-type]
        with pytest.raises(SpecError, match="no join"):
            alloc({}, 1)
        with pytest.raises(SpecError, match="one measure"):
            alloc({"a": line, "b": error}, 1)
        with pytest.raises(SpecError, match="memory=-1"):
            alloc({"a": line}, -1)
        with pytest.raises(SpecError, match=r"'c', which is not a join.*'a'"):
            alloc({"a": line}, 1, {"c": 1.0})
        for weight in (0, -1, inf, "2", True):
            with pytest.raises(SpecError, match="the weight of 'a'"):
                alloc({"a": line}, 1, {"a": weight})  # type: ignore[dict-item]
