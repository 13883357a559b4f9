"""What-ifs: the curves are those of the join itself, and the words say what the curves say."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.interpolate import PchipInterpolator
from typer.testing import CliRunner

import headgate as hg
from headgate.cli.main import app
from headgate.demo.auctions import auction_stream
from headgate.sizing import SizingPoint, WhatIf
from headgate.sizing.crossing import crossing
from headgate.sizing.needs import Arriving, Needs, count_times, needs_of
from headgate.sizing.repeated_buffers import material_of_buffers
from headgate.sizing.strongest import rounded_up
from headgate.spec import TimeWindow
from headgate.studies.streams import aging, zipf

STREAMS = zipf(12_000, seconds=120, seed=4, keys=2000, window=10)
JOIN = STREAMS.request("fifo", hg.Budget(rows=1))


def curve_of(points: list[tuple[int, float]], policy: str = "FIFO") -> WhatIf:
    """An answer with one curve, told."""
    made = tuple(SizingPoint(policy, rows, rows * 10, at, at, at) for rows, at in points)
    return WhatIf(made, (), Needs(100, 1000), 1e6, (10, 10), 20, 1.0, "Join.")


@pytest.fixture(scope="module")
def found() -> WhatIf:
    return hg.whatif(*STREAMS.tables, join=JOIN, policies=["prob", "fifo"])


def test_curves_are_those_of_the_join_itself(found: WhatIf) -> None:
    assert found.is_exact
    for point in (*found.points[::9], *found.between[::9]):
        budget = hg.Budget(rows=point.rows)
        assert STREAMS.join(point.policy.lower(), budget).recall == point.recall
    exact = STREAMS.join("fifo", hg.Budget(rows=1 << 30))
    assert found.needs.rows == exact.stats.peak_rows
    assert found.needs.bytes == exact.stats.peak_bytes
    assert found.pairs == exact.stats.pairs


def test_no_policy_makes_more_than_the_optimum(found: WhatIf) -> None:
    assert len(found.optimum) == len(found.memory)
    for best in found.optimum:
        tried = [point.recall for point in found.points if point.rows == best.rows]
        assert best.recall >= max(tried)
    assert found.optimum[3].recall > max(
        point.recall for point in found.points if point.rows == found.memory[3]
    )


def test_auto_is_told_from_a_sample_by_the_policies_that_it_tries() -> None:
    streams = zipf(60_000, seconds=600, seed=4, keys=6_000, exponent=0.8, window=60)
    asked: dict[str, Any] = {"join": streams.request("fifo", hg.Budget(rows=1)), "optimum": False}
    exact = hg.whatif(*streams.tables, **asked, policies="auto", memory=["10 %", "40 %"])
    sizes = [point.rows for point in exact.points]
    told = hg.whatif(*streams.tables, **asked, policies="auto", memory=sizes, share=0.2)
    assert told.policies == ("AUTO",)
    assert any("AUTO learns too little from a sample" in note for note in told.notes)
    for true, point in zip(exact.points, told.points, strict=True):
        assert point.low <= true.recall <= point.high
        assert point.recall == pytest.approx(true.recall, abs=0.04)
    both = hg.whatif(
        *streams.tables, **asked, policies=["auto", "prob"], memory=sizes, share=0.2
    ).curve("auto")
    assert both == told.curve("auto")


def test_every_policy_that_fits_is_tried() -> None:
    short = [table.slice(0, 1500) for table in STREAMS.tables]
    tried = hg.whatif(*short, join=JOIN, memory=["20 %"], optimum=False).policies
    assert {"AUTO", "RANDOM", "FIFO", "PROB", "LIFE", "AGE", "LRU", "LFU", "IJOIN"} <= set(tried)
    rows = hg.WindowJoin(
        on="key",
        left=hg.Side("lt", hg.RowWindow(100)),
        right=hg.Side("rt", hg.RowWindow(100)),
        budget=hg.Budget(rows=1),
        policy="fifo",
    )
    assert "AGE" not in hg.whatif(*short, join=rows, memory=[20], optimum=False).policies


def test_memory_for_a_recall_lies_between_the_points_that_were_tried() -> None:
    told = curve_of([(10, 0.5), (50, 0.9), (100, 0.98)])
    needed = told.memory_for(0.7, "fifo")
    assert needed is not None
    assert (needed.rows, needed.bytes) == (23, 252)  # a tenth of the bytes is the reserve
    assert needed.budget == hg.Budget(rows=23)
    fifth = told.memory_for(0.25, "fifo")
    assert fifth is not None
    assert fifth.rows == 5
    assert told.memory_for(0.99, "fifo") is None
    assert "not as tried" in str(told)


def test_between_points_recall_is_what_scipy_makes_of_it() -> None:
    at, recall = np.array([0.0, 10, 50, 100, 120]), np.array([0.0, 0.5, 0.9, 0.85, 0.98])
    smooth = PchipInterpolator(at, recall)
    for wanted in (0.55, 0.7, 0.88):
        found = crossing(at, recall, wanted)
        assert found is not None
        assert smooth(found) == pytest.approx(wanted)
    assert crossing(at, recall, 0.99) is None


def test_steep_curves_are_tried_at_sizes_between_so_that_memory_for_a_recall_holds() -> None:
    streams = aging(12_000, seconds=200, window=20, shapes=["rising"], seed=1)
    told: list[tuple[int, int]] = []
    steep = hg.whatif(
        *streams.tables,
        join=streams.request("fifo", hg.Budget(rows=1)),
        policies="fifo",
        optimum=False,
        progress=lambda done, of: told.append((done, of)),
    )

    def furthest_off(answer: WhatIf) -> float:
        asked = [0.5, 0.6, 0.7, 0.8, 0.9]
        made = [answer.join(recall).run(*streams.tables).recall for recall in asked]
        return max(abs(recall - part) for recall, part in zip(made, asked, strict=True))

    assert furthest_off(steep) < 0.02
    assert furthest_off(replace(steep, between=())) > 0.05
    assert told[-1] == (len(steep.points) + len(steep.between),) * 2
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_tables_have_the_sizes_that_every_policy_was_tried_with(found: WhatIf) -> None:
    assert len(found.memory) == 9
    between = {point.rows for point in found.between}
    assert between
    assert not between & {*found.memory}
    heads = str(found).partition("Recall, by memory")[2].splitlines()[1]
    assert heads.count("%") == 9
    curve = found.curve("prob")
    assert [point.rows for point in curve] == sorted(point.rows for point in curve)
    assert len(found.to_pandas()) == len((*found.points, *found.between, *found.optimum))


def test_sizes_that_were_asked_for_are_all_that_is_tried() -> None:
    asked = {"join": JOIN, "policies": "fifo", "memory": ["1 %", "90 %"], "optimum": False}
    assert hg.whatif(*STREAMS.tables, **asked).between == ()


def test_a_question_that_cannot_be_meant_is_answered_with_what_can() -> None:
    told = curve_of([(10, 0.5), (50, 0.9)])
    with pytest.raises(hg.SpecError, match=r"recall=95 is not accepted: .*; 95 % is 0\.95"):
        told.memory_for(95, "fifo")
    with pytest.raises(hg.SpecError, match=r'policy=\'lru\' was not tried: give one of "fifo"'):
        told.memory_for(0.5, "lru")
    with pytest.raises(hg.SpecError, match=r"no memory that was tried reaches a recall of 0\.99"):
        told.join(0.99)


def test_memory_is_told_with_the_interval_of_the_recall() -> None:
    points = tuple(
        SizingPoint("FIFO", rows, rows, at, at - 0.1, at + 0.1)
        for rows, at in [(50, 0.5), (100, 0.9)]
    )
    told = WhatIf(points, (), Needs(100, 100), 1, (1, 1), 1, 0.1, "Join.")
    needed = told.memory_for(0.7, "fifo")
    assert needed is not None
    assert (needed.least, needed.rows, needed.most) == (61, 75, 88)
    beyond = told.memory_for(0.9, "fifo")
    assert beyond is not None
    assert beyond.most is None


def test_the_answer_in_words(found: WhatIf) -> None:
    text = str(found)
    assert f"exact join holds up to {rounded_up(found.needs.rows):,} rows" in text
    for part in ("Rows and bytes for 90, 95 and 99 %", "PROB", "OPT", "Exact"):
        assert part in text


def test_the_headline_the_tables_and_the_lines_to_paste_tell_the_same_numbers() -> None:
    told = curve_of([(10, 0.5), (50, 0.9), (100, 0.98)], "PROB")
    text = str(told)
    needed = told.memory_for(0.9, "prob")
    assert needed is not None
    assert text.startswith("90 % of the results in 556 B, 56 % of what the exact join holds, with")
    assert f"{needed.rows}, 556 B" in text
    assert f'hg.WindowJoin(..., budget=hg.Budget(rows={needed.rows}), policy="prob")' in text
    assert f"budget = {{ rows = {needed.rows} }}" in text


def test_policies_with_the_same_recalls_share_a_line_and_few_lines_have_colours() -> None:
    names = ("PROB", "LIFE", "AUTO", "TTL", "LFU", "LRU", "RANDOM", "FIFO", "IJOIN")
    heights = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.2, 0.1, 0.4)
    points = tuple(
        SizingPoint(name, rows, rows * 10, top * rows / 100, 0.0, 1.0)
        for name, top in zip(names, heights, strict=True)
        for rows in (10, 100)
    )
    told = WhatIf(points, (), Needs(100, 1000), 1e6, (10, 10), 20, 1.0, "Join.")
    assert "share a line: LRU and IJOIN." in str(told)
    labels = [line.get_label() for line in told.plot().lines if line.get_marker() not in ("None",)]
    coloured = [label for label in labels if not str(label).startswith(("_", "others"))]
    assert coloured == ["PROB", "LIFE", "AUTO", "RANDOM", "FIFO"]


def test_a_report_without_matplotlib_says_how_to_get_its_chart(
    found: WhatIf, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = found.to_html(tmp_path / "report.html").read_text()
    assert "<svg" not in page
    assert "pip install" in page
    assert "headgate[cli]" in page


def test_without_a_flow_solver_the_optimum_is_a_bound_that_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    short = [table.slice(0, 1500) for table in STREAMS.tables]
    asked = {"join": JOIN, "policies": ["fifo", "prob"], "memory": ["20 %"]}
    (solved,) = hg.whatif(*short, **asked).optimum
    for name in [name for name in sys.modules if name.partition(".")[0] == "ortools"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ortools", None)
    told = hg.whatif(*short, **asked)
    (bound,) = told.optimum
    assert bound.low <= solved.recall <= bound.recall <= 1.1 * solved.recall
    assert "OPT is an upper bound over 3,000 rows: no policy can make more" in str(told)


def test_a_long_input_has_a_bound_over_all_of_it() -> None:
    streams = zipf(9_000, 300, seed=4, keys=3_000, window=20)
    join = streams.request("fifo", hg.Budget(rows=1))
    found = hg.whatif(*streams.tables, join=join, policies=["prob", "lru"], memory=["5 %", "30 %"])
    assert "OPT is an upper bound over 18,000 rows" in str(found)
    for best, rows in zip(found.optimum, found.memory, strict=True):
        tried = [point.recall for point in found.points if point.rows == rows]
        assert max(tried) <= best.low <= best.recall <= 1.0
        assert best.low > 0.8 * best.recall


@pytest.mark.parametrize("memory", [[300, "10 %"], ["20 kB"]])
def test_memory_may_be_rows_percent_or_bytes(memory: list[int | str]) -> None:
    told = hg.whatif(*STREAMS.tables, join=JOIN, policies="fifo", memory=memory, optimum=False)
    if memory == ["20 kB"]:
        (point,) = told.points
        assert point.bytes == 20_000
        assert point.recall == STREAMS.join("fifo", hg.Budget(memory="20 kB")).recall
    else:
        assert sorted(told.memory) == sorted([300, round(told.needs.rows / 10)])


@pytest.mark.parametrize("memory", [0, "ten", "0 %", [], True])
def test_memory_that_is_none_is_refused(memory: object) -> None:
    with pytest.raises(hg.SpecError, match="memory"):
        hg.whatif(*STREAMS.tables, join=JOIN, policies="fifo", memory=memory, optimum=False)


def test_a_sampled_answer_is_near_the_exact_one_and_says_that_it_is_sampled() -> None:
    streams = zipf(60_000, seconds=100, seed=8, keys=30_000, exponent=0.6, window=30)
    join = streams.request("fifo", hg.Budget(rows=1))
    asked = {"join": join, "policies": ["random", "prob", "life"], "optimum": False}
    memory = ["10 %", "30 %", "60 %"]
    exact = hg.whatif(*streams.tables, **asked, memory=memory)
    few = hg.whatif(*streams.tables, **asked, memory=list(exact.memory), most_rows=20_000)
    assert not few.is_exact
    assert few.needs.rows == pytest.approx(exact.needs.rows, rel=0.01)
    assert few.needs.bytes == pytest.approx(exact.needs.bytes, rel=0.01)
    assert few.pairs == pytest.approx(exact.pairs, rel=0.1)
    off = few.to_pandas().recall - exact.to_pandas().recall
    assert off.abs().max() < 0.03
    assert "By miniature" in str(few)


def test_windows_with_few_rows_are_looked_at_for_a_while_with_all_keys() -> None:
    streams = zipf(60_000, seconds=600, seed=6, keys=20_000, window=5)
    join = streams.request("fifo", hg.Budget(rows=1))
    asked = {"join": join, "policies": ["fifo", "lru", "prob"], "optimum": False}
    exact = hg.whatif(*streams.tables, **asked, memory=[200, 600])
    few = hg.whatif(*streams.tables, **asked, memory=[200, 600], share=0.15)
    assert "stretches of time" in str(few)
    off = few.to_pandas().recall - exact.to_pandas().recall
    assert off.abs().max() < 0.04


def test_needs_are_those_of_the_busiest_moment() -> None:
    random = np.random.default_rng(1)
    time = np.sort(random.integers(0, 100_000, 5000)) + np.where(np.arange(5000) < 2500, 0, 50_000)
    counts = count_times(time, 0, int(time.max()), 10)
    told = needs_of((Arriving(counts, 7.0), Arriving(counts, 1.0)), (TimeWindow(10_000),) * 2, 10)
    held = np.arange(1, 5001) - np.searchsorted(time, time - 10_000)
    assert told.rows == pytest.approx(2 * held.max(), rel=0.01)
    assert told.bytes == pytest.approx(8 * held.max(), rel=0.01)


def test_buffers_of_a_window_tell_as_much_as_the_whole_stream() -> None:
    now = pa.scalar(int(STREAMS.left.column("lt").cast(pa.int64()).to_numpy().max()))
    buffers = []
    for table, name in zip(STREAMS.tables, ("lt", "rt"), strict=True):
        time = table.column(name).cast(pa.int64()).to_numpy()
        buffers.append(table.filter(pa.array(time > now.as_py() - 11_000_000)))
    material = material_of_buffers(JOIN, (buffers[0], buffers[1]), 10**6, 0, optimum=False)
    from headgate.sizing.answer import answer

    memory = [100, 400, 1000]
    names = ["fifo", "random", "prob", "lru"]
    told = answer(material, names, memory, 1, lambda done, of: None)
    exact = hg.whatif(*STREAMS.tables, join=JOIN, policies=names, memory=memory, optimum=False)
    off = told.to_pandas().recall - exact.to_pandas().recall
    assert off.abs().max() < 0.05
    assert told.needs.rows == pytest.approx(exact.needs.rows, rel=0.1)
    assert "What cannot be known" in str(told)


def test_reports_are_whole_in_themselves(found: WhatIf, tmp_path: Path) -> None:
    page = found.to_html(tmp_path / "deep" / "report.html").read_text()
    assert "<svg" in page
    assert all(word not in page for word in ("<script", "<link", 'src="http', "@import"))
    for policy in found.policies:
        assert f"<td>{policy}</td>" in page
    table = pd.read_csv(found.to_csv(tmp_path / "whatif.csv"))
    assert table.recall.tolist() == pytest.approx(found.to_pandas().recall.tolist())
    assert "headgate" in found._repr_html_()
    assert found.plot().get_xlabel() == "memory, rows"


def test_the_command_answers_from_files(tmp_path: Path) -> None:
    stream = auction_stream(rows=8000, seed=3)
    for name, table in (("a", stream.auctions), ("b", stream.bids)):
        (tmp_path / name).mkdir()
        pq.write_table(table, tmp_path / name / "part.parquet")
    arguments = [
        *("whatif", str(tmp_path / "a"), str(tmp_path / "b"), "--left-on", "id"),
        *("--right-on", "auction", "--left-time", "opened_at", "--right-time", "bid_at"),
        *("--left-window", "10 minutes", "--right-window", "0 seconds"),
        *("--policy", "age", "--policy", "fifo", "--memory", "20 %", "--memory", "60 %"),
        *("--out", str(tmp_path / "out")),
    ]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "To make all of them, the exact join holds" in done.output
    assert "by headgate" in done.output
    assert "hg.WindowJoin(..., budget=" in done.output or "No policy makes" in done.output
    for name in ("report.html", "whatif.csv", "whatif.png"):
        assert (tmp_path / "out" / name).stat().st_size > 0


@pytest.mark.parametrize("command", ["whatif", "profile"])
def test_the_commands_say_all_that_is_missing_at_once(command: str) -> None:
    done = CliRunner().invoke(app, [command, "nowhere", "--left-window", "10 mins"])
    assert done.exit_code == 2
    for said in (
        "nowhere does not exist",
        "the right side is missing",
        "--left-time is missing",
        '--left-window: window "10 mins" is not a duration',
        "--right-time is missing",
        "--right-window is missing",
        "--on is missing",
    ):
        assert said in done.output


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(hg.SpecError, match="needs a join"):
        hg.whatif(*STREAMS.tables)
    with pytest.raises(hg.SpecError, match="needs the rows of both sides"):
        hg.whatif(STREAMS.left, join=JOIN)
    with pytest.raises(hg.SpecError, match="not both"):
        hg.whatif(*STREAMS.tables, join=JOIN, checkpoint="somewhere")
    with pytest.raises(hg.SpecError, match="hold no row"):
        hg.whatif(*(table.slice(0, 0) for table in STREAMS.tables), join=JOIN)


@pytest.mark.long
def test_several_processes_tell_the_same(found: WhatIf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.sizing.grid.WORTH_A_PROCESS", 1)
    memory = list(found.memory[:2])
    asked = {"join": JOIN, "policies": ["fifo", "prob"], "memory": memory, "optimum": False}
    told = []
    twice = hg.whatif(
        *STREAMS.tables, **asked, jobs=2, progress=lambda done, of: told.append((done, of))
    )
    assert told == [(done, 4) for done in range(5)]
    for point in twice.points:
        (same,) = [one for one in found.curve(point.policy) if one.rows == point.rows]
        assert point.recall == same.recall
