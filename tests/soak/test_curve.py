"""What a soak calls growth."""

from tests.soak.curve import Curve


def curve_of(values: list[float]) -> Curve:
    curve = Curve("a soak")
    for value in values:
        curve.add(1_000_000, process_MB=value, batch_s=value)
    return curve


def test_a_leak_is_growth_and_a_burst_is_not() -> None:
    flat = [500.0 + 10 * (number % 5) for number in range(300)]
    leak = [value + 2 * number for number, value in enumerate(flat)]
    burst = [value + 250 * (number % 97 == 96) for number, value in enumerate(flat)]
    assert curve_of(flat).grown() == []
    assert curve_of(burst).grown() == []
    (said,) = curve_of(leak).grown()
    assert said.startswith("a soak: process_MB grew from ")


def test_a_few_batches_tell_nothing() -> None:
    assert curve_of([1.0] * 5).grown() == ["a soak: 5 batches are too few to tell"]
