"""Recall in the metrics of a real query: the same figures as in process, null where unknown."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import headgate as hg
from headgate.engine.observed_figures import SHARDS, by_name
from headgate.engine.shard_layout import DOUBT, EVIDENCE, join_layout
from headgate.learning.evidence import Evidence
from headgate.metrics import names_of
from headgate.metrics.metric_groups import JOIN_SUMS
from headgate.spark.join.join_metrics import doubt
from headgate.studies.streams import zipf
from tests.spark.streams import collect, read_side, write_side
from tests.thoroughness import usually

pytestmark = pytest.mark.spark


def summed(shards: list[dict[str, float]]) -> dict[str, Any]:
    """What is read of the figures of some shards."""
    told = [dict.fromkeys(join_layout().names, 0) | shard for shard in shards]
    arrays = [join_layout().array(figures | {DOUBT: doubt(figures)}) for figures in told]
    return by_name({"left_rows": 0, SHARDS: arrays})


def figures_of(batch: Evidence, total: Evidence, **more: float) -> dict[str, float]:
    values = [getattr(e, name) for e in (batch, total) for name in Evidence.__dataclass_fields__]
    return {**dict(zip(EVIDENCE, values, strict=True)), "shards_monitored": 1, **more}


CASES = {
    "plain": Evidence(100.0, 40.0, 900.0, 300.0, 200.0),
    "none made": Evidence(100.0, 0.0, 900.0, 0.0, 0.0),
    "all made": Evidence(100.0, 100.0, 900.0, 900.0, 900.0),
    "all watched": Evidence(100.0, 40.0, 0.0, 0.0, 0.0),
}


@pytest.mark.parametrize("case", CASES)
def test_recall_is_what_the_evidence_says(case: str) -> None:
    evidence = CASES[case]
    more = {"pairs": 20, "shed": 5, "total_pairs": 40, "total_lost": 9}
    row = summed([figures_of(evidence, evidence, **more)] * 2)
    expected = (evidence + evidence).recall()
    for prefix in ("", "total_"):
        got = [row[f"{prefix}{name}"] for name in ("recall", "recall_low", "recall_high")]
        assert got == pytest.approx([expected.value, expected.low, expected.high])
    known = expected.value > 0
    assert row["exact_pairs"] == (pytest.approx(40 / expected.value) if known else None)
    assert row["total_exact_pairs"] == (pytest.approx(80 / expected.value) if known else None)


def test_every_figure_is_summed_over_shards() -> None:
    figures = names_of(*JOIN_SUMS)
    shards = [
        {name: 2 * place + 1 for place, name in enumerate(figures)},
        dict.fromkeys(figures, 7),
    ]
    row = summed(shards)
    assert [row[name] for name in figures] == [2 * place + 8 for place in range(len(figures))]


def test_recall_is_sure_while_nothing_is_lost_and_unknown_without_a_monitor() -> None:
    sure = summed([figures_of(CASES["plain"], CASES["plain"], pairs=20, total_pairs=40)])
    assert (sure["recall"], sure["recall_low"], sure["total_recall"]) == (1.0, 1.0, 1.0)
    assert (sure["exact_pairs"], sure["total_exact_pairs"]) == (20, 40)
    without = summed([{"pairs": 20, "shed": 5}])
    assert without["recall"] is None
    assert without["total_exact_pairs"] is None
    untold = summed([figures_of(Evidence(), Evidence(), total_lost=3)])
    assert untold["recall"] is None


@pytest.mark.parametrize("policy", usually(("auto",), ("auto", "random")))
def test_a_query_says_how_good_it_is(spark: SparkSession, tmp_path: Path, policy: str) -> None:
    names = ("lt", "rt")
    sides = [
        side.cast(pa.schema([("key", pa.int64()), (name, pa.timestamp("us", "UTC"))]))
        for side, name in zip(zipf(4_000, 40, seed=8).tables, names, strict=True)
    ]
    frames = [
        read_side(
            spark,
            write_side(tmp_path / name, [side.slice(at, 1_000) for at in range(0, 4_000, 1_000)]),
            f"key long, {name} timestamp",
            name,
        )
        for side, name in zip(sides, names, strict=True)
    ]

    def join(budget: hg.Budget) -> hg.WindowJoin:
        windows = [hg.Side(time=name, window="4 seconds") for name in names]
        return hg.WindowJoin(
            on="key", left=windows[0], right=windows[1], budget=budget, policy=policy
        )

    watched = join(hg.Budget(rows=400, monitor=0.4))
    joined = watched.stream(*frames, shards=2, watermark=False)
    got = collect(joined, tmp_path / "checkpoint")
    said = hg.progress(got.query)
    assert said is not None
    assert said.figures == got.metrics[-1]
    assert f"recall {said.recall} since" in str(said)
    assert "rows lost since then" in said._repr_html_()
    assert 0 < said.figures["stored_rows"] <= said.figures["room_rows"] <= 400
    assert f"{said.figures['room_rows']:,}" in str(said)
    with pytest.raises(hg.SpecError, match="give one of 'headgate'"):
        hg.progress(got.query, name="other")
    last = [batch for batch in got.metrics if batch["left_rows"]][-1]
    exact = join(hg.Budget(rows=1 << 30)).run(*sides).stats.pairs
    true = got.rows.total() / exact
    assert last["total_pairs"] == got.rows.total()
    assert last["total_recall_low"] <= true <= last["total_recall_high"]
    assert last["total_exact_pairs"] == pytest.approx(last["total_pairs"] / last["total_recall"])
    assert 0 <= last["recall_low"] < last["recall"] < last["recall_high"] <= 1
