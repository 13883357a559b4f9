"""A batch is learned from in steps: however large it is, a stream makes what `run` makes."""

import uuid
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.policies import Hist
from tests.spark.one_shard import OneShard
from tests.spark.streams import START_US, multiset, timestamps

pytestmark = pytest.mark.spark

ROWS, KEYS, ROOM = 40_000, 4_000, 3_000
NEAR = 0.01
"""How far apart the recall of a stream and that of `run` may be."""


def side(seed: int, time: str, number: str) -> pa.Table:
    """Zipf keys, 50 rows a second."""
    rng = np.random.default_rng(seed)
    share = np.arange(1, KEYS + 1) ** -1.0
    at = START_US + np.arange(ROWS) * 20_000 + seed
    return pa.table(
        {
            "key": rng.permutation(KEYS)[rng.choice(KEYS, ROWS, p=share / share.sum())],
            time: timestamps(at),
            number: np.arange(ROWS),
        }
    )


SIDES = (side(1, "left_at", "left_id"), side(2, "right_at", "right_id"))


def make_join(policy: object) -> hg.WindowJoin:
    return hg.WindowJoin(
        on="key",
        left=hg.Side(time="left_at", window="2 minutes"),
        right=hg.Side(time="right_at", window="2 minutes"),
        budget=hg.Budget(rows=ROOM),
        policy=policy,
    )


def streamed(join: hg.WindowJoin, cuts: list[int]) -> tuple[pa.Table, list[dict]]:
    """The results of a stream in batches that end at these rows, and the figures of each."""
    shard = OneShard(join, (SIDES[0].schema, SIDES[1].schema), uuid.uuid4().hex)
    got = [
        shard.batch(*(table.slice(first, end - first) for table in SIDES))
        for first, end in pairwise([0, *cuts])
    ]
    return pa.concat_tables(batch.pairs for batch in got), [batch.metrics for batch in got]


@pytest.mark.parametrize("policy", ["prob", "life", "age", "auto", Hist("walk")], ids=str)
def test_a_backfill_in_one_batch_makes_what_a_run_makes(policy: object) -> None:
    join = make_join(policy)
    outcome = join.run(*SIDES)
    exact = outcome.exact_pairs
    assert outcome.recall < 0.95, "the budget must bind for the test to mean anything"
    pairs, (figures,) = streamed(join, [ROWS])
    assert pairs.num_rows == figures["pairs"]
    assert pairs.num_rows / exact == pytest.approx(outcome.recall, abs=NEAR)
    assert figures["peak_rows"] <= ROOM
    assert figures["left_rows"] + figures["right_rows"] == 2 * ROWS
    assert (
        figures["stored_rows"]
        + sum(figures[name] for name in ("shed", "refused", "retired", "expired", "unneeded"))
        == 2 * ROWS
    )


def test_rows_kept_by_a_batch_of_many_steps_are_found_by_the_next() -> None:
    """With a ranking that is not learned the cuts make no difference, in steps or in batches."""
    join = make_join("prob")
    first = ROWS // 2
    pairs, figures = streamed(join, [first, ROWS])
    assert [figure["left_rows"] for figure in figures] == [first, ROWS - first]
    assert multiset(pairs).total() == pairs.num_rows
    assert len(multiset(pairs)) == pairs.num_rows, "no pair is made twice"
    whole, _ = streamed(join, [ROWS])
    assert pairs.num_rows == pytest.approx(whole.num_rows, rel=0.03)
