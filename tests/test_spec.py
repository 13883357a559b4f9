"""What a user may ask for, and how a request that cannot be served is answered."""

from datetime import timedelta

import pytest

from headgate.spec import Budget, Keys, RowWindow, Side, SpecError, TimeWindow
from headgate.spec.quantity import (
    format_bytes,
    format_duration,
    parse_bytes,
    parse_duration_us,
)
from headgate.spec.window import parse_window

NO_KEYS = (
    "a join needs keys: give on=, or both left_on= and right_on=; without keys, give "
    "where=hg.Band(...) or where=hg.Compare(...)"
)
UNITS = "microseconds, milliseconds, seconds, minutes, hours, days, weeks"


def message(call: object, *args: object, **kwargs: object) -> str:
    """What the error says."""
    with pytest.raises(SpecError) as error:
        call(*args, **kwargs)  # type: ignore[operator]
    return str(error.value)


@pytest.mark.parametrize(
    ("given", "micros"),
    [
        ("0 seconds", 0),
        ("1 microsecond", 1),
        ("5 milliseconds", 5_000),
        ("10 minutes", 600_000_000),
        ("1.5 hours", 5_400_000_000),
        ("1 hour 30 minutes", 5_400_000_000),
        ("1 hour, 30 minutes", 5_400_000_000),
        ("  2 Days ", 172_800_000_000),
        ("1week", 604_800_000_000),
        (timedelta(seconds=1, microseconds=2), 1_000_002),
    ],
)
def test_durations_are_read_as_people_write_them(given: str | timedelta, micros: int) -> None:
    assert parse_duration_us(given, "window") == micros


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("10 mins", 'window "10 mins" is not a duration: write "10 minutes"'),
        ("3 s", 'window "3 s" is not a duration: write "3 seconds"'),
        ("1.5 h", 'window "1.5 h" is not a duration: write "1.5 hours"'),
        ("soon", 'window "soon" is not a duration: write a number and a unit'),
        ("", 'window "" is not a duration: write a number and a unit'),
        ("10", 'window "10" is not a duration: write a number and a unit'),
        ("10 minutes ago", 'window "10 minutes ago" is not a duration: write a number and a unit'),
        ("1 month", f'such as "10 minutes" (units: {UNITS})'),
        ("-1 second", 'window "-1 second" is negative: a window reaches back zero or more'),
        (timedelta(days=-1), 'window "-1 day, 0:00:00" is negative'),
        ("40000 weeks 9999999 weeks", "is too long: at most 36,000 years"),
        (10, "window 10 is not a duration: give a text such as"),
        (None, "window None is not a duration: give a text such as"),
    ],
)
def test_a_duration_that_cannot_be_read_says_what_to_write(given: str, says: str) -> None:
    assert says in message(parse_duration_us, given, "window")


@pytest.mark.parametrize(
    ("given", "size"),
    [
        (1, 1),
        ("1 B", 1),
        ("64 MB", 64_000_000),
        ("64MiB", 64 << 20),
        ("1.5 kB", 1_500),
        ("2 gb", 2_000_000_000),
        (" 1 GiB ", 1 << 30),
    ],
)
def test_sizes_are_read_as_people_write_them(given: str | int, size: int) -> None:
    assert parse_bytes(given, "memory") == size


@pytest.mark.parametrize("given", ["64", "MB", "64 M", "many", 1.5, True, None])
def test_a_size_that_cannot_be_read_says_what_to_write(given: object) -> None:
    says = message(parse_bytes, given, "memory budget")
    assert says == (
        f"memory budget {given!r} is not a size: write a number and a unit, such as "
        f'"64 MB" or "1 GiB", or a whole number of bytes'
    )


@pytest.mark.parametrize("given", [0, -5, "0 MB"])
def test_a_size_must_leave_room(given: object) -> None:
    says = message(parse_bytes, given, "memory budget")
    assert says == f"memory budget {given!r} leaves nothing to store rows in: give more than zero"


def test_quantities_are_printed_for_people() -> None:
    assert format_bytes(512) == "512 B"
    assert format_bytes(1_500) == "1.5 kB"
    assert format_bytes(2_340_000_000) == "2.34 GB"
    assert format_duration(0) == "0 seconds"
    assert format_duration(1_000_000) == "1 second"
    assert format_duration(1_500_000) == "1,500 milliseconds"
    assert format_duration(86_400_000_000) == "1 day"


@pytest.mark.parametrize(
    ("given", "window"),
    [
        ("5 seconds", TimeWindow(5_000_000)),
        (timedelta(minutes=1), TimeWindow(60_000_000)),
        ("1 row", RowWindow(1)),
        ("1,000 rows", RowWindow(1_000)),
        ("1_000 rows", RowWindow(1_000)),
        (RowWindow(7), RowWindow(7)),
        (TimeWindow(7), TimeWindow(7)),
    ],
)
def test_windows_are_in_time_or_in_rows(given: str, window: TimeWindow | RowWindow) -> None:
    assert parse_window(given) == window


def test_windows_print_as_they_are_written() -> None:
    assert str(parse_window("90 minutes")) == "90 minutes"
    assert str(parse_window("1000 rows")) == "1,000 rows"


def test_a_window_of_negative_rows_is_refused() -> None:
    says = "window of -3 rows is negative: give zero or more rows"
    assert message(parse_window, "-3 rows") == says
    assert message(RowWindow, -3) == says


def test_a_side_reads_its_window() -> None:
    assert Side("at", "1 second") == Side(time="at", window=TimeWindow(1_000_000))


@pytest.mark.parametrize("time", ["", None, 3])
def test_a_side_needs_a_time_column(time: object) -> None:
    says = message(Side, time=time, window="1 second")
    assert says == f"time {time!r} is not a column name: give the event-time column"


def test_a_side_refuses_a_window_it_cannot_read() -> None:
    assert 'window "1 sec" is not a duration: write "1 seconds"' in message(Side, "at", "1 sec")


def test_keys_are_one_column_or_several() -> None:
    assert Keys.parse(on="a") == Keys(("a",), ("a",))
    assert Keys.parse(on=["a", "b"]) == Keys(("a", "b"), ("a", "b"))
    assert Keys.parse(left_on="a", right_on="b") == Keys(("a",), ("b",))
    assert Keys.parse(left_on=("a", "b"), right_on=("c", "b")).shared == ("b",)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, NO_KEYS),
        ({"left_on": "a"}, NO_KEYS),
        ({"on": "a", "left_on": "a"}, "give either on= or left_on= and right_on=, not both"),
        ({"on": []}, "on [] names no columns: give a column name or several"),
        ({"on": ""}, "on '' names no columns: give a column name or several"),
        ({"on": ["a", 1]}, "on ['a', 1] names no columns: give a column name or several"),
        ({"on": ["a", "a"]}, "on ['a', 'a'] names a column twice"),
        (
            {"left_on": ["a", "b"], "right_on": "c"},
            "left_on names 2 columns and right_on 1: they are compared in pairs, "
            "give as many on both sides",
        ),
    ],
)
def test_keys_that_name_nothing_to_compare_are_refused(given: dict[str, object], says: str) -> None:
    assert message(Keys.parse, **given) == says


def test_a_budget_is_rows_memory_or_both() -> None:
    both = Budget(rows=1_000, memory="64 MB", split=(3, 1))
    assert (both.rows, both.memory, both.shares) == (1_000, 64_000_000, (0.75, 0.25))
    assert str(both) == "1,000 rows and 64 MB"
    assert str(Budget(memory=2_000)) == "2 kB"
    assert Budget(rows=1).shares is None
    assert Budget(rows=1, split=[0, 2]).shares == (0.0, 1.0)


def test_a_budget_without_a_limit_is_refused() -> None:
    assert message(Budget) == "a budget needs a limit: give rows=, memory=, cpu=, or several"


@pytest.mark.parametrize("rows", [0, -1, 1.5, "10", True])
def test_a_budget_of_rows_is_a_whole_number(rows: object) -> None:
    says = message(Budget, rows=rows)
    assert says == f"budget of {rows!r} rows: give a whole number of rows, one or more"


def test_a_budget_of_memory_that_cannot_be_read_is_refused() -> None:
    assert "memory budget '64 megs' is not a size" in message(Budget, memory="64 megs")


@pytest.mark.parametrize(
    "split",
    ["even", (1,), (1, 2, 3), (-1, 2), (0, 0), (1, float("inf")), (1, float("nan")), ("1", "2")],
)
def test_a_split_is_pooled_or_two_weights(split: object) -> None:
    says = message(Budget, rows=10, split=split)
    assert says == (
        f'split {split!r} is not accepted: give "pooled", "planned", or two weights such as '
        f"(3, 1), none negative and not both zero"
    )


def test_requests_are_frozen_and_compare_by_value() -> None:
    assert Budget(memory="1 MB") == Budget(memory=1_000_000)
    with pytest.raises(AttributeError):
        Budget(rows=1).rows = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        Side("at", "1 second").time = "later"  # type: ignore[misc]


def test_a_spec_error_is_a_value_error() -> None:
    assert issubclass(SpecError, ValueError)
