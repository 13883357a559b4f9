"""The history of watched queries: bounded, and the same for whoever opens it again."""

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import headgate as hg
from headgate.learning import Evidence
from headgate.metrics.metric_groups import BY_SHARD
from headgate.watching import history as history_module
from headgate.watching.batch_record import EVIDENCE, SHARD_KEPT, BatchRecord, records_of
from headgate.watching.history import FILE, History, Ring
from headgate.watching.page_view import MOST_POINTS, merged, point_of, view
from headgate.watching.recorder import MOST_WAITING, Recorder
from headgate.watching.summary import marginal_curve, sentence
from tests.watched_reports import ABOUT, QUERY, RUN, join_report, lookup_report

START = 1_780_000_000.0
AGAIN = "9d1c0000-0000-4000-8000-000000000002"


def recorded(folder: Path, *reports: str, ended: str = "") -> History:
    """The history after some reports."""
    history = History(folder)
    recorder = Recorder(history)
    for report in reports:
        recorder.hear("reported", report)
    if ended:
        recorder.hear("ended", json.dumps({"id": QUERY, "runId": ended, "failed": False}))
    recorder.stop()
    return history


def records(report: str) -> list[BatchRecord]:
    return [record for _, _, record in records_of(json.loads(report))]


def test_a_report_becomes_a_record_of_each_join_in_it() -> None:
    found = list(records_of(json.loads(join_report(7, START, shards=3))))
    assert [name for name, _, _ in found] == ["headgate"], "what others observe is left alone"
    _, about, record = found[0]
    assert json.loads(about)["memory"] == ABOUT["memory"]
    assert (record.batch, record.at, record.seconds) == (7, START, 0.8)
    assert record.lag == pytest.approx(42.0)
    assert len(record.shards) == 3
    assert record.rows == record.figures["left_rows"] + record.figures["right_rows"] > 0
    assert BatchRecord.from_text(record.as_text()) == replace(
        record, figures=dict(record.figures), shards=[list(row) for row in record.shards]
    )


def test_recall_of_merged_batches_is_that_of_their_evidence() -> None:
    batches = [records(join_report(batch, START + batch))[0] for batch in range(20, 30)]
    whole = merged(batches)
    first = SHARD_KEPT.index(EVIDENCE[0])
    sums = [sum(row[first + at] for each in batches for row in each.shards) for at in range(5)]
    expected = Evidence(*sums).recall()
    assert whole.figures["recall"] == pytest.approx(expected.value)
    assert whole.figures["recall_low"] == pytest.approx(expected.low)
    assert whole.figures["shed"] == sum(each.figures["shed"] or 0 for each in batches)
    assert whole.figures["stored_rows"] == batches[-1].figures["stored_rows"]
    assert whole.batches == len(batches)


def test_a_history_never_has_more_than_its_rings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rings = (Ring(0, 10), Ring(20, 6), Ring(300, 4))
    monkeypatch.setattr(history_module, "RINGS", rings)
    batches = 150
    reports = [join_report(batch, START + 15 * batch, shards=2) for batch in range(batches)]
    history = recorded(tmp_path, *reports)
    number = history.watched()[0].number
    for place, ring in enumerate(rings):
        found = list(history.records(number, place))
        assert len(found) == ring.most
        assert found[-1].batch == batches - 1
        assert [each.at for each in found] == sorted(each.at for each in found)
    latest = [each.batch for each in history.records(number, 0)]
    assert latest == list(range(batches - 10, batches))
    coarse = list(history.records(number, 2))
    steps = [int(START + 15 * batch) // 300 for batch in range(batches)]
    kept = [step for step in steps if step >= int(coarse[0].at) // 300]
    assert sum(each.batches for each in coarse) == len(kept), "merged, none twice or left out"


def test_a_query_that_starts_again_goes_on_where_it_was(tmp_path: Path) -> None:
    first = recorded(tmp_path, *(join_report(b, START + b) for b in range(5)), ended=RUN)
    mine = first.watched()[0]
    assert (mine.title, mine.name, mine.state, mine.written) == ("shop", "headgate", "ended", 5)
    later = (join_report(b, START + 100 + b, run=AGAIN) for b in range(5, 8))
    again = recorded(tmp_path, *later)
    (both,) = again.watched()
    assert (both.number, both.state, both.written) == (mine.number, "running", 8)
    assert both.totals["batches"] == 8
    assert both.totals["left_rows"] > mine.totals["left_rows"]
    said = [event.what for event in again.events(both.number)]
    assert said == ["the query starts", "the query ended", "the query goes on"]
    assert view(again, both, 3600)["series"]["batch"] == list(range(8))
    told = History(tmp_path, read_only=True)
    assert told.watched() == again.watched()


def test_changes_of_policy_and_limits_are_told(tmp_path: Path) -> None:
    told = [(58, 1000), (59, 1000), (60, 1000), (61, 800)]
    history = recorded(
        tmp_path, *(join_report(b, START + b, more={"limit": limit}) for b, limit in told)
    )
    said = [event.what for event in history.events(history.watched()[0].number)]
    assert said == ["the query starts", "now follows LIFE", "limit lowered to 800 B"]


def test_a_view_has_few_points_however_long_the_time(tmp_path: Path) -> None:
    reports = [join_report(b, START + 2 * b, shards=2) for b in range(520)]
    history = recorded(tmp_path, *reports)
    mine = history.watched()[0]
    for seconds in (900, 3600, 86_400, 604_800):
        series = view(history, mine, seconds)["series"]
        assert 0 < len(series["t"]) <= MOST_POINTS
        assert series["t"] == sorted(series["t"])
        assert {len(values) for values in series.values()} == {len(series["t"])}
    everything = view(history, mine, 86_400)["series"]
    assert sum(everything["batches"]) == 520


def test_the_sentence_says_what_is_known() -> None:
    lossless, lossy = (records(join_report(batch, START))[0] for batch in (3, 50))
    assert (
        sentence(lossless, lossless, ABOUT) == "Nothing is missing: recall 1 at 21.5 MB of 64 MB."
    )
    told = sentence(lossy, lossy, ABOUT)
    assert told.startswith("Recall 0.81 (0.79 to 0.84) at 58.8 MB of 64 MB; twice the memory")
    curve = marginal_curve(lossy, ABOUT)
    assert [each.times for each in curve] == [0.25, 0.5, 1.0, 2.0, 4.0]
    assert [each.recall for each in curve] == sorted(each.recall for each in curve)
    assert f"+{curve[3].recall - curve[2].recall:.2f}" in told
    unknown = replace(lossy, figures={**lossy.figures, "total_recall": None})
    assert sentence(unknown, unknown, ABOUT).startswith("Recall is not known yet; 58.8 MB")
    by_rows = {**ABOUT, "memory": None, "rows": 400_000}
    assert "at 378,000 of 400,000 rows" in sentence(lossy, lossy, by_rows)
    sampled = replace(lossy, figures={**lossy.figures, "weights": 5e4, "weights_variance": 1e6})
    told = sentence(sampled, sampled, {**ABOUT, "goal": "Sample"})
    assert "stand for 50,000, give or take 3.9 %" in told


def test_a_batch_without_rows_leaves_the_curve_and_the_trials_as_they_were(tmp_path: Path) -> None:
    empty = json.loads(join_report(41, START + 1))
    told = empty["observedMetrics"]["headgate"]
    told["by_shard"] = [
        [0.0 if name.startswith(("expected_", "tried_")) else value for name, value in row]
        for row in (zip(BY_SHARD, own, strict=True) for own in told["by_shard"])
    ]
    history = recorded(tmp_path, join_report(40, START), json.dumps(empty))
    now = view(history, history.watched()[0], 3600)["now"]
    assert len(now["curve"]) == 5
    assert now["rivals"]["life"] > 0
    assert "twice the memory would bring +" in now["sentence"]


def test_a_lookup_has_its_own_sentence_and_series(tmp_path: Path) -> None:
    history = recorded(tmp_path, *(lookup_report(b, START + 5 * b) for b in range(3)))
    shown = view(history, history.watched()[0], 3600)
    assert shown["now"]["sentence"] == "Hit rate 0.94 at 1 MB of 4 MB; 0.6 queries a second."
    assert shown["series"]["hit_rate"][-1] == pytest.approx(930 / 990, abs=1e-4)
    assert shown["series"]["retries_s"][-1] == pytest.approx(0.2)


def test_figures_of_every_kind_become_series() -> None:
    record = records(join_report(50, START, more={"cpu_ms": 400}))[0]
    point = point_of(replace(record, span=2.0), {**ABOUT, "cpu": 0.5})
    assert (point["cpu"], point["cpu_budget"]) == (0.2, 0.5)
    assert point["followed_prob"] == 4
    hot = {row[0]: row for row in point["shards"]}
    assert hot[2][1] < 0.8 < 0.9 < hot[0][1], "recall of the hot shard"
    assert hot[2][3] > 3 * hot[0][3], "its time"


def test_what_cannot_be_read_costs_a_batch_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    damaged = json.loads(join_report(1, START))
    del damaged["timestamp"]
    reports = ["{", json.dumps(damaged), "[]", join_report(2, START)]
    history = recorded(tmp_path, *reports)
    assert history.watched()[0].written == 1
    assert "missing on the page" in caplog.text


def test_a_history_that_is_lost_costs_batches_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    history = recorded(tmp_path, join_report(0, START))
    recorder = Recorder(history)
    for file in tmp_path.iterdir():
        file.unlink()
    history.path.mkdir()
    for batch in range(5):
        recorder.hear("reported", join_report(batch, START + batch))
    recorder.stop()
    assert caplog.text.count("missing on the page") == 1, "told once, raised nowhere"


def test_reports_that_nobody_writes_never_pile_up(tmp_path: Path) -> None:
    recorder = Recorder(History(tmp_path))
    recorder.stop()
    for batch in range(3 * MOST_WAITING):
        recorder.hear("reported", str(batch))
    assert len(recorder._waiting) == MOST_WAITING


def test_several_read_while_one_writes(tmp_path: Path) -> None:
    history = recorded(tmp_path, join_report(0, START))
    failed: list[Exception] = []

    def read() -> None:
        try:
            for _ in range(30):
                mine = History(tmp_path, read_only=True).watched()[0]
                view(history, mine, 3600)
        except Exception as error:
            failed.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    recorded(tmp_path, *(join_report(b, START + b) for b in range(1, 40)))
    for reader in readers:
        reader.join()
    assert not failed
    assert history.watched()[0].written == 40


def test_a_folder_without_a_history_is_refused(tmp_path: Path) -> None:
    with pytest.raises(hg.SpecError, match="has no history to show"):
        History(tmp_path, read_only=True)
    (tmp_path / FILE).write_text("something else, and long enough to be read as a database file")
    with pytest.raises(hg.SpecError, match="is no history"):
        History(tmp_path, read_only=True)
