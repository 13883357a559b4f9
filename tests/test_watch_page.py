"""The page server: who may read, what it answers, and that nobody can make it wait."""

import inspect
import json
import logging
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hmac import compare_digest
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import pytest
from grafana_foundation_sdk.models.dashboard import Dashboard
from prometheus_client.parser import text_string_to_metric_families

import headgate as hg
from headgate.cli.main import app
from headgate.metrics import metrics_of
from headgate.metrics.metric_groups import JOIN_SUMS, Qualities
from headgate.watching.alert_rules import RULES, alert_rules
from headgate.watching.exported_figures import exported_name
from headgate.watching.exposition import exposition
from headgate.watching.grafana_dashboard import WIDTH, dashboard, dashboard_json
from headgate.watching.history import History
from headgate.watching.live_feed import MOST_WAITING
from headgate.watching.page_guard import PageGuard
from headgate.watching.page_server import PAGE, PageServer
from headgate.watching.recorder import Recorder
from tests.test_watch_history import recorded
from tests.watched_reports import join_report, lookup_report

TOKEN = "a-token-that-nobody-guesses"
BATCHES = 30


@contextmanager
def served(folder: Path, guard: PageGuard | None = None) -> Iterator[PageServer]:
    server = PageServer(
        History(folder, read_only=True), guard or PageGuard.of("127.0.0.1", None), port=0
    )
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history of a join and of a lookup, up to now."""
    place, now = tmp_path_factory.mktemp("watched"), time.time() - BATCHES
    joins = [join_report(batch, now + batch) for batch in range(BATCHES)]
    recorded(place, *joins, lookup_report(0, now), lookup_report(1, now + 2))
    return place


def ask(
    server: PageServer, path: str, method: str = "GET", **headers: str
) -> tuple[HTTPResponse, str]:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers={"Host": "localhost", **given})
        answer = connection.getresponse()
        return answer, answer.read().decode()
    finally:
        connection.close()


def test_everything_that_the_page_needs_is_here(folder: Path) -> None:
    with served(folder) as server:
        _, page = ask(server, "/")
        asked = re.findall(r'(?:src|href)="(static/[^"]+)"', page)
        modules = [path.name for path in PAGE.glob("*.js")]
        for path in {*asked, *(f"static/{name}" for name in modules)}:
            answer, text = ask(server, f"/{path}")
            assert answer.status == 200, path
            assert text
        assert "//" not in page.replace("</", ""), "nothing from elsewhere"
        joins = json.loads(ask(server, "/joins")[1])
        assert [each["name"] for each in joins] == ["lookup", "headgate"]
        data = json.loads(ask(server, f"/data?join={joins[1]['id']}&seconds=3600")[1])
        assert data["now"]["sentence"].startswith("Recall 0.8")
        assert len(data["series"]["t"]) == BATCHES
        assert ask(server, "/data?join=99")[0].status == 404
        for wrong in ("/data?join=x", "/data?seconds=nan", "/static/../page_guard.py"):
            assert ask(server, wrong)[0].status in (400, 404), wrong


def test_answers_say_what_browsers_may_do(folder: Path) -> None:
    with served(folder) as server:
        for path in ("/", "/data", "/metrics", "/static/page.js", "/nothing"):
            headers = ask(server, path)[0].headers
            policy = headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
            assert "unsafe" not in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert "server" not in headers


def test_without_being_told_otherwise_only_this_machine_can_read(folder: Path) -> None:
    assert inspect.signature(hg.watch).parameters["host"].default == "127.0.0.1"
    with served(folder) as server:
        assert server._socket.getsockname()[0] == "127.0.0.1"
        with pytest.raises(ConnectionError):  # another address of the same machine
            socket.create_connection(("127.0.0.2", server.port), timeout=5)


def test_names_cannot_break_out_of_what_prometheus_reads(tmp_path: Path) -> None:
    hostile = 'a"} 1\nheadgate_recall{query="b\\<img src=x>'
    history = recorded(tmp_path, join_report(30, time.time(), title=hostile, name=hostile))
    families = list(text_string_to_metric_families(exposition(history).decode()))
    told = {
        (sample.labels["query"], sample.labels["join"])
        for family in families
        for sample in family.samples
    }
    assert told == {(hostile, hostile)}


def test_there_is_nothing_to_write_to(folder: Path) -> None:
    with served(folder) as server:
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            assert ask(server, "/data", method)[0].status == 405
        assert ask(server, "/", "HEAD")[0].status == 200


def test_a_page_of_another_name_cannot_be_read(folder: Path) -> None:
    with served(folder) as server:
        for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", ""):
            answer, said = ask(server, "/data", Host=host)
            assert answer.status == 400
            assert "--hosts" in said
        assert ask(server, "/healthz", Host="127.0.0.1:99")[0].status == 200
    with served(folder, PageGuard.of("127.0.0.1", None, ["watch.example"])) as server:
        assert ask(server, "/data", Host="Watch.Example")[0].status == 200


def test_elsewhere_a_token_is_needed(folder: Path) -> None:
    made = PageGuard.of("0.0.0.0", None)
    assert made.token is not None
    assert len(made.token) >= 32
    assert made.token not in repr(made.entrance), "a link has a code of its own"
    with pytest.raises(hg.SpecError, match="16 or more"):
        PageGuard.of("0.0.0.0", "short")
    with served(folder, PageGuard.of("0.0.0.0", TOKEN)) as server:
        for path in ("/", "/data", "/live", "/metrics", "/static/page.js"):
            assert ask(server, path)[0].status == 401, path
        assert ask(server, "/healthz")[1] == "ok\n"
        for wrong in (f"Bearer {TOKEN}x", "Bearer ", TOKEN, f"Basic {TOKEN}", "Bearer é"):
            assert ask(server, "/metrics", Authorization=wrong)[0].status == 401
        assert ask(server, "/metrics", Authorization=f"Bearer {TOKEN}")[0].status == 200


def test_secrets_are_compared_in_constant_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[bytes] = []

    def compare(given: bytes, known: bytes) -> bool:
        compared.append(given)
        return compare_digest(given, known)

    monkeypatch.setattr("headgate.watching.page_guard.hmac.compare_digest", compare)
    with served(folder, PageGuard.of("0.0.0.0", TOKEN)) as server:
        ask(server, "/data", Authorization="Bearer guessed-token")
        ask(server, "/enter?code=guessed-code")
        ask(server, "/data", Cookie="headgate=1-2-signature")
    assert compared == [b"guessed-token", b"guessed-code", b"signature"]


def test_a_link_works_once(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    used: list[str] = []
    with served(folder, PageGuard.of("0.0.0.0", TOKEN)) as server:
        server.guard.on_link_used = lambda: used.append(server.link)
        link = server.guard.entrance
        assert ask(server, "/enter?code=guessed")[0].status == 401
        answer, _ = ask(server, link)
        assert (answer.status, answer.headers["location"]) == (303, "/")
        cookie = answer.headers["set-cookie"]
        assert "httponly" in cookie.lower()
        assert TOKEN not in cookie
        session = cookie.partition(";")[0]
        assert ask(server, "/data", Cookie=session)[0].status == 200
        later = session.replace("=", "=9", 1)
        for wrong in ("headgate=guessed", "headgate=", "headgate=1-2-3", f"{session}0", later):
            assert ask(server, "/data", Cookie=wrong)[0].status == 401, wrong
        assert ask(server, link)[0].status == 401, "used up"
        assert used == [server.link] != [link]
    with served(folder, PageGuard.of("0.0.0.0", TOKEN)) as again:
        assert ask(again, "/data", Cookie=session)[0].status == 200, "a page started again"
    with served(folder, PageGuard.of("0.0.0.0", None)) as other:
        assert ask(other, "/data", Cookie=session)[0].status == 401, "with another token"
    code = link.partition("=")[2]
    assert not any(secret in caplog.text for secret in (TOKEN, code, session))


def test_a_reader_who_takes_nothing_makes_nobody_wait(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "own")
    history = History(tmp_path / "own")
    recorder = Recorder(history)
    with served(tmp_path / "own") as server:
        slow = socket.create_connection(("127.0.0.1", server.port))
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        slow.sendall(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        quick = HTTPConnection("127.0.0.1", server.port, timeout=20)
        quick.request("GET", "/live", headers={"Host": "localhost"})
        live = quick.getresponse()
        assert live.headers["content-type"].startswith("text/event-stream")
        assert live.readline().startswith(b"retry:")
        seen = 0
        for batch in range(BATCHES, BATCHES + 4):
            recorder.hear("reported", join_report(batch, time.time()))
            line = live.readline()
            while not line.startswith(b"data: {"):
                line = live.readline()
            told = json.loads(line[5:])
            seen += len(told["points"])
            assert told["points"][-1]["batch"] == batch
            assert told["now"]["sentence"].startswith("Recall")
        assert seen == 4
        slow.close()
        quick.close()
    recorder.stop()
    assert MOST_WAITING < 100


def test_a_page_that_is_interrupted_lets_its_readers_go(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with served(folder) as server:
        reader = HTTPConnection("127.0.0.1", server.port, timeout=20)
        reader.request("GET", "/live", headers={"Host": "localhost"})
        live = reader.getresponse()
        assert live.readline().startswith(b"retry:")
        server._server.should_exit = True  # what Ctrl-C does
        assert live.read().endswith(b"data: 1\n\n"), "an end, not a broken connection"
    assert not caplog.text


def test_who_is_told_of_a_batch_can_load_it(folder: Path, tmp_path: Path) -> None:
    """Also right after others have loaded the page, whose answer is kept for a moment."""
    shutil.copytree(folder, tmp_path / "own")
    with served(tmp_path / "own") as server:
        joins = json.loads(ask(server, "/joins")[1])
        mine = next(each["id"] for each in joins if each["name"] == "headgate")
        loaded = []
        for batch in (BATCHES, BATCHES + 1):
            recorded(tmp_path / "own", join_report(batch, time.time()))
            data = json.loads(ask(server, f"/data?join={mine}")[1])
            loaded.append(data["series"]["batch"][-1])
    assert loaded == [BATCHES, BATCHES + 1]


def test_prometheus_reads_what_is_told(folder: Path) -> None:
    with served(folder) as server:
        answer, text = ask(server, "/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = {each.name: each for each in text_string_to_metric_families(text)}
    declared = [each for each in metrics_of(*JOIN_SUMS, Qualities) if each.name != "exact_pairs"]
    for metric in declared:
        name = exported_name(metric).removesuffix("_total")
        if name in families:
            assert families[name].documentation == metric.meaning
    told = {
        (sample.name, sample.labels.get("shard", sample.labels.get("memory", ""))): sample
        for family in families.values()
        for sample in family.samples
        if sample.labels["join"] == "headgate"
    }
    assert told["headgate_total_recall", ""].value == pytest.approx(0.8242, abs=1e-3)
    assert told["headgate_batches_total", ""].value == BATCHES
    assert 0.9 < told["headgate_used_ratio", ""].value < 1
    assert told["headgate_shard_busy_seconds", "2"].value > 0.15
    assert told["headgate_shard_recall", "2"].value < told["headgate_shard_recall", "0"].value
    assert told["headgate_expected_recall", "2"].value > told["headgate_expected_recall", "1"].value
    assert told["headgate_shed_total", ""].labels == {
        "query": "shop",
        "join": "headgate",
        "id": "3f2b9a60",
    }


def test_opentelemetry_is_told_the_same(folder: Path) -> None:
    export = pytest.importorskip("opentelemetry.sdk.metrics.export")
    from opentelemetry.sdk.metrics import MeterProvider

    from headgate.watching.telemetry import Telemetry

    reader = export.InMemoryMetricReader()
    Telemetry(History(folder), MeterProvider([reader]))
    data = reader.get_metrics_data()
    told = {
        metric.name: list(metric.data.data_points)
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
    with served(folder) as server:
        families = list(text_string_to_metric_families(ask(server, "/metrics")[1]))
    for family in families:
        points = told[family.name.replace("_", ".", 1)]
        samples = {tuple(sorted(each.labels.items())): each.value for each in family.samples}
        assert {tuple(sorted(each.attributes.items())): each.value for each in points} == samples
    assert len(told) == len(families)


def told_names(folder: Path) -> set[str]:
    with served(folder) as server:
        text = ask(server, "/metrics")[1]
    return set(re.findall(r"^(headgate_\w+)", text, re.MULTILINE))


def test_dashboard_and_alerts_ask_for_figures_that_there_are(folder: Path) -> None:
    there = told_names(folder)
    for text in (dashboard_json(), alert_rules()):
        asked = set(re.findall(r"headgate_\w+", text))
        assert asked <= there, asked - there


def test_the_dashboard_is_one_of_grafanas() -> None:
    board = dashboard()
    assert json.loads(dashboard_json()) == board
    assert {"title", "panels", "schemaVersion", "templating", "time"} <= set(board)
    numbers = [panel["id"] for panel in board["panels"]]
    assert len(set(numbers)) == len(numbers)
    taken = set()
    for panel in board["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, "panels do not overlap"
        assert place["x"] + place["w"] <= WIDTH
        taken |= cells
        assert panel["targets"]
        assert all({"refId", "expr", "legendFormat"} <= set(each) for each in panel["targets"])
    # Grafana's own library, made from its schema, reads it.
    read = Dashboard.from_json(board)
    assert [panel.title for panel in read.panels] == [panel["title"] for panel in board["panels"]]


def test_promtool_accepts_the_rules() -> None:
    own = Path(sys.executable).parent
    tool = shutil.which("promtool") or shutil.which("promtool", path=own)
    if tool is None:
        pytest.skip("no promtool: make promtool, or install Prometheus")
    told = subprocess.run([tool, "check", "rules", str(RULES)], capture_output=True, text=True)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "4 rules found" in told.stdout


def test_commands_print_dashboard_and_alerts(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, printed in (([], dashboard_json()), (["--alerts"], alert_rules())):
        with pytest.raises(SystemExit) as ended:
            app(["grafana", *arguments])
        assert ended.value.code == 0
        assert capsys.readouterr().out == printed + "\n"


def test_a_port_that_is_taken_is_named(folder: Path) -> None:
    with served(folder) as server, pytest.raises(hg.SpecError, match=f"port {server.port}: "):
        PageServer(History(folder), PageGuard.of("127.0.0.1", None), port=server.port)
