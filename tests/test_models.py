"""The frequency model: counted, given, looked up."""

import pyarrow as pa
import pytest

from headgate.models import Frequencies
from headgate.models.frequencies import KeyFrequencies
from headgate.spec import SpecError


def column(values: list[object], kind: pa.DataType | None = None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values, kind)])


def test_shares_are_counted_without_null_keys() -> None:
    counted = KeyFrequencies.of_columns([column(["a", "b", "a", None, "a"])])
    assert counted.look_up([column(["a", "b", None, "c"])]).tolist() == [0.75, 0.25, 0.0, 0.0]
    assert counted.share.sum() == 1.0


def test_composite_keys_are_counted_as_one() -> None:
    counted = KeyFrequencies.of_columns([column([1, 1, 2, None]), column(["x", "y", "x", "x"])])
    asked = [column([1, 1, 2, 2]), column(["x", "y", "x", "y"])]
    assert counted.look_up(asked).tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0.0])


@pytest.mark.parametrize("sample", [[], [None, None]])
def test_a_sample_without_keys_knows_none(sample: list[object]) -> None:
    counted = KeyFrequencies.of_columns([column(sample, pa.int64())])
    assert counted.look_up([column([1, None])]).tolist() == [0.0, 0.0]


def test_shares_may_be_given() -> None:
    given = KeyFrequencies.of_mapping({("a", 1): 0.5, ("b", 2): 0.25})
    assert given.look_up([column(["b", "a", "a"]), column([2, 1, 2])]).tolist() == [0.25, 0.5, 0.0]


def test_keys_are_looked_up_by_value_whatever_their_width() -> None:
    given = KeyFrequencies.of_mapping({1: 0.5, 2: 0.25})
    assert given.look_up([column([2, 1, 3], pa.int32())]).tolist() == [0.25, 0.5, 0.0]


def test_a_row_is_matched_by_the_other_sides_keys() -> None:
    model = Frequencies.of_tables(
        pa.table({"id": ["a", "a", "b", "c"]}),
        pa.table({"ref": ["a", "b", "b", "b"]}),
        left_on=["id"],
        right_on=["ref"],
    )
    keys = [column(["a", "b", "c"])]
    assert model.match_probability(keys, side=0).tolist() == [0.25, 0.75, 0.0]
    assert model.match_probability(keys, side=1).tolist() == [0.5, 0.25, 0.25]


def test_nothing_asked_is_nothing_answered() -> None:
    model = Frequencies.of_mappings({"a": 1.0}, {"a": 1.0})
    assert model.match_probability([column([], pa.string())], side=0).tolist() == []


def test_an_empty_mapping_is_refused() -> None:
    with pytest.raises(SpecError, match="give at least one key and its frequency"):
        KeyFrequencies.of_mapping({})


@pytest.mark.parametrize("share", [-0.1, float("nan"), float("inf")])
def test_frequencies_that_are_no_shares_are_refused(share: float) -> None:
    with pytest.raises(SpecError, match="must be finite and not negative"):
        KeyFrequencies.of_mapping({"a": 0.5, "b": share})


def test_a_model_of_other_keys_is_refused() -> None:
    model = KeyFrequencies.of_mapping({"a": 1.0})
    with pytest.raises(SpecError, match="keys of 1 columns and the join of 2: learn the model"):
        model.look_up([column(["a"]), column(["b"])])
