"""Policies that follow how values move, on Spark: the same as in process."""

import uuid
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.models import ExponentialLife, LinearTrend, Noise, RandomWalk
from headgate.policies import Heeb, Hist, Policy
from tests.spark.one_shard import OneShard
from tests.spark.streams import START_US, multiset, timestamps

pytestmark = pytest.mark.spark

TREND = LinearTrend(1, 0, Noise.uniform(10))
WALK = RandomWalk(0, Noise.normal(2))
ROWS = 400


def side(process: LinearTrend | RandomWalk, seed: int, time: str, number: str) -> pa.Table:
    at = START_US + np.arange(ROWS) * 1_000_000 + 500_000 * (seed - 1)
    columns = {"key": process.simulate(ROWS, seed), time: timestamps(at), number: np.arange(ROWS)}
    return pa.table(columns)


def make_join(policy: Policy) -> hg.WindowJoin:
    return hg.WindowJoin(
        on="key",
        left=hg.Side(time="left_at", window="25 seconds"),
        right=hg.Side(time="right_at", window="25 seconds"),
        budget=hg.Budget(rows=12, monitor=0),
        policy=policy,
    )


def heeb(process: LinearTrend | RandomWalk) -> Heeb:
    return Heeb(process, process, ExponentialLife(6))


@pytest.mark.parametrize(
    ("policy", "process"),
    [(heeb(TREND), TREND), (heeb(WALK), WALK), (Hist("trend"), TREND)],
    ids=["heeb, trend", "heeb, walk", "hist"],
)
def test_a_shard_keeps_the_same_rows_as_in_process(
    policy: Policy, process: LinearTrend | RandomWalk
) -> None:
    tables = (side(process, 1, "left_at", "left_id"), side(process, 2, "right_at", "right_id"))
    join = make_join(policy)
    shard = OneShard(join, (tables[0].schema, tables[1].schema), uuid.uuid4().hex)
    # HIST looks at what became of rows after every step; in process a step is 256 rows, 128 a side.
    cuts = [*range(0, ROWS, 128 if policy.observes else 57), ROWS]
    got = [
        shard.batch(*(table.slice(first, end - first) for table in tables))
        for first, end in pairwise(cuts)
    ]
    outcome = join.run(*tables)
    assert outcome.stats.shed + outcome.stats.refused > 300
    pairs = pa.concat_tables([batch.pairs for batch in got])
    assert multiset(pairs) == multiset(outcome.pairs)
    assert all(batch.metrics["peak_rows"] <= 12 for batch in got)
