"""The age model's formulas, against the paper's examples and against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.models import AgeCurve, AgeCurves, Frequencies, MemoryCurve, best_split
from headgate.spec import SpecError
from tests.thoroughness import examples

curves = st.lists(st.integers(0, 9), min_size=1, max_size=12).filter(any)


def test_the_curve_of_example_3_3() -> None:
    curve = AgeCurve(1, [1, 1, 2, 1])
    assert curve.cumulative.tolist() == [0, 1, 2, 4, 5]
    assert curve.best_age == 3
    assert curve.output(1.0).at(1) * 3 == pytest.approx(4)
    assert not curve.has_minimum


def test_the_curve_of_example_3_4() -> None:
    curve = AgeCurve(1, [3, 0, 2])
    assert curve.best_age == 1
    assert curve.has_minimum
    assert curve.output(1.0).at(2) == 3


@given(curves)
def test_the_best_age_is_the_best_of_all(matches: list[int]) -> None:
    curve = AgeCurve(7, matches)
    rates = [sum(matches[:k]) / k for k in range(1, len(matches) + 1)]
    assert curve.best_age == 7 * (rates.index(max(rates)) + 1)


@given(curves)
def test_a_minimum_is_what_the_paper_calls_one(matches: list[int]) -> None:
    found = any(
        matches[i] > matches[j] < matches[k]
        for j in range(len(matches))
        for i in range(j)
        for k in range(j + 1, len(matches))
    )
    assert AgeCurve(1, matches).has_minimum == found


@given(curves)
def test_priorities_are_the_fastest_rate_to_come(matches: list[int]) -> None:
    starts, ends = AgeCurve(1, matches).priorities()
    total = np.concatenate([[0], np.cumsum(matches)])
    for i, start in enumerate(starts):
        best = max((total[j] - total[i]) / (j - i) for j in range(i + 1, len(total)))
        assert start == pytest.approx(best)
        almost = i + 1 - 1e-7
        near = total[i] + matches[i] * (almost - i)
        before = max((total[j] - near) / (j - almost) for j in range(i + 1, len(total)))
        assert ends[i] == pytest.approx(before, rel=1e-4, abs=1e-4)


@given(curves, st.floats(0, 1))
def test_the_inverse_undoes_the_cumulative_curve(matches: list[int], share: float) -> None:
    curve = AgeCurve(5, matches)
    age = curve.age_of(share * curve.total)
    assert curve.matches_by(age) == pytest.approx(share * curve.total, abs=1e-9)


corners = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=8)


@examples(60)
@given(corners, corners, st.integers(0, 60))
def test_no_split_of_memory_beats_the_best(
    left: list[tuple[int, int]], right: list[tuple[int, int]], rows: int
) -> None:
    def curve(steps: list[tuple[int, int]]) -> MemoryCurve:
        widths, rises = zip(*steps, strict=True)
        return MemoryCurve(
            np.concatenate([[0], np.cumsum(widths)]), np.concatenate([[0], np.cumsum(rises)])
        )

    a, b = curve(left), curve(right)
    best = best_split(a, b, rows)
    assert best.left + best.right == rows
    for share in np.linspace(0, rows, 241):
        assert a.at(share) + b.at(rows - share) <= best.output + 1e-9


def test_prob_output_is_that_of_the_most_frequent_keys() -> None:
    model = Frequencies.of_mappings({1: 0.5, 2: 0.3, 3: 0.2}, {1: 0.1, 2: 0.2, 3: 0.7})
    curve = model.output(0, (2.0, 5.0), window=10)
    # A full window holds 20 rows: 4 of key 3, which PROB keeps first, then 6 of key 2.
    assert curve.at(4) == pytest.approx(4 * 5 * 0.7)
    assert curve.at(7) == pytest.approx(4 * 5 * 0.7 + 3 * 5 * 0.2)
    assert curve.most == pytest.approx(2 * 5 * 10 * (0.5 * 0.1 + 0.3 * 0.2 + 0.2 * 0.7))


def test_models_survive_json() -> None:
    ages = AgeCurves(AgeCurve(3, [1, 2.5]), AgeCurve(1, [0]))
    assert AgeCurves.from_json(ages.to_json()) == ages
    model = Frequencies.of_mappings({("a", 1): 0.5}, {("b", 2): 1.0, ("a", 1): 0.25})
    again = Frequencies.from_json(model.to_json())
    assert again.right.share.tolist() == [1.0, 0.25]
    assert again.match_probability(model.left.columns, 0).tolist() == [0.25]


def test_models_draw_themselves() -> None:
    axes = AgeCurve(60_000_000, [1, 4, 2]).plot(label="left")
    assert axes.get_xlabel() == "age k (minutes)"
    assert axes.get_legend_handles_labels()[1] == ["left"]
    frequencies = Frequencies.of_mappings({1: 0.75, 2: 0.25}, {1: 1.0})
    assert frequencies.left.plot().get_yscale() == "log"


@pytest.mark.parametrize(
    ("width", "matches", "complaint"),
    [
        (0, [1], "width=0 is not"),
        (1, [], "at least one bucket"),
        (1, [1, -1], "not negative"),
        (1, [float("nan")], "finite"),
    ],
)
def test_a_curve_that_makes_no_sense_is_refused(
    width: int, matches: list[float], complaint: str
) -> None:
    with pytest.raises(SpecError, match=complaint):
        AgeCurve(width, matches)
