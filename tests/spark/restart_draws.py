"""Changes of a join at a restart: each by itself, and drawn at random together."""

from typing import Any

import numpy as np

import headgate as hg
from tests.spark.restart_cases import AMPLE, BATCHES, POLICIES, WIDER, Case, Version, changed_to

TIGHT = hg.Budget(rows=25)
SMALL = hg.Budget(memory=6_000)
WATCHED = hg.Budget(rows=100_000, monitor=0.1)
KEEP_MATCHED = ("lru", "lfu")
"""Policies that an anti join does not take."""
IMPORTANCE = hg.MaxImportance(left="a")
OTHERWISE = hg.MaxImportance(left="a % 10", right="b")

EACH: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "nothing": ({}, {}),
    "smaller budget": ({}, {"budget": TIGHT}),
    "larger budget": ({"budget": TIGHT}, {"budget": hg.Budget(rows=60)}),
    "budget in bytes": ({"budget": TIGHT}, {"budget": SMALL}),
    **{
        f"policy {before} to {now}": ({"policy": before}, {"policy": now})
        for before, now in zip(POLICIES, (*POLICIES[4:], *POLICIES[:4]), strict=True)
    },
    "importance": ({"goal": IMPORTANCE}, {"goal": OTHERWISE}),
    "a goal of importance": ({"policy": "auto"}, {"policy": "auto", "goal": IMPORTANCE}),
    "no goal of importance": ({"policy": "auto", "goal": IMPORTANCE}, {"policy": "auto"}),
    "a monitor": ({"budget": AMPLE}, {"budget": WATCHED}),
    "no monitor": ({"budget": WATCHED}, {"budget": AMPLE}),
    "monitor share": (
        {"budget": hg.Budget(rows=40, monitor=0.3), "policy": "auto"},
        {"budget": hg.Budget(rows=40, monitor=0.1), "policy": "auto"},
    ),
    "index": ({"index": "hash"}, {"index": "btree"}),
    "seed": ({"policy": "auto", "seed": 1}, {"policy": "auto", "seed": 2}),
    "longer windows": ({"budget": WATCHED}, {"budget": WATCHED, "windows": (40, 45)}),
    "shorter windows": ({"windows": (40, 45)}, {"windows": (5, 3)}),
    "one longer, one shorter": ({"windows": (4, 20)}, {"windows": (12, 3)}),
    "a side waits no more": ({}, {"windows": (8, 0)}),
    "a side waits now": ({"windows": (8, 0)}, {}),
    "watermark delay": ({"delay": 5}, {"delay": 15}),
    "shorter watermark delay": ({"delay": 15}, {"delay": 5}),
    "columns added": ({}, {"added": (True, True)}),
    "columns dropped": ({"added": (True, True)}, {"dropped": frozenset("dfs")}),
    "types widened": ({}, {"wider": frozenset(WIDER)}),
    "sample to subset": ({"goal": hg.Sample()}, {"policy": "auto"}),
    "sample, shorter windows": (
        {"goal": hg.Sample(), "windows": (40, 45)},
        {"goal": hg.Sample(), "windows": (5, 3)},
    ),
    **{
        f"{before} to {now}": ({"how": before}, {"how": now})
        for before in ("inner", "left", "right", "full")
        for now in ("inner", "left", "right", "full")
        if before != now
    },
    "undecided rows shown": (
        {"how": "full", "budget": TIGHT},
        {"how": "full", "budget": TIGHT, "unmatched": "all"},
    ),
    "full, longer windows": (
        {"how": "full"},
        {"how": "full", "windows": (14, 20), "unmatched": "all"},
    ),
    "anti, longer windows": ({"how": "anti"}, {"how": "anti", "windows": (40, 45)}),
    "semi, columns added": ({"how": "semi"}, {"how": "semi", "added": (True, True)}),
}
"""Every change by itself: what the version before has, and the one after."""


def each_case(name: str, seed: int, killed: bool, **everywhere: Any) -> Case:
    """The case of a change by itself."""
    before, now = EACH[name]
    return Case(
        changed_to(Version(), **{**everywhere, **before}),
        changed_to(Version(), **{**everywhere, **now}),
        at=5,
        killed=killed,
        seed=seed,
    )


def drawn_case(seed: int) -> Case:
    """Several changes at once, drawn at random."""
    rng = np.random.default_rng(seed)

    def one_of(*choices: Any) -> Any:
        return choices[int(rng.integers(len(choices)))]

    def version(kind: str) -> dict[str, Any]:
        given: dict[str, Any] = {
            "windows": tuple(int(rng.integers(0, one_of(16, 50))) for _ in range(2)),
            "policy": one_of(*POLICIES),
            "budget": one_of(AMPLE, WATCHED, TIGHT, SMALL, hg.Budget(rows=50, monitor=0.1)),
            "seed": one_of(0, 1, 2),
            "index": one_of("auto", "hash", "btree", "ttree"),
            "delay": one_of(5, 9, 15),
        }
        if kind == "outer":
            given["how"] = one_of("inner", "left", "right", "full")
        elif kind in ("semi", "anti"):
            given["how"] = kind
        if given.get("how") in ("left", "right", "full", "anti"):
            given["unmatched"] = one_of("certain", "all")
        if kind == "anti" and given["policy"] in KEEP_MATCHED:
            given["policy"] = "random"
        if kind == "important":
            given["goal"] = one_of(None, IMPORTANCE, OTHERWISE)
        if given["policy"] == "life" and 0 in given["windows"]:
            given["windows"] = (7, 9)
        return given

    kind = one_of("inner", "outer", "outer", "semi", "anti", "important", "sample")
    before, now = version(kind), version(kind)
    if kind == "sample":
        before["goal"], now["goal"] = hg.Sample(), one_of(None, hg.Sample())
        if now["goal"] is not None:
            now["seed"] = before["seed"]
            now["windows"] = tuple(
                min(each) for each in zip(before["windows"], now["windows"], strict=True)
            )
    wider = frozenset(name for name in WIDER if rng.random() < 0.4)
    now |= {
        "wider": wider,
        "dropped": frozenset(name for name in "dfs" if rng.random() < 0.3),
        "added": (rng.random() < 0.5, rng.random() < 0.5),
    }
    at = int(rng.integers(2, BATCHES - 1))
    return Case(
        changed_to(Version(), **before), changed_to(Version(), **now), at, rng.random() < 0.5, seed
    )
