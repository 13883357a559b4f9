"""A query restarted as another goes on from its state: no wrong row, and none missing unsaid."""

import pytest

from headgate.engine.shard_layout import UNSETTLED
from headgate.engine.stats import GIVEN_UP
from tests.spark.restart_cases import (
    AMPLE,
    BATCHES,
    IDS,
    TIMES,
    Lived,
    live,
    partners,
    surely_there,
    values,
)
from tests.spark.restart_draws import EACH, WATCHED, drawn_case, each_case

pytestmark = pytest.mark.spark

USUAL = (
    "policy auto to lfu",
    "longer windows",
    "shorter windows",
    "columns added",
    "types widened",
    "full, longer windows",
    "inner to full",
)
DRAWN = 300
FIRST_SEED = 20_000


def check(lived: Lived) -> None:
    """Hold what a case put out, and what it says, to the definition."""
    wanted, alone = check_rows(lived)
    exact = all(each.budget in (AMPLE, WATCHED) for each in (lived.case.before, lived.case.now))
    if exact and not (lived.case.before.samples or lived.case.now.samples):
        check_alone(lived, wanted, alone)
    check_figures(lived, wanted)


def check_rows(lived: Lived) -> tuple[dict, dict]:
    """No row is wrong, and in ample memory no pair is missing.

    Returns the batch that makes each pair, and of rows put out alone, their batch and whether that
    is certain.
    """
    case, made = lived.case, partners(lived)
    wanted = {(left, right): batch for left, right, batch in made}
    sure = {pair[:2] for pair in made if surely_there(lived, pair)}
    got: set[tuple[int, int]] = set()
    alone: dict[tuple[int, int], tuple[int, bool]] = {}
    met_before: set[int] = set()
    for batch, rows in enumerate(lived.out):
        version = case.version(batch)
        for row in rows:
            left, right = row.get(IDS[0]), row.get(IDS[1])
            check_values(lived, row, version, batch)
            if version.how in ("semi", "anti"):
                assert (left, -1) not in alone
                assert left not in met_before
                is_met = version.how == "semi"
                if is_met:
                    assert any(pair[0] == left for pair in wanted), "a semi row without a partner"
                    met_before.add(left)
                else:
                    alone[left, -1] = (batch, row.get("certain", True))
            elif left is not None and right is not None:
                assert (left, right) not in got, "a pair made twice"
                assert wanted.get((left, right)) == batch, "a pair that is none"
                got.add((left, right))
            else:
                key = (left, -1) if left is not None else (-1, right)
                assert key not in alone, "a row put out alone twice"
                alone[key] = (batch, row.get("certain", True))
    for (left, right), (batch, certain) in alone.items():
        mine = [at for (a, b), at in wanted.items() if left == a or right == b]
        if certain:
            assert all(at > batch for at in mine), "a row has a partner and was put out alone"
    exact = all(each.budget in (AMPLE, WATCHED) for each in (case.before, case.now))
    exact &= not (case.before.samples or case.now.samples)
    if exact and case.before.how not in ("semi", "anti"):
        assert sure <= got, "a pair is missing in ample memory"
    return wanted, alone


def check_values(lived: Lived, row: dict, version: object, batch: int) -> None:
    """Each column of a result row is that of its row, in the types of the version."""
    for side in (0, 1):
        number = row.get(IDS[side])
        if number is None:
            continue
        own = lived.rows[side][number]
        for name, value in values(own, side, version, lived.case.version(own["batch"])).items():
            found = row[name]
            if name == TIMES[side]:
                found = round(found.timestamp() * 1_000_000)
            if name == "d" and found is not None:
                assert f"{found:.2f}" == f"{value:.2f}"
            else:
                assert found == value, (name, found, value)


def check_alone(lived: Lived, wanted: dict, alone: dict) -> None:
    """In ample memory, rows without a partner come out unless a change has left them in doubt."""
    case = lived.case
    if case.now.how != case.before.how:
        return
    if any(now > was for was, now in zip(case.before.windows, case.now.windows, strict=True)):
        return
    outer = {"left": (True, False), "right": (False, True), "full": (True, True)}
    for side in (0, 1):
        if not outer.get(case.now.how, (False, False))[side]:
            continue
        met = {pair[side] for pair in wanted}
        for row in lived.rows[side]:
            key = (row["number"], -1) if side == 0 else (-1, row["number"])
            assert (key in alone) == (row["number"] not in met), (key, "came out alone or not")


def check_figures(lived: Lived, wanted: dict) -> None:
    """Nothing is over budget, and what is said to be known is so."""
    case = lived.case
    losing = 0
    for batch, metrics in enumerate(lived.metrics):
        version = case.version(batch)
        if version.budget.rows is not None:
            assert metrics["stored_rows"] <= version.budget.rows
        if version.budget.memory is not None:
            assert metrics["stored_bytes"] <= version.budget.memory
        losing += sum(metrics[name] for name in GIVEN_UP)
        if metrics["shards_unsettled"]:
            assert (metrics["batch_met"], metrics["doubt"]) == (0.0, UNSETTLED)
        elif not metrics["doubt"] and version.how == "inner" and batch < BATCHES:
            due = sum(1 for at in wanted.values() if at == batch)
            assert metrics["pairs"] == due, "said to be exact, and is not"
    assert lived.metrics[-1]["shards_unsettled"] == 0, "settled once windows have passed"


def in_rounds(name: str, killed: bool) -> list[pytest.MarkDecorator]:
    """The usual round tries a part: each way of ending with some of the changes."""
    is_usual = name in USUAL and (USUAL.index(name) + killed) % 2 == 0
    return [] if is_usual else [pytest.mark.long]


@pytest.mark.parametrize(
    ("name", "killed"),
    [
        pytest.param(
            name,
            killed,
            marks=in_rounds(name, killed),
            id=f"{name}, {'killed' if killed else 'stopped'}",
        )
        for name in EACH
        for killed in (False, True)
    ],
)
def test_each_change_by_itself(name: str, killed: bool) -> None:
    check(live(each_case(name, seed=71, killed=killed)))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(6))
def test_changes_drawn_at_random(part: int) -> None:
    each = DRAWN // 6
    for seed in range(FIRST_SEED + part * each, FIRST_SEED + (part + 1) * each):
        case = drawn_case(seed)
        try:
            check(live(case))
        except BaseException as error:
            error.add_note(f"seed {seed}: {case}")
            raise


def test_rows_that_a_longer_window_would_hold_are_counted() -> None:
    case = each_case("longer windows", seed=72, killed=False)
    lived = live(case)
    first, then = lived.metrics[case.at], [each["gone_rows"] for each in lived.metrics[case.at :]]
    spans = zip(case.before.windows, case.now.windows, strict=True)
    gone = 0
    latest = max(row["second"] for rows in lived.rows for row in rows if row["batch"] <= case.at)
    for side, (was, now) in enumerate(spans):
        seconds = [row["second"] for row in lived.rows[side] if row["batch"] < case.at]
        gone += sum(1 for at in seconds if latest - now <= at < lived.watermark - was)
    assert gone > 0
    assert abs(first["gone_rows"] - gone) <= 0.35 * gone + 4
    assert then[-1] == 0
    assert first["shards_unsettled"] == 1
