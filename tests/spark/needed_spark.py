"""What tests ask of Spark itself, where its versions and kinds of session differ."""

import os

import pyspark
import pytest

from headgate.spark.installed_package import numbers

CONNECT = "HEADGATE_TESTS_CONNECT"
"""If set in the environment, tests run on a session of Spark Connect, with a server of its own."""
ON_CONNECT = CONNECT in os.environ
OWN_PORT = {"SPARK_TESTING": "1"} if ON_CONNECT else {}
"""With it a second local server of Connect takes a port of its own."""
VERSION = numbers(pyspark.__version__)[:2]


def needs_spark(*version: int, why: str) -> pytest.MarkDecorator:
    """Skip a test on versions of Spark that lack what it compares with."""
    return pytest.mark.skipif(version > VERSION, reason=f"Spark {VERSION}: {why}")


def needs_classic(why: str) -> pytest.MarkDecorator:
    """Skip a test where sessions are of Spark Connect."""
    return pytest.mark.skipif(ON_CONNECT, reason=f"Spark Connect: {why}")
