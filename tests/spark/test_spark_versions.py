"""What a version of Spark lacks is refused at the call, with what is needed."""

from types import SimpleNamespace
from typing import Any

import pyspark
import pytest

import headgate as hg
from headgate.spark import spark_versions
from headgate.spark.session_access import CONNECT


def connected(version: str) -> Any:
    """Stands for a session of a Connect server of that version, of which only that is asked."""
    kind = type("SparkSession", (SimpleNamespace,), {"__module__": f"{CONNECT}.session"})
    return kind(version=version)


@pytest.mark.parametrize(
    ("client", "server", "says"),
    [
        ("4.0.5", "4.3.0", r"need Spark 4\.1 or newer, and the client is Spark 4\.0\.5"),
        (
            "4.3.0",
            "4.0.1",
            r"and the server is Spark 4\.0\.1: use a classic session, or join.batch",
        ),
    ],
)
def test_streams_on_connect_need_a_client_and_a_server_that_have_them(
    client: str, server: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pyspark, "__version__", client)
    with pytest.raises(hg.SpecError, match=says):
        spark_versions.check_streams(connected(server))


def test_streams_on_newer_ones_are_let_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyspark, "__version__", "4.1.0")
    spark_versions.check_streams(connected("4.2.0"))


def test_the_demo_says_which_version_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyspark, "__version__", "4.1.4")
    with pytest.raises(
        hg.SpecError, match=r"headgate demo needs Spark 4\.2.*this is Spark 4\.1\.4"
    ):
        spark_versions.check_python_sources("headgate demo")
