"""What a what-if promises, a stream delivers: in one batch or in many, in rows and in bytes."""

import uuid
from itertools import pairwise

import pytest

import headgate as hg
from tests.spark.one_shard import OneShard
from tests.spark.test_learning_within_batches import ROWS, SIDES, make_join

pytestmark = pytest.mark.spark

PROMISED = 0.8
NEAR = 0.02
"""How far the recall of the stream may be from what was promised."""
POLICIES = ("prob", "life", "fifo")
MEMORY = [f"{percent} %" for percent in (5, 15, 30, 50, 70, 85, 100)]


@pytest.fixture(scope="module")
def found() -> hg.WhatIf:
    return hg.whatif(
        *SIDES, join=make_join("fifo"), memory=MEMORY, policies=POLICIES, optimum=False
    )


@pytest.mark.parametrize("batches", [1, 8])
@pytest.mark.parametrize("unit", ["rows", "bytes"])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_stream_delivers_the_recall_that_was_promised(
    found: hg.WhatIf, policy: str, unit: str, batches: int
) -> None:
    needed = found.memory_for(PROMISED, policy)
    assert needed is not None
    given = {"rows": needed.rows} if unit == "rows" else {"memory": needed.bytes}
    # A monitor takes its part of the budget on every stream, also where nothing is learned.
    join = found.join(PROMISED, policy).within(hg.Budget(**given, monitor=0.05))
    shard = OneShard(join, (SIDES[0].schema, SIDES[1].schema), uuid.uuid4().hex)
    made = 0
    for first, end in pairwise(range(0, ROWS + 1, ROWS // batches)):
        figures = shard.batch(*(side.slice(first, end - first) for side in SIDES)).metrics
        made += figures["pairs"]
        if unit == "bytes":
            assert figures["held_bytes"] + figures["monitor_bytes"] <= needed.bytes
        else:
            assert figures["peak_rows"] <= needed.rows
    assert made / found.pairs == pytest.approx(PROMISED, abs=NEAR)
