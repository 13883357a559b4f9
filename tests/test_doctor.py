"""`headgate doctor`: what is there, what is missing, what it costs, and the line to add."""

import json
import sys
from importlib.util import find_spec
from typing import Any

import pytest
from typer.testing import CliRunner

from headgate.cli.main import app
from headgate.report.finding import Verdict


def examined(*options: str) -> tuple[int, dict[str, Any]]:
    """The exit status, and the findings by part and name."""
    shown = CliRunner().invoke(app, ["doctor", "--json", *options])
    told = json.loads(shown.output)
    assert told["ready"] == (shown.exit_code == 0)
    parts = told["findings"].items()
    return shown.exit_code, {part: {each["name"]: each for each in found} for part, found in parts}


def test_what_is_installed_is_said() -> None:
    status, found = examined("--no-spark")
    assert status == 0
    here = found["Installed"]
    assert here["Python"]["found"].startswith(sys.version.split()[0])
    assert {"kernel", "PySpark", "pandas", "pyarrow", "protobuf", "Java"} <= set(here)
    assert here["headgate[importance]"]["verdict"] == Verdict.FINE


def test_what_is_missing_has_its_line_and_the_status_is_1(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("google.protobuf.__version__", "5.27.0")
    monkeypatch.setattr("headgate.spark.session.java_version", lambda: 11)
    status, found = examined()
    assert status == 1
    assert list(found) == ["Installed"], "no session is started without Java"
    assert found["Installed"]["protobuf"]["verdict"] == Verdict.MISSING
    assert "pip install" in found["Installed"]["protobuf"]["add"]
    assert "openjdk" in found["Installed"]["Java"]["add"]
    shown = CliRunner().invoke(app, ["doctor", "--no-spark"])
    assert shown.exit_code == 1
    assert "Not ready: 2 things that are needed are missing." in shown.output


def test_an_extra_that_is_not_there_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.cli.installation.find_spec", lambda name: None)
    status, found = examined("--no-spark")
    assert status == 0
    extra = found["Installed"]["headgate[lookup]"]
    assert extra["verdict"] == Verdict.ABSENT
    assert extra["add"] == 'pip install "headgate[lookup]"'


@pytest.mark.spark
@pytest.mark.skipif(find_spec("grpc") is None, reason="headgate[connect] is not installed")
def test_a_connect_server_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.spark.session.PATIENCE_SECONDS", 0.3)
    status, found = examined("--remote", "sc://127.0.0.1:9/;token=secret")
    assert status == 1
    (session,) = found["A session as it is started here"].values()
    assert "no Spark Connect server answers at sc://127.0.0.1:9 " in session["costs"]


@pytest.mark.spark
def test_a_session_is_looked_at(spark: Any) -> None:
    from headgate.spark.configuration import configure
    from headgate.spark.requirements import PARTITIONS, PROVIDER
    from headgate.spark.session_report import session_findings

    session = spark.newSession()
    for name in (PROVIDER, PARTITIONS):
        session.conf.unset(name)
    found = {each.name: each for each in session_findings(session)}
    assert found["session"].verdict == found["workers"].verdict == Verdict.FINE
    assert found["state store"].verdict == Verdict.UNSET
    assert found["shuffle partitions"].verdict == Verdict.SLOW
    assert "200 state stores" in found["shuffle partitions"].costs
    assert found["state store"].add == "hg.configure(spark)"
    configure(session)
    assert {each.verdict for each in session_findings(session)} == {Verdict.FINE}
