"""What a first batch says of its recall: an interval that has the truth, or that it is unknown."""

import uuid

import numpy as np
import pytest

import headgate as hg
from headgate.engine.shard_layout import DOUBT, EVIDENCE
from headgate.learning.evidence import MOST_ERROR, Evidence
from headgate.studies.streams import zipf
from tests.spark.one_shard import OneShard
from tests.thoroughness import LONG

pytestmark = pytest.mark.spark

SEEDS = 200 if LONG else 8
LEAST = 0.9
"""Of the intervals that are told, how many have the truth; 0.95 is what they claim."""


def first_batch(seed: int, policy: str) -> tuple[Evidence | None, float]:
    """What the watched rows of a first batch say, if anything, and its true recall."""
    rng = np.random.default_rng(seed)
    rows, budget = int(rng.integers(1_000, 4_000)), int(rng.integers(100, 1_500))
    left, right = zipf(rows, 100, seed=seed).tables
    join = hg.WindowJoin(
        on="key",
        left=hg.Side(time="lt", window="20 seconds"),
        right=hg.Side(time="rt", window="20 seconds"),
        budget=hg.Budget(rows=budget, monitor=0.05),
        policy=policy,
    )
    shard = OneShard(join, (left.schema, right.schema), uuid.uuid4().hex)
    figures = shard.batch(left, right).metrics
    exact = join.within(hg.Budget(rows=1 << 30)).run(left, right).stats.pairs
    told = Evidence(*(figures[name] for name in EVIDENCE[:5]))
    return (told if figures[DOUBT] else None), figures["pairs"] / max(exact, 1)


@pytest.mark.parametrize("policy", ["auto", "random"])
def test_a_first_batch_knows_what_it_does_not_know(policy: str) -> None:
    counts = counted(policy)
    assert sum(counts.values()) == SEEDS
    told = SEEDS - counts["unknown"]
    assert counts["covered"] + counts["sure"] >= LEAST * told, counts
    assert counts["covered"] > 0, counts


def counted(policy: str) -> dict[str, int]:
    """How many first batches are sure of their recall, do not know it, are right or wrong."""
    unknown = sure = covered = missed = 0
    for seed in range(1, SEEDS + 1):
        told, truth = first_batch(seed, policy)
        if told is None:
            sure += truth == 1.0
            missed += truth < 1.0
            continue
        said = told.recall()
        if told.met <= 0 or max(said.value - said.low, said.high - said.value) > MOST_ERROR:
            unknown += 1
        elif said.low <= truth <= said.high:
            covered += 1
        else:
            missed += 1
    return {"sure": sure, "unknown": unknown, "covered": covered, "missed": missed}
