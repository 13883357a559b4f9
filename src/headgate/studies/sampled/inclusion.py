"""Whether each result row is sampled as often as its weight says."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from headgate.studies.sampled.schemes import SCHEMES, STREAMS, sampled
from headgate.studies.study import Claim, ClaimFinding, Row, Study, StudyCell

RUNS, QUICK_RUNS = 500, 250
OFTEN = 25
"""Samples a row is in, on average over its key, to be looked at by itself."""
LEAST_CHANCE = 1e-3


def measure(cell: StudyCell) -> Sequence[Row]:
    """For every observed row, over many samples: how often it was in, and what its weights add to.

    Only the first result row of a cluster is examined: the others are sampled with it.
    """
    runs = QUICK_RUNS if cell.quick else RUNS
    own = sampled(cell["stream"])
    exact = own.exact.select(["lid", "rid", "key"]).to_pandas()
    by_pair = cell["scheme"] == "UNIFORM"
    watched = exact if by_pair else exact.drop_duplicates("lid").drop_duplicates("rid")
    place = {pair: at for at, pair in enumerate(zip(watched["lid"], watched["rid"], strict=True))}
    times, weight, varies = np.zeros((3, len(place)))
    for run in range(runs):
        sample = own.run(cell["scheme"], 50_000 + 10_000 * cell.seed + run).pairs
        columns = (sample.column(name).to_pylist() for name in ("lid", "rid", "weight"))
        for left, right, stands_for in zip(*columns, strict=True):
            at = place.get((left, right))
            if at is not None:
                times[at] += 1
                weight[at] += stands_for
                varies[at] += stands_for * (stands_for - 1)
    return [
        {
            "row": at,
            "key": int(key),
            "runs": runs,
            "times": int(times[at]),
            "weights": weight[at],
            "variance": varies[at],
        }
        for at, key in enumerate(watched["key"])
    ]


def chi_square(results: pd.DataFrame) -> pd.DataFrame:
    """For every scheme and stream: how likely such differences are by chance.

    Weights of a row add up to the number of runs, on average; w · (w - 1) over the runs that have
    it estimates how far they vary. Rows of a key that is sampled rarely are taken together.
    """
    from scipy.special import chdtrc

    of_key = results.groupby(["scheme", "stream", "key"])["times"].transform("mean")
    cell = results["row"].where(of_key >= OFTEN, -1 - results["key"])
    groups = results.assign(cell=cell).groupby(["scheme", "stream", "cell"])
    cells = groups[["runs", "times", "weights", "variance"]].sum().reset_index()
    cells = cells[(cells["times"] >= OFTEN / 5) & (cells["variance"] > 0)]
    cells["square"] = (cells["weights"] - cells["runs"]) ** 2 / cells["variance"]
    table = cells.groupby(["scheme", "stream"])["square"].agg(["sum", "size"]).reset_index()
    table["chance"] = chdtrc(table["size"], table["sum"])
    return table


def _matches(results: pd.DataFrame) -> ClaimFinding:
    table = chi_square(results)
    worst = table.iloc[int(table["chance"].to_numpy().argmin())]
    return ClaimFinding(
        bool(worst["chance"] >= LEAST_CHANCE),
        f"least likely: {worst['scheme']} on {worst['stream']}, chi-square {worst['sum']:.0f} of "
        f"{worst['size']:.0f} rows (chance {worst['chance']:.3f})",
    )


STUDY = Study(
    name="sampled-inclusion",
    title="How often result rows are sampled, against their weights",
    paper="Headgate",
    place="samples",
    grid={"stream": STREAMS, "scheme": SCHEMES},
    measure=measure,
    seeds=(1,),
    claims=(
        Claim(
            "weights",
            "Result rows are sampled as often as their weights say (chi-square, by a chance of at "
            f"least {LEAST_CHANCE:g})",
            _matches,
        ),
    ),
)
