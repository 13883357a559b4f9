"""The ceiling by prices: never below the optimum, near it, and its plan within the budget."""

import numpy as np
from hypothesis import given

from headgate.policies.offline import Ceiling, Opt
from headgate.policies.offline.course import Events
from headgate.studies.auto.streams import STREAMS
from headgate.studies.streams import TIMES, Streams
from tests.offline_cases import Case, cases
from tests.thoroughness import examples


def ceiling_of(case: Case) -> Ceiling:
    split = case.split or "pooled"
    return Ceiling.of(case.events(0), case.events(1), case.windows, case.memory, split)


@examples(40)
@given(case=cases(most=40, keys=4))
def test_no_plan_makes_more_than_the_ceiling(case: Case) -> None:
    best, ceiling = case.plan().value, ceiling_of(case)
    assert best <= ceiling.value * (1 + 1e-9)
    assert case.join(ceiling.plan).num_rows <= best


@examples(20)
@given(case=cases(most=30, keys=3))
def test_no_plan_is_worth_more_than_the_ceiling_where_pairs_differ(case: Case) -> None:
    worth = [1.0 + np.arange(len(case.events(side).time)) % 5 for side in (0, 1)]
    asked = (case.events(0), case.events(1), case.windows, case.memory, case.split or "pooled")
    assert Opt.plan(*asked, worth).value <= Ceiling.of(*asked, worth).value * (1 + 1e-9)


def events_of(streams: Streams, side: int) -> Events:
    table = streams.tables[side]
    return Events(
        table.column(TIMES[side]).cast("int64").to_numpy(), table.column("key").to_numpy()
    )


def test_the_ceiling_is_near_the_optimum() -> None:
    for name in ("INC", "DEC", "mixed"):
        streams = STREAMS[name](6_000, 6, 3)
        left, right = (events_of(streams, side) for side in (0, 1))
        windows = tuple(f"{span} seconds" for span in streams.windows)
        best = Opt.plan(left, right, windows, 60).value
        ceiling = Ceiling.of(left, right, windows, 60).value
        assert best <= ceiling <= 1.05 * best, name


def test_where_everything_fits_the_ceiling_is_every_pair() -> None:
    times = np.arange(100)
    events = Events(times, times % 7)
    ceiling = Ceiling.of(events, events, ("1 second", "1 second"), 10_000)
    counts = np.bincount(times % 7)
    assert ceiling.value == (counts**2).sum()
