"""A processor budget in process, on a machine whose speed the test decides."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.engine.replay import Replay
from headgate.engine.stats import Stats
from headgate.kernel.pace import Costs
from headgate.pacing import event_pacing
from tests.thoroughness import usually

START_US = 1_700_000_000_000_000
LASTS_S = 60


@dataclass
class Machine:
    """Takes as long for work as it is told, whatever the real one does."""

    costs: Costs
    step_s: float
    steps: int = 0
    watched: Replay | None = None

    def process_time(self) -> float:
        """Asked once when a replay begins, then after every step."""
        assert self.watched is not None
        done: Stats = self.watched.stats
        self.steps += 1
        work = self.costs.of(sum(self.watched.let_in), done.admitted, done.pairs)
        return (self.steps - 1) * self.step_s + work


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine three times as slow as the costs say, with a millisecond a step."""
    made = Machine(Costs(1.2e-6, 6e-7, 3e-7), step_s=1e-3)
    begun = Replay.__init__

    def begin(self: Replay, *given: object, **more: object) -> None:
        begun(self, *given, **more)  # type: ignore[arg-type]
        if self._pacing is not None:
            made.watched, made.steps = self, 0

    monkeypatch.setattr(Replay, "__init__", begin)
    monkeypatch.setattr(event_pacing, "process_time", made.process_time)
    return made


def streams(
    rate: float, keys: int, zipf: float = 0.0, burst: tuple[float, float] | None = None
) -> tuple[pa.Table, pa.Table]:
    """Two streams of a minute, with a stretch in which rows come ten times as fast."""
    rng = np.random.default_rng(11)
    chances = 1.0 / np.arange(1, keys + 1) ** zipf
    chances /= chances.sum()

    def side(name: str) -> pa.Table:
        seconds = rng.uniform(0, LASTS_S, int(rate * LASTS_S))
        if burst is not None:
            more = rng.uniform(*burst, int(9 * rate * (burst[1] - burst[0])))
            seconds = np.concatenate([seconds, more])
        times = START_US + (np.sort(seconds) * 1e6).astype(np.int64)
        return pa.table(
            {
                "key": rng.choice(keys, len(times), p=chances),
                name: pa.array(times).cast(pa.timestamp("us")),
            }
        )

    return side("opened"), side("answered")


def join(budget: hg.Budget, policy: str = "auto") -> hg.WindowJoin:
    """Rows of both sides wait five seconds."""
    return hg.WindowJoin(
        on="key",
        left=hg.Side("opened", "5 seconds"),
        right=hg.Side("answered", "5 seconds"),
        budget=budget,
        policy=policy,
        seed=5,
    )


@pytest.mark.parametrize("policy", ["fifo", "auto"])
@pytest.mark.parametrize("keys", usually((12,), (30, 12, 4)))
def test_half_of_what_is_needed_or_less_is_what_is_taken(
    machine: Machine, policy: str, keys: int
) -> None:
    """At three factors of overload, of which the greatest is some ten."""
    cpu = 0.02
    outcome = join(hg.Budget(cpu=cpu), policy).run(*streams(500, keys))
    # Windows fill in the first five seconds, and there is little to do until then.
    assert 0.9 * cpu < machine.process_time() / LASTS_S < 1.04 * cpu
    assert outcome.stats.unstored > 0
    assert 0.03 < outcome.recall < 0.9
    if policy == "auto":
        assert outcome.estimated_recall is not None
        assert outcome.estimated_recall.value == pytest.approx(outcome.recall, rel=0.1)


def test_with_time_enough_nothing_is_left_undone(machine: Machine) -> None:
    outcome = join(hg.Budget(cpu=1.0)).run(*streams(500, 100))
    assert outcome.recall == 1.0
    assert outcome.stats.unprobed == outcome.stats.unstored == 0
    assert machine.process_time() < LASTS_S


def test_a_burst_is_shed_and_forgotten(machine: Machine) -> None:
    """Ten times the rows for ten seconds take no more time; after them all is as before."""
    cpu, burst = 0.04, (20.0, 30.0)
    tables = streams(500, 100, burst=burst)
    calm = join(hg.Budget(cpu=cpu)).run(*streams(500, 100))
    hit = join(hg.Budget(cpu=cpu)).run(*tables)
    assert machine.process_time() / LASTS_S < 1.06 * cpu

    def made(outcome: hg.Outcome, first: float, end: float) -> int:
        micros = outcome.pairs.column("answered").cast(pa.int64()).to_numpy()
        seconds = (micros - START_US) / 1e6
        return int(np.count_nonzero((seconds >= first) & (seconds < end)))

    assert made(hit, 40, 60) == pytest.approx(made(calm, 40, 60), rel=0.15)
    assert made(hit, 20, 30) > 0.5 * made(calm, 20, 30)


def test_keys_that_bring_most_for_their_work_are_stored(machine: Machine) -> None:
    """Skewed keys: with what the keys are worth known, the same time makes more pairs."""
    machine.costs = Costs(1e-6, 2e-5, 3e-7)
    tables = streams(500, 3000, zipf=1.0)
    frequencies = hg.Frequencies.of_tables(*tables, left_on=["key"], right_on=["key"])
    budget = hg.Budget(cpu=0.012)
    blind = join(budget, "random").run(*tables)
    told = hg.WindowJoin(
        on="key",
        left=hg.Side("opened", "5 seconds"),
        right=hg.Side("answered", "5 seconds"),
        budget=budget,
        policy="prob",
        frequencies=frequencies,
    ).run(*tables)
    assert told.stats.pairs > 1.15 * blind.stats.pairs
    assert told.stats.admitted < blind.stats.admitted


@pytest.mark.parametrize("policy", ["random", "auto"])
def test_memory_and_processor_hold_together(machine: Machine, policy: str) -> None:
    budget = hg.Budget(cpu=0.02, rows=1200)
    outcome = join(budget, policy).run(*streams(500, 40))
    assert outcome.stats.peak_rows <= 1200
    assert machine.process_time() / LASTS_S < 1.06 * 0.02
    alone = join(hg.Budget(rows=1200), policy).run(*streams(500, 40))
    assert outcome.recall < alone.recall


def test_row_windows_look_at_every_row(machine: Machine) -> None:
    """A window of the last n rows would reach too far if rows stayed outside."""
    windows = hg.WindowJoin(
        on="key",
        left=hg.Side("opened", hg.RowWindow(500)),
        right=hg.Side("answered", hg.RowWindow(500)),
        budget=hg.Budget(cpu=0.0005),
        policy="fifo",
    )
    tables = streams(500, 40)
    outcome = windows.run(*tables)
    exact = hg.WindowJoin(
        on="key",
        left=hg.Side("opened", hg.RowWindow(500)),
        right=hg.Side("answered", hg.RowWindow(500)),
        budget=hg.Budget(rows=10_000),
    ).run(*tables)
    made, whole = (
        set(zip(*(column.to_pylist() for column in table.pairs.columns), strict=True))
        for table in (outcome, exact)
    )
    assert made <= whole
    assert machine.watched is not None
    assert machine.watched.let_in == (tables[0].num_rows, tables[1].num_rows)


def message(**given: object) -> str:
    with pytest.raises(hg.SpecError) as error:
        hg.WindowJoin(
            on="key",
            left=hg.Side("opened", "1 second"),
            right=hg.Side("answered", "0 seconds"),
            **given,
        )
    return str(error.value)


@pytest.mark.parametrize("cpu", [0, -1, float("nan"), float("inf"), "half", True])
def test_a_part_of_a_core_must_be_one(cpu: object) -> None:
    with pytest.raises(hg.SpecError, match="give the part of one core that may be used"):
        hg.Budget(cpu=cpu)


def test_what_a_processor_budget_does_not_go_with() -> None:
    assert "is not accepted with a sample" in message(
        budget=hg.Budget(cpu=0.5), goal=hg.Sample("cluster")
    )
    with pytest.raises(hg.SpecError, match="is not accepted for a lookup"):
        hg.CachedLookup(
            on="key", table=hg.ArrowTable(pa.table({"key": [1]})), budget=hg.Budget(cpu=0.5)
        )
