"""Profiles of streams, and joins planned by them."""

from typing import Any

import headgate as hg
from headgate.studies.streams import Streams

SECONDS = 80.0


def profile_of(streams: Streams, **more: Any) -> hg.Profile:
    asked = streams.request("auto", hg.Budget(rows=1))
    return hg.profile(*streams.tables, on="key", left=asked.left, right=asked.right, **more)


def planned(
    given: tuple[Streams, hg.Profile], rows: float = 0.2, policy: Any = "auto", **more: Any
) -> "hg.Plan[hg.WindowJoin]":
    """A plan with room for a part of what the exact join holds."""
    streams, found = given
    split = more.pop("split", "pooled")
    budget = hg.Budget(rows=max(round(rows * found.stored_rows.rows), 1), split=split)
    return streams.request(policy, budget, **more).plan(found)
