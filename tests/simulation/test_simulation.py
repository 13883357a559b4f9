"""A few simulated schedules in every round, and all that ever failed; `make simulate` runs more."""

import pytest

from headgate.spark.state import shard_state
from tests.simulation.__main__ import run_workload, told
from tests.simulation.faults import Fault
from tests.simulation.rules import check_budget
from tests.simulation.shrinking import shrunk
from tests.simulation.simulation import Prepared, prepared
from tests.simulation.state_store import StateStore, nothing
from tests.simulation.workload import Asked, Batch, Row, Workload
from tests.thoroughness import LONG

pytestmark = pytest.mark.spark

USUAL = 4


@pytest.mark.parametrize("number", range(100, 100 + (60 if LONG else USUAL)))
def test_whatever_happens_the_output_is_that_of_the_undisturbed_run(number: int) -> None:
    failed = run_workload(number, schedules=12 if LONG else 4)
    assert not failed, told(*failed[0])


def test_a_budget_made_smaller_at_a_restart_ends_limits_of_before() -> None:
    """The simulator found that a limit published before was larger, and held."""
    rows = [Row(0, number, 0, 5, 1, None) for number in range(12)]
    batches = (
        Batch(tuple(rows[:6]), limits=("3830",)),
        Batch(tuple(rows[6:]), changes=(("rows", 8),)),
    )
    asked = Asked((5, 5), rows=100_000, monitor=0.0)
    ready = Prepared(Workload(asked, batches, shared=True), ())
    check_budget(ready.workload, ready.undisturbed.sink)
    assert ready.undisturbed.sink[1].figures["stored_rows"] == 8


def test_a_first_batch_of_rows_without_a_key_ends_no_query() -> None:
    """The simulator found that an outer join with a monitor looked up the hash of no key."""
    batches = (Batch((Row(0, 0, None, 5, 1, None),)), Batch(has_input=False, ahead=100))
    asked = Asked((5, 5), how="full", rows=100_000, monitor=0.3)
    ready = Prepared(Workload(asked, batches), ())
    assert [output.figures["null_keys"] for output in ready.undisturbed.sink.values()] == [1, 0]


def test_a_wrong_row_is_told_as_a_small_story(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault that brings dead rows back is found, and its schedule made small."""
    monkeypatch.setattr(shard_state, "mark_dead", lambda segments, held, alive: segments)
    found = next(
        schedule for number in range(40) for _, schedule in run_workload(number, schedules=0)
    )
    small = shrunk(found)
    error = small.failure()
    assert error is not None
    rows = [sum(len(b.rows) for b in each.workload.batches) for each in (found, small)]
    assert rows[1] <= rows[0]
    assert "batch 0" in small.story


def test_the_store_gives_each_batch_the_version_before_it() -> None:
    store = StateStore()
    first = nothing() | {"head": (b"1",)}
    store.commit(0, 0, first)
    working = store.load(0, 0)
    working["segments"]["a", 0] = (b"2",)
    assert store.load(0, 0)["segments"] == {}
    assert store.load(0, -1)["head"] is None


def test_a_driver_may_be_killed_before_any_call() -> None:
    """Every fifth of two batches, one after the other."""
    ready = prepared(101)
    for batch, ticks in enumerate(ready.undisturbed.ticks[:2]):
        for tick in range(0, ticks, 5):
            cluster = ready.disturbed((Fault(batch, tick, "kill the driver", 1),))
            assert cluster.run_number, "nothing was killed"
