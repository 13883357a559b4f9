"""Streams to plan for, with their profiles."""

from pathlib import Path

import numpy as np
import pytest

import headgate as hg
from headgate.studies.planned.streams import WINDOW_S, pieces
from headgate.studies.streams import Streams, keyed
from tests.planner.planned_joins import SECONDS, profile_of


@pytest.fixture(autouse=True)
def uncalibrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this machine was measured to cost, plans here do not know."""
    monkeypatch.setenv("HEADGATE_CALIBRATION", str(tmp_path / "calibration.json"))


@pytest.fixture(scope="module")
def by_age() -> tuple[Streams, hg.Profile]:
    streams = pieces("bell", SECONDS, seed=5).first
    return streams, profile_of(streams)


@pytest.fixture(scope="module")
def by_key() -> tuple[Streams, hg.Profile]:
    streams = pieces("Zipf, uncorrelated", SECONDS, seed=5).first
    return streams, profile_of(streams)


@pytest.fixture(scope="module")
def evenly() -> tuple[Streams, hg.Profile]:
    """Neither age nor key tells rows apart."""
    random = np.random.default_rng(5)
    times = [np.sort(random.uniform(0, SECONDS, 16_000)) for _ in range(2)]
    keys = [random.integers(0, 500, 16_000) for _ in range(2)]
    streams = keyed((keys[0], keys[1]), (times[0], times[1]), (WINDOW_S, WINDOW_S))
    return streams, profile_of(streams)
