"""Cost models of a join: by the index structures of its windows, and by rows and pairs."""

from headgate.models.cost.calibration import (
    Calibration,
    calibration_file,
    load_calibration,
)
from headgate.models.cost.cheapest import EXTRA_BYTES, Choice, Ranking, cheapest
from headgate.models.cost.crossovers import PAPER_CROSSOVERS, crossover, paper_crossovers
from headgate.models.cost.join_allocation import (
    Allocation,
    Demand,
    best_both,
    best_cpu,
    best_memory,
    both_strategies,
    cpu_strategies,
    memory_strategies,
)
from headgate.models.cost.structure import (
    PAPER_STRUCTURES,
    Pair,
    Structure,
    pair_letters,
    parse_pair,
)
from headgate.models.cost.unit_time import (
    BUCKET_ROWS,
    NODE_ROWS,
    direction_cost,
    join_cost,
    touched_by_search,
    touched_by_update,
)
from headgate.models.cost.weights import PAPER_WEIGHTS, Point, Weight, Weights
from headgate.models.cost.work_cost import ByValue, WorkCost, by_value, output_rate

__all__ = [
    "BUCKET_ROWS",
    "EXTRA_BYTES",
    "NODE_ROWS",
    "PAPER_CROSSOVERS",
    "PAPER_STRUCTURES",
    "PAPER_WEIGHTS",
    "Allocation",
    "ByValue",
    "Calibration",
    "Choice",
    "Demand",
    "Pair",
    "Point",
    "Ranking",
    "Structure",
    "Weight",
    "Weights",
    "WorkCost",
    "best_both",
    "best_cpu",
    "best_memory",
    "both_strategies",
    "by_value",
    "calibration_file",
    "cheapest",
    "cpu_strategies",
    "crossover",
    "direction_cost",
    "join_cost",
    "load_calibration",
    "memory_strategies",
    "output_rate",
    "pair_letters",
    "paper_crossovers",
    "parse_pair",
    "touched_by_search",
    "touched_by_update",
]
