"""Every policy and goal that a join on whole-number keys can be asked for, by name."""

from typing import Any

import headgate as hg
from headgate.models import Noise, RandomWalk
from headgate.policies import ALL_POLICIES, AdaptiveHeeb, Heeb, Hist, Policy

MOST_KEYS = 1000
SHARES = dict.fromkeys(range(MOST_KEYS), 1 / MOST_KEYS)
FREQUENCIES = hg.Frequencies.of_mappings(SHARES, SHARES)
AGES = hg.AgeCurves.of_buckets((60_000_000, 60_000_000), ((1, 2, 3), (3, 2, 1)))
WALK = RandomWalk(0, Noise.uniform(5))

MODELS = {"frequencies": FREQUENCIES, "rates": (1000.0, 1000.0)}
POLICIES: dict[str, str | Policy] = {
    "auto": "auto",
    **{policy.name: policy.name for policy in ALL_POLICIES},
    "heeb": Heeb(WALK, WALK),
    "adaptive-heeb": AdaptiveHeeb(WALK, WALK),
    "hist": Hist("walk"),
}
SAMPLES: dict[str, dict[str, Any]] = {
    "auto": {"goal": hg.Sample()},
    "eq-cluster": {"goal": hg.Sample("cluster")},
    "pps-cluster": {"goal": hg.Sample("cluster"), **MODELS},
    "uniform by key": {"goal": hg.Sample("uniform", fraction=0.5), **MODELS},
    "uniform by age": {"goal": hg.Sample("uniform", fraction=0.5), "ages": AGES},
    "uniform in memory": {"goal": hg.Sample("uniform"), **MODELS},
}
WAYS: dict[str, dict[str, Any]] = {
    **{f"rows, {name}": {"policy": policy} for name, policy in POLICIES.items()},
    **{
        f"rows, {name} with its model": {"policy": name, model: given}
        for name, model, given in (
            ("prob", "frequencies", FREQUENCIES),
            ("life", "frequencies", FREQUENCIES),
            ("age", "ages", AGES),
        )
    },
    **{
        f"importance, {name}": {"policy": policy, "goal": hg.MaxImportance("worth", "worth")}
        for name, policy in POLICIES.items()
    },
    **{f"sample, {name}": given for name, given in SAMPLES.items()},
}
"""Arguments of a join: for most result rows, for most importance by a column "worth", samples."""
